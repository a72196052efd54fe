"""Vertices drawn to points in space."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, as_indices
from supple.constraint.checks import each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.linalg.small import point

__all__ = ["Positions"]

FloatArray = NDArray[np.float64]


@point
def position(t, l):
    total = 0.0
    for i in range(3):
        gap = t[VALUE + i, l] - t[PARAMETERS + i, l]
        t[PROJECTION + i, l] = t[PARAMETERS + i, l]
        total += gap * gap
    t[DISTANCE, l] = total


@dataclass(frozen=True, eq=False)
class Positions(Constraint):
    """Springs of no length from vertices to fixed points; pins hold exactly, these give way."""

    kind: ClassVar = "position"
    lane: ClassVar = position
    width: ClassVar = 1

    @classmethod
    def build(cls, rest: FloatArray, vertices: ArrayLike, stiffness: ArrayLike) -> "Positions":
        """Vertices (e,) drawn to where they are at `rest` [m], (n, 3), by springs of stiffness k [N/m]."""
        rest = as_floats(rest, "Positions.build(rest)", ("n", 3), unit="m")
        drawn = as_indices(vertices, "Positions.build(vertices)", len(rest))[:, None]
        stiffness = each(stiffness, len(drawn), "Positions.build(stiffness)", "N/m")
        stencils = Stencils(drawn, np.ones((len(drawn), 1, 1)), np.ones(len(drawn)))
        return cls(stencils, stiffness, np.ascontiguousarray(rest[drawn[:, 0]].T))
