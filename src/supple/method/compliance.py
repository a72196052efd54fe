"""How a body yields to forces on its vertices within a step, as its solver would have it, about its rest shape."""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from supple.elastic import Body
from supple.linalg.direct import direct_solver
from supple.linalg.rigid import rigid_modes
from supple.method.hyperreduced.solver import HyperReducedSolver
from supple.method.posespace.solver import PoseSpaceSolver
from supple.method.reduced.solver import ReducedSolver
from supple.method.skinned.solver import SkinnedSolver
from supple.method.solver import Solver
from supple.solve.integrator import INTEGRATORS
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["Compliance", "FullCompliance", "SubspaceCompliance", "make_compliance"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_ROUND_OFF = 1e-12  # of the mean stiffness, by which columns that do nothing are made to resist


class Compliance(Protocol):
    """A⁻¹ between vertices, with A = (ca + α cv) M + (1 + β cv) K of a step from rest, in the body's rest frame.

    One that is bent yields otherwise: it is where the search for forces begins, not where it ends.
    """

    def between(self, vertices: IntArray) -> FloatArray:
        """What unit forces on vertices move each of them [m/N], (k, 3, k, 3)."""

    def forget(self) -> None:
        """Begin a new step, which must not depend on what others asked for."""


def make_compliance(solver: Solver[Any], body: Body, integrator: str, duration: float) -> Compliance:
    """That of a body whose solver takes steps of a `duration` [s]."""
    rest = RestStiffness(body)
    motion = INTEGRATORS[integrator](np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 3)), duration)
    data = (1.0 + body.damping.stiffness * motion.cv) * rest.data
    data[rest.map.pattern.diagonal] += (motion.ca + body.damping.mass * motion.cv or rest.shift) * rest.mass
    span = _find_span(solver, body)
    return FullCompliance(rest, data) if span is None else SubspaceCompliance(rest, data, span)


def _find_span(solver: Solver[Any], body: Body) -> sp.csr_array | None:
    """What the coordinates of a method can do to all vertices about rest, (3 n, r); None where that is anything."""
    everywhere = np.arange(len(body.mass))
    if isinstance(solver, HyperReducedSolver):
        return sp.csr_array(sp.kron(solver.model.positions.matrix(), sp.eye_array(3)))
    if isinstance(solver, PoseSpaceSolver):
        return sp.csr_array(np.asarray(solver.model.columns[0], np.float64).reshape(3 * len(body.mass), -1))
    if isinstance(solver, ReducedSolver | SkinnedSolver):
        columns = solver.model.basis.rows(everywhere).reshape(3 * len(body.mass), -1)
        frame = [] if len(body.pins.vertices) else [rigid_modes(body.mesh.vertices)]
        return sp.csr_array(np.column_stack([columns, *frame]))
    return None


class SubspaceCompliance:
    """U (UᵀAU)⁻¹ Uᵀ."""

    def __init__(self, rest: RestStiffness, data: FloatArray, span: sp.csr_array) -> None:
        free = (3 * rest.map.free[:, None] + np.arange(3)).ravel()
        U = span[free]
        reduced = (U.T @ (rest.map.pattern.to_scipy(data) @ U)).toarray()
        reduced[np.diag_indices_from(reduced)] += _ROUND_OFF * np.trace(reduced)
        self._factor, self._span = cho_factor(reduced), span

    def between(self, vertices: IntArray) -> FloatArray:
        rows = self._span[(3 * vertices[:, None] + np.arange(3)).ravel()].toarray()
        return np.asarray(rows @ cho_solve(self._factor, rows.T)).reshape(len(vertices), 3, len(vertices), 3)

    def forget(self) -> None:
        """Nothing is kept."""


class FullCompliance:
    """A⁻¹, learnt vertex by vertex as these are touched."""

    def __init__(self, rest: RestStiffness, data: FloatArray) -> None:
        self._factor = direct_solver(rest.map.pattern)
        self._factor.factor(data)
        self._rest, count = rest, len(rest.body.mass)
        self._row = np.full(count, -1, np.int64)  # of its free block
        self._row[rest.map.free] = np.arange(len(rest.map.free))
        self._slot = np.full(count, -1, np.int64)
        self.forget()

    def forget(self) -> None:
        """Drop what is known: in which order it was learnt shows in its round-off."""
        self._slot[:] = -1
        self._known = np.zeros(0, np.int64)
        self._table = np.zeros((0, 3, 0, 3))

    def between(self, vertices: IntArray) -> FloatArray:
        self._learn(vertices[self._slot[vertices] < 0])
        slots = self._slot[vertices]
        return self._table[slots][:, :, slots]

    def _learn(self, new: IntArray) -> None:
        if not len(new):
            return
        old, known = len(self._known), np.concatenate([self._known, new])
        table = np.zeros((len(known), 3, len(known), 3))
        table[:old, :, :old] = self._table
        for column, vertex in enumerate(new, start=old):
            for axis in range(3):
                moved = self._answer(int(self._row[vertex]), axis, known)
                table[:, :, column, axis] = table[column, axis] = moved  # A is symmetric
        self._slot[new] = np.arange(old, len(known))
        self._known, self._table = known, table

    def _answer(self, row: int, axis: int, vertices: NDArray[np.int64]) -> FloatArray:
        """What a unit force on a vertex moves some of them, (k, 3); nothing where it is held."""
        if row < 0 or 3 * row + axis in self._rest.map.locked:
            return np.zeros((len(vertices), 3))
        push = np.zeros(3 * len(self._rest.map.free))
        push[3 * row + axis] = 1.0
        rows = self._row[vertices]
        return np.where(rows[:, None] < 0, 0.0, self._factor.solve(push).reshape(-1, 3)[rows])
