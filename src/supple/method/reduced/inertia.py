"""The sums over a mesh by which shapes that travel and turn have inertia, made once."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.method.reduced.frame import FrameLoads, tangent
from supple.method.reduced.handles import Handle, Springs
from supple.method.reduced.state import ReducedState

__all__ = ["Frames", "skew"]

FloatArray = NDArray[np.float64]


def skew(w: FloatArray) -> FloatArray:
    """The matrix of w x ."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


class Frames:
    """The sums over the mesh that the inertia of moving shapes needs, made once."""

    def __init__(self, shapes: FloatArray, mass: FloatArray, rank: int) -> None:
        """Ψ (n, 3, m) and vertex masses [kg], (n,); coordinates q are entries 1 to 1 + rank of a shape."""
        self.rank, self.mass = rank, float(mass.sum())
        by_axis = [np.ascontiguousarray(shapes[:, i]) for i in range(3)]
        self.A = np.array([[a.T @ (mass[:, None] * b) for b in by_axis] for a in by_axis])
        """A_ij = Ψ_iᵀ M Ψ_j, (3, 3, m, m)."""
        self.sums = np.array([mass @ a for a in by_axis])
        """Σ m Ψ, (3, m)."""
        self.q = slice(1, 1 + rank)

    @cached_property
    def plain(self) -> FloatArray:
        """ΨᵀMΨ, (m, m)."""
        return np.asarray(np.einsum("iiab->ab", self.A))

    def loads(
        self,
        target: tuple[FloatArray, FloatArray, FloatArray],
        c: float,
        begin: FloatArray,
        tail: FloatArray,
        pushed: list[tuple[Handle, FloatArray]],
        springs: Springs,
        drag: tuple[FloatArray, FloatArray],
    ) -> FrameLoads:
        """The loads of a step towards x̂ = (shapes (k, m), turns (k, 3, 3), offset (3,)) from the shape `begin`."""
        shapes, turns, offset = target
        used = np.flatnonzero(turns.any(axis=(1, 2)))
        shapes, turns = shapes[used], np.ascontiguousarray(turns[used])
        moments = np.array([self.A @ s for s in shapes]).reshape(-1, 3, 3, self.sums.shape[1])
        rest = np.zeros(self.sums.shape[1])
        rest[0], rest[1 + self.rank :] = 1.0, tail
        handles = [handle for handle, _ in pushed] + springs.handles
        count, free = len(handles), len(pushed)
        forces, stiffness, targets = (np.zeros((count, 3)) for _ in range(3))
        forces[:free] = np.array([vector for _, vector in pushed]).reshape(-1, 3)
        stiffness[free:], targets[free:] = springs.stiffness, springs.targets
        return FrameLoads(
            np.array([c, self.mass]),
            np.ascontiguousarray(self.plain[self.q] @ rest),
            self.sums,
            moments,
            turns,
            offset,
            np.einsum("kij,jm,km->i", turns, self.sums, shapes),
            self.A @ begin,
            tail,
            np.array([handle.J for handle in handles]).reshape(count, 3, self.sums.shape[1]),
            np.array([handle.weight for handle in handles], float),
            forces,
            stiffness,
            targets,
            *drag,
        )

    def tangent(self, field: tuple[FloatArray, FloatArray, FloatArray], s: FloatArray, R: FloatArray) -> Any:
        """Velocity of the centre (3,), spin (3,) in the body's axes and q̇ (r,) nearest to a field, in the metric.

        The field is (shapes, turns, offset); the body has the shape s, turned by R.
        """
        shapes, turns, offset = field
        return tangent(self.A, self.sums, self.mass, self.rank, shapes, turns, offset, s, R)

    def kinetic_energy(self, state: ReducedState) -> float:
        """½ ∫ |v|² of the velocities of a state [J]."""
        used = np.flatnonzero(state.turns[1].any(axis=(1, 2)))
        shapes, turns, t = state.shapes[used], state.turns[1][used], state.offsets[1]
        total = self.mass * (t @ t)
        for shape, turn in zip(shapes, turns, strict=True):
            total += 2.0 * t @ (turn @ (self.sums @ shape))
            for other, second in zip(shapes, turns, strict=True):
                total += np.vdot(turn.T @ second, (self.A @ other) @ shape)
        return 0.5 * float(total)

    def inner(self, field: tuple[FloatArray, FloatArray, FloatArray], R: FloatArray) -> FloatArray:
        """UᵀM Rᵀ w of a field w = (shapes, turns, offset), (r,)."""
        shapes, turns, offset = field
        total = self.sums[:, self.q].T @ (R.T @ offset)
        for shape, turn in zip(shapes, turns, strict=True):
            total += np.einsum("ij,ijm->m", R.T @ turn, self.A @ shape)[self.q]
        return total

    def state(
        self, time: float, s: FloatArray, R: FloatArray, centre: FloatArray, rates: Any, changes: Any
    ) -> ReducedState:
        """The state of a shape and frame with velocities (centre, spin, q̇) and accelerations of the same."""
        V, spin, speed = rates
        A, angular, push = changes
        shapes = np.zeros((3, len(s)))
        shapes[0], shapes[1, 1 : 1 + len(speed)], shapes[2, 1 : 1 + len(push)] = s, speed, push
        W = skew(spin)
        turns = np.zeros((3, 3, 3, 3))
        turns[0, 0] = R
        turns[1, 0], turns[1, 1] = R @ W, R
        # Centripetal and Coriolis parts are no unknowns but follow from the velocities
        turns[2, 0], turns[2, 1], turns[2, 2] = R @ (skew(angular) + W @ W), 2.0 * R @ W, R
        return ReducedState(time, shapes, turns, np.array([centre, V, A]))
