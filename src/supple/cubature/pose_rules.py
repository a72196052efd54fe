"""Rules for forces in subspaces that change with the pose: one set of members, weights for every pose ([XB16] 5.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["PoseRules"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseRules:
    """Elements for elastic forces and vertices for inertial ones."""

    elements: NDArray[np.int64]
    """(c,)"""
    weights: FloatArray
    """Of the elements in every pose, (m, c), times their volume there; none negative."""
    inertia_vertices: NDArray[np.int64]
    """(i,)"""
    inertia_weights: FloatArray
    """Of the vertices in every pose, (m, i), times their mass; none negative."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Relative errors in training, on held-out samples and between poses, by name."""
