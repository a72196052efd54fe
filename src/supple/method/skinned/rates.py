"""Velocities and accelerations of all vertices of a skinned body, from what a state keeps of its last steps."""

import numpy as np
from numpy.typing import NDArray

from supple.method.skinned.state import SkinnedState
from supple.rig import SkinnedRig
from supple.subspace import Basis, DomainBases

__all__ = ["find_rig_velocity", "lift_rates"]

FloatArray = NDArray[np.float64]
_NUDGE = 1e-5  # [rad] and [m]: half the digits that differences of second order can have


def lift_rates(
    rig: SkinnedRig, basis: Basis | DomainBases, state: SkinnedState, vertices: NDArray[np.integer] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Velocities [m/s] and accelerations [m/s²] of all or of chosen vertices, (k, 3) each.

    They are differences of the last states, as implicit Euler has them; those of the coordinates are the integrator's.
    """
    moments = [(state.pose, state.shapes[0]), *zip(state.former_poses, state.former_shapes, strict=True)]
    rest = rig.rest if vertices is None else rig.rest[vertices]
    places = [rig.push_forward(pose, rest + basis.lift(q, vertices), vertices) for pose, q in moments]
    slopes = _difference(state.spans, places)
    own = _difference(state.spans, [q for _, q in moments])
    A, _ = rig.frames(state.pose, vertices)
    v, a = (slopes[k] + _turn(A, basis.lift(state.shapes[1 + k] - own[k], vertices)) for k in (0, 1))
    return v, a


def find_rig_velocity(rig: SkinnedRig, pose: FloatArray, held: NDArray[np.integer], v: FloatArray) -> FloatArray:
    """Velocities of the skinning at all vertices [m/s], (n, 3), from those v [m/s], (k, 3), of what bones hold."""
    if not v.any():
        return np.zeros_like(rig.rest)

    def slope(way: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        ends = (rig.positions(pose + sign * _NUDGE * way, vertices) for sign in (1.0, -1.0))
        return (next(ends) - next(ends)) / (2.0 * _NUDGE)

    by_pose = np.array([slope(way, held).ravel() for way in np.eye(len(pose))]).T
    rate = np.linalg.lstsq(by_pose, v.ravel(), rcond=1e-6)[0]
    size = float(np.abs(rate).max())
    return size * slope(rate / size) if size > 0.0 else np.zeros_like(rig.rest)


def _turn(A: FloatArray, field: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("vij,vj->vi", A, field))


def _difference(spans: FloatArray, values: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """First and second differences by time of values now, one and two steps ago; zero where there was no step."""
    last, before = spans
    still = np.zeros_like(values[0])
    if not last > 0.0:
        return still, still
    rate = (values[0] - values[1]) / last
    former = (values[1] - values[2]) / before if before > 0.0 else still
    return rate, (rate - former) / last
