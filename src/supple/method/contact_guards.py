"""Vertices that sink where no rule holds them, found by playing the rules: they become guards.

A rule reproduces what all contacts do to the coordinates in the states that it was learned from. Where a run by rules
goes on from there, a vertex that no rule names may sink while its neighbours do not.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.self_contact import SelfContact
from supple.elastic import Body
from supple.errors import ConvergenceError
from supple.method.skinned import SkinnedSolver
from supple.method.skinned_state import SkinnedState
from supple.rig import SkinnedRig
from supple.solve.forces import Force
from supple.solve.inputs import Inputs, Moment

__all__ = ["Played", "find_guards"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_STRIDES = 0.5, 2.0, 3.0  # poses from one step to the next
_APART = 2.0  # edges between two guards of a state: what is nearer goes along


class Played(NamedTuple):
    """Equilibria with all contacts, which rules were learned from."""

    poses: FloatArray
    """(t, p)"""
    x: Sequence[FloatArray]
    """[m], (n, 3) each."""
    forces: Sequence[Force]

    def deepest(self, own: SelfContact) -> float:
        """How deep flesh lies in itself in any of them [m]."""
        return float(max(own.find(x).depth.max(initial=0.0) for x in self.x))


def find_guards(
    solver: SkinnedSolver, body: Body, rig: SkinnedRig, played: Played, own: SelfContact, limit: float
) -> list[IntArray]:
    """Pairs of every pose, (k, 2), whose vertices lie deeper than `limit` [m] where a solver with rules goes through
    the poses: half way between them too, and in longer steps, in which flesh goes deeper before it is held."""
    guards: list[list[IntArray]] = [[np.zeros((0, 2), np.int32)] for _ in played.poses]
    last = len(played.poses) - 1
    for stride in _STRIDES:
        state: SkinnedState | None = None
        for place in np.arange(0.0, last + 1e-9, stride):
            low, high = math.floor(place), min(math.ceil(place), last)
            pose = 0.5 * (played.poses[low] + played.poses[high])  # strides are whole or halves
            state = _go_on(solver, body, rig, played, state, pose, low)
            if state is None:
                continue
            found = _find_deep(own, solver.positions(state), limit)
            for k in {low, high} if low < high else {max(low - 1, 0), low, min(low + 1, last)}:
                guards[k].append(found)
    return [np.concatenate(some) for some in guards]


def _go_on(
    solver: SkinnedSolver,
    body: Body,
    rig: SkinnedRig,
    played: Played,
    state: SkinnedState | None,
    pose: FloatArray,
    number: int,
) -> SkinnedState | None:
    """Where the solver comes to rest in a pose; it begins at the equilibrium of that number where it has no state.
    None where it finds no rest."""
    if state is None:
        x = played.x[number]
        state = solver.from_full(x, np.zeros_like(x), np.zeros_like(x), pose=pose)
    begin, end = (
        Moment(float(time), rig.positions(at, body.pins.vertices), tuple(played.forces), pose=at)
        for time, at in enumerate((state.pose, pose))
    )
    try:
        return solver.step(state._replace(time=0.0), Inputs(begin, end))[0]
    except ConvergenceError:
        return None


def _find_deep(own: SelfContact, x: FloatArray, limit: float) -> IntArray:
    """Vertices and triangles deeper than a limit [m], (k, 2), the deepest first, none beside another."""
    touching = own.find(x)
    chosen: list[int] = []
    for row in np.argsort(-touching.depth, kind="stable"):
        if touching.depth[row] <= limit:
            break
        away = np.linalg.norm(x[touching.vertex[chosen]] - x[touching.vertex[row]], axis=1)
        if (away > _APART * own.edge).all():
            chosen.append(int(row))
    return np.column_stack([touching.vertex[chosen], touching.triangle[chosen]]).astype(np.int32)
