"""The subspace of a body that nothing holds: x = c + R (X + U q), its frame R, c among the unknowns.

Within a step the frame is that of the step's end as foreseen, and beside q there are six coordinates more that turn and
shift what follows it, to first order: x = c + R (X + U q + θ × y + τ), y where the flesh is as the step begins. Where a
step ends they become a turn and a shift of the frame; if that was far from the one foreseen the step is solved again
from there. Since shifts are among the coordinates, neither steps nor vertices that come or go change momentum.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import VISCOUS
from supple.method.condensation.anchors import FrameAnchor
from supple.method.condensation.carried import CarriedSteps
from supple.method.condensation.subspace import (
    Ahead,
    Part,
    Piece,
    Quadratic,
    Ruled,
    Vertices,
    fit_left,
    one_part,
    one_piece,
)
from supple.method.reduced.frame import rotation
from supple.method.reduced.handles import Handles
from supple.method.reduced.inertia import Frames, skew
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.state import ReducedState
from supple.solve.inputs import Inputs

__all__ = ["RIGID", "FreeStance", "FreeSteps", "FreeSubspace"]

FloatArray = NDArray[np.float64]
RIGID = 6  #: coordinates beside those of the basis
_TURNED = 1e-4  # [rad]: a turn of first order is right to half of its square


class FreeStance:
    """A frame, and the coordinates that move what is in it."""

    def __init__(self, shapes: FloatArray, R: FloatArray, centre: FloatArray, s: FloatArray, units: FloatArray) -> None:
        """Shapes Ψ = (X, U), (n, 3, m), of which s, (m,), is turned; `units` of a turn and of a shift, (2,)."""
        self._shapes, self.R, self.centre, self.s, self.units = shapes, R, centre, s, units

    def rows(self, vertices: Vertices = None) -> FloatArray:
        """R (U, ( × y), I), (k, 3, r + 6)."""
        psi = self._pick(vertices)
        y, (turn, shift) = psi @ self.s, self.units
        lever = np.zeros((len(y), 3, 3))
        lever[:, 0, 1], lever[:, 0, 2], lever[:, 1, 2] = y[:, 2], -y[:, 1], y[:, 0]
        lever -= lever.transpose(0, 2, 1)
        shifts = np.broadcast_to(shift * np.eye(3), lever.shape)
        return np.asarray(self.R @ np.concatenate([psi[:, :, 1:], turn * lever, shifts], axis=2))

    def parts(self, vertices: NDArray[np.integer]) -> list[Part]:
        return one_part(self.rows(vertices))

    def pieces(self, copies: NDArray[np.integer]) -> list[Piece]:
        return one_piece(self.rows(copies))

    def origin(self, vertices: Vertices = None) -> FloatArray:
        return np.asarray(self.centre + self._pick(vertices)[:, :, 0] @ self.R.T)

    def place(self, q: FloatArray, vertices: Vertices = None) -> FloatArray:
        psi, rank = self._pick(vertices), len(q) - RIGID
        y = psi[:, :, 0] + psi[:, :, 1:] @ q[:rank]
        theta, shift = self.split(q)
        if theta.any():
            y += np.cross(theta, psi @ self.s)
        return np.asarray(self.centre + (y + shift) @ self.R.T)

    def anchor(self, q: FloatArray, vertices: NDArray[np.int32]) -> FrameAnchor:
        return FrameAnchor(*self.settle(q), np.append(1.0, q[:-RIGID]), self._pick(vertices))

    def hold(self, q: FloatArray, vertices: NDArray[np.int32]) -> None:
        return None

    def part_from(self, anchor: FrameAnchor, q: FloatArray) -> FloatArray:
        """How far it is from an anchor."""
        return anchor.measure_frame(self.R, self.centre, np.append(1.0, q[:-RIGID]), self.s, *self.split(q))

    def split(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Turn [rad] and shift [m] in the body's axes, (3,) each."""
        return self.units[0] * q[-6:-3], self.units[1] * q[-3:]

    def settle(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R and centre that turn and shift lead to."""
        theta, shift = self.split(q)
        return self.R @ rotation(theta), self.centre + self.R @ shift

    def _pick(self, vertices: Vertices) -> FloatArray:
        return self._shapes if vertices is None else self._shapes[vertices]


class FreeSubspace:
    """Reads states."""

    def __init__(self, solver: ReducedSolver) -> None:
        self._solver, self._mass = solver, solver.body.mass
        spread = float(np.einsum("v,vi,vi", self._mass, solver.shapes[:, :, 0], solver.shapes[:, :, 0]))
        self._units = np.array([1.5 / spread, 1.0 / self._mass.sum()]) ** 0.5

    def stance(self, below: ReducedState) -> FreeStance:
        return self.stand(below.turns[0, 0], below.offsets[0], below.shapes[0])

    def stand(self, R: FloatArray, centre: FloatArray, s: FloatArray) -> FreeStance:
        """The stance of a frame and the shape that turns in it."""
        return FreeStance(self._solver.shapes, R, centre, s, self._units)

    def coordinates(self, below: ReducedState) -> FloatArray:
        return np.append(below.shapes[0, 1:], np.zeros(RIGID))

    def field(self, below: ReducedState, level: int, vertices: Vertices = None) -> FloatArray:
        return self._solver.moving.field(below, level, vertices)

    def fold(self, below: ReducedState, kept: Vertices, gone: Vertices, motion: FloatArray) -> ReducedState:
        """Velocities are differences of two shapes, so that what the vertices had one step ago is folded back, too."""
        s, R, centre = self._fit(self.stance(below), kept, gone, motion[0])
        rate = float(np.linalg.norm(below.turns[1, 0]) / np.sqrt(3.0))  # R over h
        shapes, turns, offsets = below.shapes.copy(), below.turns.copy(), below.offsets.copy()
        shapes[0], turns[0, 0], offsets[0] = s, R, centre
        if rate > 0.0:
            before = below.offsets[0] - below.offsets[1] / rate
            then = self.stand(-below.turns[1, 1] / rate, before, below.shapes[1])
            s, was_R, was = self._fit(then, kept, gone, motion[0] - motion[1] / rate)
            shapes[1], turns[1, 0], turns[1, 1] = s, rate * R, -rate * was_R
            offsets[1] = rate * (centre - was)
        return below._replace(shapes=shapes, turns=turns, offsets=offsets)

    def _fit(
        self, stance: FreeStance, kept: Vertices, gone: Vertices, x: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shape, R and centre by which vertices `gone` come nearest to x [m], (k, 3)."""
        fit = fit_left(self.weigh(stance.s), stance.rows(kept), self._mass[kept])
        away = x - stance.place(np.append(stance.s[1:], np.zeros(RIGID)), gone)
        change = fit @ np.tensordot(away, self._mass[gone, None, None] * stance.rows(gone), 2)
        return stance.s + np.append(0.0, change[:-RIGID]), *stance.settle(change)

    def weigh(self, s: FloatArray) -> FloatArray:
        """Mass of the body as the coordinates move it about a shape s, (r + 6, r + 6)."""
        frames, rank = self._solver.moving.frames, self._solver.rank
        K = np.eye(rank + RIGID)
        for axis, unit in enumerate(np.eye(3)):
            K[rank + 3 + axis, :rank] = K[:rank, rank + 3 + axis] = unit @ frames.sums[:, 1:]
        moments = frames.A @ s
        first = moments @ s  # Σ m y yᵀ
        for axis, unit in enumerate(np.eye(3)):
            W = skew(unit)
            K[rank + axis, :rank] = K[:rank, rank + axis] = np.einsum("ij,ijm->m", W, moments)[1:]
            arm = W @ (frames.sums @ s)
            K[rank + axis, rank + 3 :] = K[rank + 3 :, rank + axis] = arm
        K[rank : rank + 3, rank : rank + 3] = np.trace(first) * np.eye(3) - first
        K[rank + 3 :, rank + 3 :] = frames.mass * np.eye(3)
        scale = self.scale(rank)
        return scale[:, None] * K * scale

    def scale(self, rank: int) -> FloatArray:
        """Units of all coordinates, (r + 6,)."""
        return np.concatenate([np.ones(rank), np.repeat(self._units, 3)])

    def gather(
        self, turns: FloatArray, moments: FloatArray, offset: FloatArray, travel: FloatArray, stance: FreeStance
    ) -> FloatArray:
        """What a field offset + Σ Q_k Ψ s_k does, weighed by masses, to the coordinates of a stance, (r + 6,).

        moments: A_ij s_k, (k, 3, 3, m); travel: Σ Q_k Σ m Ψ s_k, (3,)."""
        frames: Frames = self._solver.moving.frames
        back = stance.R.T @ offset
        push = frames.sums[:, 1:].T @ back
        torque = np.cross(frames.sums @ stance.s, back)
        for turn, moment in zip(turns, moments, strict=True):
            Q = stance.R.T @ turn
            push += np.einsum("ij,ijm->m", Q, moment)[1:]
            T = (moment @ stance.s) @ Q.T
            torque += (T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0])
        force = stance.R.T @ (frames.mass * offset + travel)
        return np.asarray(self.scale(self._solver.rank) * np.concatenate([push, torque, force]))


