"""What contacts and grabs add to the matrix of a condensed step: springs between full vertices and the coordinates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.linalg.bordered import Handled
from supple.method.condensation.footing import Footing
from supple.solve.potential import Potential

__all__ = ["hang_springs"]


def hang_springs(footing: Footing, joints: Sequence[Potential]) -> Handled:
    """The springs of joints over a region's numbers, but for their curvature: that is all that a step changes."""
    full, rank = len(footing.region.full), footing.rows.rank
    width = max(joint.weights.shape[1] for joint in joints)
    rows, weights = joints[0].vertices.astype(np.int64), joints[0].weights
    if len(joints) > 1:
        rows, weights = (np.concatenate([_widen(part, width) for part in both]) for both in (
            [np.asarray(joint.vertices, np.int64) for joint in joints], [joint.weights for joint in joints]
        ))  # fmt: skip
    places, H = np.full(len(rows), -1, np.int64), np.zeros((0, 3, rank))
    if (rows < full).all():
        return Handled(rows, weights, np.zeros((0, 3, 3)), places, H)
    outside = (rows >= full) & (weights != 0.0)
    mixed = np.flatnonzero(outside.any(axis=1))
    if len(mixed):
        places[mixed] = np.arange(len(mixed))
        share = np.where(outside[mixed], weights[mixed], 0.0)
        known, place = np.unique(rows[mixed], return_inverse=True)
        H = np.einsum("mk,mkir->mir", share, footing.rows.pick(known)[place.reshape(share.shape)])
        rows, weights = np.where(outside, 0, rows), np.where(outside, 0.0, weights)
    return Handled(rows, weights, np.zeros((0, 3, 3)), places, H)


def _widen(rows: NDArray[np.generic], width: int) -> NDArray[np.generic]:
    return rows if rows.shape[1] == width else np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
