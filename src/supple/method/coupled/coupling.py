"""What bodies that touch each other press with, from how their own solvers say they move."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from supple.contact.between import BetweenBodies
from supple.contact.contacts import Contacts
from supple.contact.exchange import solve_forces
from supple.contact.result import Touch
from supple.method.compliance import Compliance, make_compliance
from supple.method.coupled.state import Member
from supple.solve.inputs import round_duration
from supple.subspace.vertex_turns import measure_turns

__all__ = ["Coupling"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_SWEEPS = 400
_KEPT = 4  # lengths of steps: a step and its halves
_ACCURACY = 1e-4  # of the largest force, to which sweeps go on


class Coupling:
    """The law of contact between bodies: springs along normals, Coulomb's friction across."""

    def __init__(
        self, members: Sequence[Member], between: BetweenBodies, stiffness: float, friction: float, integrator: str
    ) -> None:
        """`stiffness` k [Pa/m] and `friction` μ of all contacts between bodies."""
        self.between = between
        self._members, self._stiffness, self._friction = tuple(members), stiffness, friction
        self._integrator = integrator
        self._compliances: dict[float, list[Compliance]] = {}
        self._turns: tuple[FloatArray | None, dict[str, FloatArray]] = None, {}

    def press(
        self, contacts: Contacts, begin: FloatArray, x: FloatArray, push: FloatArray, pressed: FloatArray, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Forces on all vertices, and on those that touch alone [N], (n, 3), for bodies that `push` brought to x.

        A step of h [s] began at `begin`, both [m], (n, 3); `pressed` is the last guess of the second.
        """
        if not len(contacts):
            return np.zeros_like(push), np.zeros_like(push)
        touched = np.union1d(contacts.vertices[contacts.weights != 0.0], np.flatnonzero(push.any(axis=1)))
        touched = touched.astype(np.int32)
        J = np.zeros((len(contacts), len(touched)))
        rows = np.arange(len(contacts))[:, None]
        used = np.where(contacts.weights != 0.0, contacts.vertices, contacts.vertices[:, :1])
        np.add.at(J, (rows, np.searchsorted(touched, used)), contacts.weights)
        C = self._yield(touched, begin, h)
        JC = np.tensordot(J, C, 1)
        W = np.ascontiguousarray(np.tensordot(JC, J, ([2], [1])).transpose(0, 1, 3, 2)).reshape(3 * len(J), -1)
        force = pressed[contacts.vertices[:, 0]].copy()
        moved = np.tensordot(JC, J.T @ force - push[touched], 2)
        gap = contacts.gap(x)
        slide = gap - contacts.gap(begin)
        along = self._stiffness * contacts.area
        least = _ACCURACY * _guess_largest(gap + moved, W, contacts.normal, along, force)
        friction = np.full(len(J), self._friction)
        solve_forces(gap + moved, slide + moved, W, contacts.normal, along, friction, force, _SWEEPS, least)
        found = np.zeros_like(pressed)
        found[contacts.vertices[:, 0]] = force
        return contacts.scatter(force, len(push)), found

    def tell(self, contacts: Contacts, x: FloatArray, pressed: FloatArray) -> Touch | None:
        """The contacts that press at x [m], (n, 3)."""
        depth, force = np.maximum(contacts.depth(x), 0.0), pressed[contacts.vertices[:, 0]]
        rows = np.flatnonzero(force.any(axis=1))
        if not len(rows):
            return None
        vertices = contacts.vertices[rows]
        return Touch(
            vertices[:, 0], contacts.source[rows], x[vertices[:, 0]], contacts.normal[rows], depth[rows], force[rows],
            vertices, contacts.weights[rows],
        )  # fmt: skip

    def describe(self) -> str:
        """The law, in a user's words."""
        return f"friction {self._friction:g}, stiffness {self._stiffness:.3g} Pa/m"

    def _yield(self, touched: IntArray, x: FloatArray, h: float) -> FloatArray:
        """What unit forces on touched vertices move them at x [m/N], (k, 3, k, 3): nothing from body to body."""
        length = round_duration(h)
        if length not in self._compliances:
            made = [make_compliance(one.solver, one.body, self._integrator, length) for one in self._members]
            self._compliances = dict([*self._compliances.items()][1 - _KEPT :]) | {length: made}
        if self._turns[0] is not x:
            self._turns = x, {}
            for compliance in self._compliances[length]:
                compliance.forget()
        blocks = []
        for member, compliance in zip(self._members, self._compliances[length], strict=True):
            first, last = member.vertices.start, member.vertices.stop
            own = touched[(touched >= first) & (touched < last)] - first
            if len(own):
                turn = block_diag(*self._find_turns(member, x)[own])
                blocks.append(turn @ compliance.between(own).reshape(3 * len(own), -1) @ turn.T)
        return np.asarray(block_diag(*blocks).reshape(len(touched), 3, len(touched), 3))

    def _find_turns(self, member: Member, x: FloatArray) -> FloatArray:
        """How flesh has turned about the vertices of a body at x [m], (n, 3, 3); kept for all exchanges of a step."""
        if member.name not in self._turns[1]:
            self._turns[1][member.name] = measure_turns(member.body, x[member.vertices])
        return self._turns[1][member.name]


def _guess_largest(gap: FloatArray, W: FloatArray, normal: FloatArray, along: FloatArray, force: FloatArray) -> float:
    """About the largest force that closes the gaps [N]."""
    count = np.arange(len(gap))
    blocks = W.reshape(len(gap), 3, len(gap), 3)[count, :, count]
    yields = np.einsum("mi,mij,mj->m", normal, blocks, normal) + 1.0 / along
    stop = np.maximum(-np.einsum("mi,mi->m", normal, gap), 0.0) / yields
    return float(max(stop.max(initial=0.0), np.abs(force).max(initial=0.0)))
