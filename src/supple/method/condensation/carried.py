"""The subspace of a body whose pins move: x = c + R (X + S p + U q), with R, c and p of its pins.

While pins stand where they rest it is that of method/condensation/still.py, bit for bit.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import VISCOUS
from supple.method.condensation.anchors import FrameAnchor
from supple.method.condensation.still import StillSteps, StillSubspace
from supple.method.condensation.subspace import (
    Ahead,
    Part,
    Piece,
    Quadratic,
    Ruled,
    Stance,
    Vertices,
    fit_left,
    one_part,
    one_piece,
)
from supple.method.reduced.framed import Step
from supple.method.reduced.handles import Springs
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.state import ReducedState
from supple.method.solver import Report
from supple.solve.inputs import Inputs

__all__ = ["CarriedSteps", "CarriedSubspace"]

FloatArray = NDArray[np.float64]
_NO_SPRINGS = Springs([], np.zeros((0, 3)), np.zeros((0, 3)))


class CarriedStance:
    """Where pins take the subspace."""

    def __init__(self, shapes: FloatArray, rank: int, R: FloatArray, centre: FloatArray, tail: FloatArray) -> None:
        """Shapes Ψ = (X, U, S), (n, 3, m), turned by R about a centre [m], (3,), and strained by p, (s,)."""
        self._shapes, self._q, self.R, self.centre = shapes, slice(1, 1 + rank), R, centre
        self._rest = np.concatenate([[1.0], np.zeros(rank), tail])

    def rows(self, vertices: Vertices = None) -> FloatArray:
        return self.R @ self._pick(vertices)[:, :, self._q]

    def parts(self, vertices: NDArray[np.integer]) -> list[Part]:
        return one_part(self.rows(vertices))

    def pieces(self, copies: NDArray[np.integer]) -> list[Piece]:
        return one_piece(self.rows(copies))

    def origin(self, vertices: Vertices = None) -> FloatArray:
        return self._lift(self._rest, vertices)

    def place(self, q: FloatArray, vertices: Vertices = None) -> FloatArray:
        return self._lift(self._shape(q), vertices)

    def anchor(self, q: FloatArray, vertices: NDArray[np.int32]) -> FrameAnchor:
        return FrameAnchor(self.R, self.centre, self._shape(q), self._pick(vertices))

    def hold(self, q: FloatArray, vertices: NDArray[np.int32]) -> None:
        return None

    def part_from(self, anchor: FrameAnchor, q: FloatArray) -> FloatArray:
        """How far it is from an anchor."""
        s = self._shape(q)
        return anchor.measure_frame(self.R, self.centre, s, s, np.zeros(3), np.zeros(3))

    def _shape(self, q: FloatArray) -> FloatArray:
        s = self._rest.copy()
        s[self._q] = q
        return s

    def _lift(self, s: FloatArray, vertices: Vertices) -> FloatArray:
        return np.asarray(self.centre + (self._pick(vertices) @ s) @ self.R.T)

    def _pick(self, vertices: Vertices) -> FloatArray:
        return self._shapes if vertices is None else self._shapes[vertices]


class CarriedSubspace:
    """Reads states."""

    def __init__(self, still: StillSubspace, solver: ReducedSolver) -> None:
        self.still, self._solver, self._mass = still, solver, solver.body.mass

    def stance(self, below: ReducedState) -> Stance:
        if not below.is_framed:
            return self.still
        return self.stand(below.turns[0, 0], below.offsets[0], below.shapes[0, 1 + self._solver.rank :])

    def stand(self, R: FloatArray, centre: FloatArray, tail: FloatArray) -> CarriedStance:
        """The stance of a frame and p."""
        return CarriedStance(self._solver.shapes, self._solver.rank, R, centre, tail)

    def coordinates(self, below: ReducedState) -> FloatArray:
        return np.asarray(below.shapes[0, 1 : 1 + self._solver.rank] if below.is_framed else below.shapes[0])

    def field(self, below: ReducedState, level: int, vertices: Vertices = None) -> FloatArray:
        if not below.is_framed:
            return self.still.field(below, level, vertices)
        return self._solver.moving.field(below, level, vertices)

    def fold(self, below: ReducedState, kept: Vertices, gone: Vertices, motion: FloatArray) -> ReducedState:
        """Velocities are differences of two shapes, so that what the vertices had one step ago is folded back, too."""
        if not below.is_framed:
            return self.still.fold(below, kept, gone, motion)
        rank, shapes = self._solver.rank, below.shapes.copy()
        q, fit = slice(1, 1 + rank), fit_left(np.eye(rank), self.still.rows(kept), self._mass[kept])
        weighted = self._mass[gone, None, None] * self.still.rows(gone)

        def change(R: FloatArray, centre: FloatArray, s: FloatArray, x: FloatArray) -> FloatArray:
            away = x - self.stand(R, centre, s[1 + rank :]).place(s[q], gone)
            return np.asarray(fit @ np.tensordot(away @ R, weighted, 2))

        shapes[0, q] += change(below.turns[0, 0], below.offsets[0], below.shapes[0], motion[0])
        rate = float(np.linalg.norm(below.turns[1, 0]) / np.sqrt(3.0))  # R over h
        if rate > 0.0:
            x, centre = motion[0] - motion[1] / rate, below.offsets[0] - below.offsets[1] / rate
            shapes[1:, q] += change(-below.turns[1, 1] / rate, centre, below.shapes[1], x)
        return below._replace(shapes=shapes)


class CarriedSteps(StillSteps):
    """Moves it."""

    def __init__(self, solver: ReducedSolver, integrator: str) -> None:
        still = StillSubspace(solver.body, solver.model.basis)
        super().__init__(solver.body, solver, still, integrator)
        self._carried, self._rank = CarriedSubspace(still, solver), solver.rank

    @property
    def subspace(self) -> CarriedSubspace:
        return self._carried

    def from_full(
        self,
        x: FloatArray,
        v: FloatArray,
        a: FloatArray,
        time: float,
        pose: FloatArray | None = None,
        last: ReducedState | None = None,
    ) -> ReducedState:
        """After a step velocities are differences, here as there."""
        made = super().from_full(x, v, a, time, pose, last)
        if last is None or not made.is_framed or self._is_static:
            return made
        still, h = np.zeros_like(x), time - last.time
        before = self._solver.from_full(x - h * v, still, still, last.time)
        if not before.is_framed:
            before = self._solver.moving.enframe(before)
        R, centre = made.turns[0, 0], made.offsets[0]
        return self._solver.moving.differ(before, made.shapes[0], R, centre, time, h)._replace(live=last.live)

    def step(self, below: ReducedState, inputs: Inputs) -> tuple[ReducedState, Report]:
        if not below.is_framed:
            return super().step(below, inputs)
        size = float(np.linalg.norm(self._elements.force(below.shapes[0, 1 : 1 + self._rank])))
        return self._solver.step(below._replace(elastic=size), inputs)

    def prepare(self, below: ReducedState, inputs: Inputs) -> Ahead:
        if not below.is_framed and self._solver.rests(inputs.end):
            return super().prepare(below, inputs)
        below, step = self._frame(below, inputs)
        R, centre, loads, q = *_frame_of(step, self._rank), step.loads, step.begin[: self._rank]
        R_begin, begin = below.turns[0, 0], below.offsets[0]
        elements = self._elements
        if below.live.stiffness != 1.0:
            elements = elements.with_stiffness(below.live.stiffness)
        elements = replace(elements, rest=elements.rest + self._solver.strained @ loads.tail)
        load = np.zeros(self._rank)
        for force in below.live.forces(inputs.end.forces):
            handle, vector = self._handles.of_force(force)
            load += (vector @ R) @ handle.J
        beta = self._body.damping.stiffness

        def carry(x: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
            return np.asarray(centre + (x - begin) @ R_begin @ R.T)

        def resist(some: Ruled) -> Quadratic:
            M = step.motion.cv * beta * some.stiffness(q, form=VISCOUS)
            return M, M @ q

        stance = self._carried.stand(R, centre, loads.tail)
        c = float(loads.inertia[0])
        pull = c * (self._aim(step, R) - loads.still - loads.sums[:, 1 : 1 + self._rank].T @ (R.T @ centre))
        guess = step.guess[: self._rank] if step.motion.ca else q
        return Ahead(stance, elements, (c * np.eye(self._rank), pull), load, q, guess, carry, carry, resist)

    def arrive(self, below: ReducedState, ahead: Ahead, q: FloatArray, inputs: Inputs) -> ReducedState:
        if not isinstance(ahead.stance, CarriedStance):
            return super().arrive(below, ahead, q, inputs)
        framed, step = self._frame(below, inputs)
        z = np.concatenate([q, step.begin[self._rank :]])
        made = self._solver.moving.arrive(framed, step, z, inputs.end.time, inputs.duration)
        return made._replace(live=below.live)

    def _frame(self, below: ReducedState, inputs: Inputs) -> tuple[ReducedState, Step]:
        """The state with a frame, and the step of that without forces."""
        moving = self._solver.moving
        state = below if below.is_framed else moving.enframe(below)
        nothing = np.zeros((0, 0)), np.zeros(self._rank)
        return state, moving.prepare(state, inputs.end, inputs.duration, [], _NO_SPRINGS, nothing)

    def _aim(self, step: Step, R: FloatArray) -> FloatArray:
        """UᵀM Rᵀ x̂, (r,), of where inertia aims at."""
        loads, q = step.loads, slice(1, 1 + self._rank)
        total = loads.sums[:, q].T @ (R.T @ loads.offset)
        for turn, moment in zip(loads.turns, loads.moments, strict=True):
            total += np.einsum("ij,ijm->m", R.T @ turn, moment)[q]
        return np.asarray(total)


def _frame_of(step: Step, rank: int) -> tuple[FloatArray, FloatArray]:
    """R (3, 3) and the centre [m], (3,), of a carried body at the end of a step."""
    return step.begin[rank : rank + 9].reshape(3, 3), step.begin[rank + 9 :]
