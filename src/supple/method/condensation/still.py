"""The subspace of a body whose pins stand still: x = X + U q."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import VISCOUS, Body
from supple.linalg.jit import njit
from supple.method.condensation.anchors import StillAnchor, row_lengths
from supple.method.condensation.subspace import (
    Ahead,
    Part,
    Piece,
    Quadratic,
    Ruled,
    Subspace,
    Vertices,
    fit_left,
    one_part,
    one_piece,
)
from supple.method.reduced.handles import Handles
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.state import ReducedState
from supple.method.solver import Arrays, Report
from supple.solve.inputs import Inputs
from supple.solve.integrator import INTEGRATORS
from supple.subspace import Basis

__all__ = ["StillSteps", "StillSubspace"]

FloatArray = NDArray[np.float64]


class StillSubspace:
    """Reads states; it is its own stance, for that never changes."""

    def __init__(self, body: Body, basis: Basis) -> None:
        self._rest, self._mass = body.mesh.vertices, body.mass
        self._rows = np.ascontiguousarray(basis.columns.reshape(len(body.mass), 3, basis.rank))
        self._lengths = np.zeros(0, np.int32), np.zeros(0)

    def stance(self, below: ReducedState | None = None) -> "StillSubspace":
        return self

    def rows(self, vertices: Vertices = None) -> FloatArray:
        return self._rows if vertices is None else self._rows[vertices]

    def parts(self, vertices: NDArray[np.integer]) -> list[Part]:
        return one_part(self.rows(vertices))

    def pieces(self, copies: NDArray[np.integer]) -> list[Piece]:
        return one_piece(self.rows(copies))

    def origin(self, vertices: Vertices = None) -> FloatArray:
        return self._rest if vertices is None else self._rest[vertices]

    def place(self, q: FloatArray, vertices: Vertices = None) -> FloatArray:
        return np.asarray(self.origin(vertices) + self._move(q, vertices))

    def coordinates(self, below: ReducedState) -> FloatArray:
        return np.asarray(below.shapes[0])

    def anchor(self, q: FloatArray, vertices: NDArray[np.int32]) -> StillAnchor:
        known, lengths = self._lengths
        if known is not vertices:
            self._lengths = known, lengths = vertices, row_lengths(self.rows(vertices))
        return StillAnchor(self, q, lengths)

    def hold(self, q: FloatArray, vertices: NDArray[np.int32]) -> StillAnchor:
        return self.anchor(q, vertices)

    def field(self, below: ReducedState, level: int, vertices: Vertices = None) -> FloatArray:
        q = below.shapes[level]
        return self.place(q, vertices) if level == 0 else self._move(q, vertices)

    def _move(self, q: FloatArray, vertices: Vertices) -> FloatArray:
        """U q, (k, 3)."""
        if vertices is not None:
            return _follow(self._rows, np.ascontiguousarray(q), vertices)
        return np.asarray((self._rows.reshape(-1, len(q)) @ q).reshape(-1, 3))

    def fold(self, below: ReducedState, kept: Vertices, gone: Vertices, motion: FloatArray) -> ReducedState:
        fit = fit_left(np.eye(self._rows.shape[2]), self.rows(kept), self._mass[kept])
        weighted = self._mass[gone, None, None] * self.rows(gone)
        away = motion - np.array([self.field(below, level, gone) for level in range(3)])
        return below._replace(shapes=below.shapes + np.tensordot(away, weighted, 2) @ fit)


class StillSteps:
    """Moves it, with the reduced solver where no vertex is full."""

    def __init__(self, body: Body, solver: ReducedSolver, subspace: StillSubspace, integrator: str) -> None:
        self._still, self._solver, self._body = subspace, solver, body
        self._integrator = INTEGRATORS[integrator]
        self._is_static = integrator == "static"
        basis, rule = solver.model.basis, solver.model.rule
        self._elements = ReducedElements.build(body, basis.columns, rule.members, rule.weights)

    @property
    def subspace(self) -> Subspace:
        return self._still

    def start(self, inputs: Inputs | None) -> ReducedState:
        return self._solver.start(inputs)

    def from_full(
        self,
        x: FloatArray,
        v: FloatArray,
        a: FloatArray,
        time: float,
        pose: FloatArray | None = None,
        last: ReducedState | None = None,
    ) -> ReducedState:
        state = self._solver.from_full(x, v, a, time)
        return state if last is None else state._replace(live=last.live)

    def step(self, below: ReducedState, inputs: Inputs) -> tuple[ReducedState, Report]:
        size = float(np.linalg.norm(self._elements.force(below.shapes[0])))
        return self._solver.step(below._replace(elastic=size), inputs)

    def prepare(self, below: ReducedState, inputs: Inputs) -> Ahead:
        (q, v, a), h, damping, factor = below.shapes, inputs.duration, self._body.damping, below.live.stiffness
        motion = self._integrator(q, v, a, h)
        slowed = motion.cv * damping.mass
        inertia = (motion.ca + slowed) * np.eye(len(q)), motion.ca * motion.xa + slowed * motion.xv
        load = np.zeros_like(q)
        for force in below.live.forces(inputs.end.forces):
            handle, vector = self._handles.of_force(force)
            load += vector @ handle.J

        def resist(elements: Ruled) -> Quadratic:
            M = motion.cv * damping.stiffness * elements.stiffness(q, form=VISCOUS)
            return M, M @ motion.xv

        return Ahead(
            self._still, self._elements if factor == 1.0 else self._elements.with_stiffness(factor), inertia, load,
            q, motion.xa + a / motion.ca if motion.ca else q, lambda x, vertices: x, lambda x: x, resist,
        )  # fmt: skip

    def serves(self, below: Any, ahead: Ahead, q: FloatArray) -> bool:
        return True

    def arrive(self, below: ReducedState, ahead: Ahead, q: FloatArray, inputs: Inputs) -> ReducedState:
        motion = self._integrator(below.shapes[0], below.shapes[1], below.shapes[2], inputs.duration)
        shapes = np.array([q, motion.velocity(q), motion.acceleration(q)])
        return ReducedState(inputs.end.time, shapes, live=below.live)

    def unpack(self, arrays: Arrays) -> ReducedState:
        return ReducedState.unpack(arrays)

    @cached_property
    def _handles(self) -> Handles:
        return Handles(self._still.rows(), self._body.mass, 0.0)


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def _follow(rows: FloatArray, q: FloatArray, vertices: NDArray[np.integer]) -> FloatArray:
    """U q of chosen vertices, (k, 3), without a copy of their rows."""
    out = np.empty((len(vertices), 3))
    for k in range(len(vertices)):
        for i in range(3):
            row, total = rows[vertices[k], i], 0.0
            for j in range(len(q)):
                total += row[j] * q[j]
            out[k, i] = total
    return out
