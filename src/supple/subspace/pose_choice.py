"""Poses chosen for the user: the fewest from which the bases of all others can be interpolated."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from supple.elastic import Body
from supple.errors import SuppleWarning, TrainingError
from supple.linalg.ties import first_largest, is_within
from supple.rig import Rig
from supple.rig.pose_weights import TOO_CLOSE
from supple.subspace.alignment import ALIGNMENTS, Alignment
from supple.subspace.pose_bases import PoseBases
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import PoseModels

__all__ = ["choose_poses"]

FloatArray = NDArray[np.float64]

TOLERANCE = 0.03  #: of the first frequencies between poses: dynamics are then within 5 %
MOST = 16  #: poses
_FIRST = 2  # poses beside the neutral one to begin with: the farthest of all
_LOOKS = 2  # poses looked at for every one chosen
_ALIKE = 0.02  # of how far the poses are apart: nearer ones to a chosen pose are not looked at
_EQUAL = 1e-3  # share by which distances and errors may differ and are equal


def choose_poses(
    body: Body,
    rig: Rig,
    among: ArrayLike,
    rank: int,
    *,
    given: ArrayLike | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    alignments: tuple[Alignment, ...] = ALIGNMENTS,
    maker: PoseColumns | None = None,
) -> PoseBases:
    """Bases in the neutral pose, in those `given` (g, p), and in as few `among` others (k, p) as serve all of them.

    The others are poses of a motion, or of all that joints can do. The farthest come first; then the one in which a
    frequency of the interpolated basis, of the first few, is worst, until all are within the tolerance wherever one
    looks. Where the root goes does not count. A `maker` knows of regions and contact.
    """
    models = PoseModels(body, rig, rank, alignments, maker)
    neutral = np.asarray(rig.neutral, np.float64)[None]
    firm = None if body.stiffening is None else body.stiffening.poses
    always = np.concatenate([neutral, *(_check_poses(some, neutral, "given") for some in (given, firm))])
    poses = np.concatenate([always, _check_poses(among, neutral, "to choose from")])
    points = np.array([models.point(pose) for pose in poses])
    chosen = _distinct(points, len(always))
    if most < len(chosen):
        raise TrainingError(f"at most {most} poses are fewer than the {len(chosen)} that are given: allow more.")
    chosen += _farthest(points, chosen, min(_FIRST, most - len(chosen)))
    seen: list[int] = []
    while True:
        looked = [k for k in seen if k not in chosen]
        looked += _farthest(points, chosen + looked, _LOOKS * len(chosen) - len(looked))
        seen = sorted({*seen, *looked})
        bases = models.bases(poses[chosen], poses[looked])
        assert bases.between is not None  # `PoseModels` has looked
        errors = bases.between.pose_errors(bases.alignment)
        if not len(errors) or is_within(errors.max(), tolerance):
            return bases
        if len(chosen) >= most:
            warnings.warn(
                f"between the {most} poses of the basis its first frequencies are up to {100 * errors.max():.1f} % "
                f"off, not {100 * tolerance:.3g} %: allow more poses, raise the rank, or hold more of the body.",
                SuppleWarning,
                stacklevel=2,
            )
            return bases
        chosen.append(looked[first_largest(errors, _EQUAL)])


def _check_poses(poses: ArrayLike | None, neutral: FloatArray, what: str) -> FloatArray:
    table = np.empty((0, neutral.shape[1])) if poses is None else np.asarray(poses, np.float64)
    if table.ndim != 2 or table.shape[1] != neutral.shape[1]:
        raise TrainingError(
            f"poses {what} of shape {table.shape} do not fit a rig of {neutral.shape[1]} controls: give as many "
            "numbers in every row."
        )
    return table


def _distinct(points: FloatArray, count: int) -> list[int]:
    """The first poses without those that are as good as the same as one before."""
    least = TOO_CLOSE * _spread(points)
    found = [0]
    for k in range(1, count):
        if np.linalg.norm(points[found] - points[k], axis=1).min() > least:
            found.append(k)
    return found


def _farthest(points: FloatArray, chosen: list[int], count: int) -> list[int]:
    """At most `count` more poses, each the farthest from all chosen before it; none that is much like one of them."""
    nearest, least = cdist(points[chosen], points).min(axis=0), _ALIKE * _spread(points)
    found: list[int] = []
    while len(found) < count and nearest.max() > least:
        found.append(first_largest(nearest, _EQUAL))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[found[-1]], axis=1))
    return found


def _spread(points: FloatArray) -> float:
    """How far the poses go from the first of them [m]."""
    return float(np.linalg.norm(points - points[0], axis=1).max())
