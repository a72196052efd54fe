"""Velocities and accelerations of all vertices of a skinned body, from what a state keeps of its last steps."""

import numpy as np
from numpy.typing import NDArray

from supple.method.skinned_particles import Particles
from supple.method.skinned_state import SkinnedState
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["lift_rates"]

FloatArray = NDArray[np.float64]


def lift_rates(
    rig: SkinnedRig, basis: Basis, particles: Particles, state: SkinnedState
) -> tuple[FloatArray, FloatArray]:
    """Velocities [m/s] and accelerations [m/s²], (n, 3) each.

    They are differences of the last states, as implicit Euler has them, corrected within the subspace by what the
    coordinates and the particles say.
    """
    placed = particles.place(state.pose)
    A, _ = rig.frames(state.pose)
    found = []
    slopes = _difference(state, [_shape(rig, basis, *moment) for moment in _moments(state)])
    own = _difference(state, [q for _, q in _moments(state)])
    for k in (0, 1):
        field = slopes[k] + _turn(A, basis.lift(state.shapes[1 + k] - own[k]))
        missing = particles.coordinates(placed, state.particles[1 + k] - field[particles.vertices])
        found.append(field + _turn(A, basis.lift(missing)))
    return found[0], found[1]


def _moments(state: SkinnedState) -> list[tuple[FloatArray, FloatArray]]:
    """Poses and coordinates now, one and two steps ago."""
    return [(state.pose, state.shapes[0]), *zip(state.former_poses, state.former_shapes, strict=True)]


def _shape(rig: SkinnedRig, basis: Basis, pose: FloatArray, q: FloatArray) -> FloatArray:
    return rig.push_forward(pose, rig.rest + basis.lift(q))


def _turn(A: FloatArray, field: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("vij,vj->vi", A, field))


def _difference(state: SkinnedState, values: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """First and second differences by time of values now, one and two steps ago; zero where there was no step."""
    still = np.zeros_like(values[0])
    last, before = state.spans
    rate = (values[0] - values[1]) / last if last > 0.0 else still
    former = (values[1] - values[2]) / before if before > 0.0 else still
    return rate, (rate - former) / last if last > 0.0 else still