class FreeSteps(CarriedSteps):
    """Moves it."""

    def __init__(self, solver: ReducedSolver, integrator: str) -> None:
        super().__init__(solver, integrator)
        self._free = FreeSubspace(solver)
        self._aimed: tuple[ReducedState, FloatArray, FloatArray] | None = None

    @property
    def subspace(self) -> FreeSubspace:  # type: ignore[override]
        return self._free

    def prepare(self, below: ReducedState, inputs: Inputs) -> Ahead:
        _, step = self._frame(below, inputs)
        loads, q, rank = step.loads, step.begin[: self._rank], self._rank
        guess_q, R, centre = step.guess[:rank], step.guess[rank : rank + 9].reshape(3, 3), step.guess[rank + 9 :]
        if self._aimed is not None and self._aimed[0] is below:
            _, R, centre = self._aimed
        s, nothing = below.shapes[0], np.zeros(RIGID)
        stance, free, frames = self._free.stand(R, centre, s), self._free, self._solver.moving.frames
        begin_R, begin = below.turns[0, 0], below.offsets[0]
        rest = np.zeros_like(s)
        rest[0] = 1.0
        elements = self._elements
        if below.live.stiffness != 1.0:
            elements = elements.with_stiffness(below.live.stiffness)
        elements = self._widen(elements, q)
        c, beta = float(loads.inertia[0]), self._body.damping.stiffness
        origin = free.gather(R[None], (frames.A @ rest)[None], centre, R @ (frames.sums @ rest), stance)
        pull = c * (free.gather(loads.turns, loads.moments, loads.offset, loads.travel, stance) - origin)
        load = np.zeros(rank + RIGID)
        for force in below.live.forces(inputs.end.forces):
            handle, vector = self._points.of_force(force)
            back = vector @ R
            load += np.concatenate([back @ handle.J[:, 1:], np.cross(handle.J @ s, back), handle.weight * back])
        load *= free.scale(rank)
        at = np.append(q, nothing)

        def carry(x: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
            return np.asarray(centre + (x - begin) @ begin_R @ R.T)

        def resist(some: Ruled) -> Quadratic:
            M = step.motion.cv * beta * some.stiffness(at, form=VISCOUS)
            return M, M @ at

        return Ahead(
            stance, elements, (c * free.weigh(s), pull), load, at, np.append(guess_q, nothing), carry, carry, resist
        )

    def serves(self, below: ReducedState, ahead: Ahead, q: FloatArray) -> bool:
        """Whether the frame turned so little that first order will do; if not, the next step begins where it is."""
        stance = ahead.stance
        assert isinstance(stance, FreeStance)
        if float(np.linalg.norm(stance.split(q)[0])) < _TURNED:
            self._aimed = None
            return True
        self._aimed = below, *stance.settle(q)
        return False

    def arrive(self, below: ReducedState, ahead: Ahead, q: FloatArray, inputs: Inputs) -> ReducedState:
        stance = ahead.stance
        assert isinstance(stance, FreeStance)
        framed, step = self._frame(below, inputs)
        R, centre = stance.settle(q)
        z = np.concatenate([q[:-RIGID], R.ravel(), centre])
        made = self._solver.moving.arrive(framed, step, z, inputs.end.time, inputs.duration)
        return made._replace(live=below.live)

    def _widen(self, elements: ReducedElements, q: FloatArray) -> ReducedElements:
        """The elements, turned and shifted, too."""
        F = elements.strain(q).reshape(-1, 3, 3)
        turns = [self._free.scale(0)[axis] * skew(unit) @ F for axis, unit in enumerate(np.eye(3))]
        turned = np.stack(turns, axis=-1).reshape(-1, 3)
        return replace(elements, gradient=np.hstack([elements.gradient, turned, np.zeros_like(turned)]))

    @cached_property
    def _points(self) -> Handles:
        return Handles(self._solver.shapes, self._body.mass, 0.0)
