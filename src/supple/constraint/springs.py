"""Springs between two vertices whose length stays within a range."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.constraint.checks import check_limits, each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.linalg.small import point
from supple.mesh.checks import check_cells

__all__ = ["Springs"]

FloatArray = NDArray[np.float64]


@point
def spring(t, l):
    x, y, z = t[VALUE, l], t[VALUE + 1, l], t[VALUE + 2, l]
    length = np.sqrt(x * x + y * y + z * z)
    target = min(max(length, t[PARAMETERS, l]), t[PARAMETERS + 1, l])
    some = length > 0.0
    factor = target / (length if some else 1.0)
    t[PROJECTION, l] = factor * x if some else target  # any direction is as near as another
    t[PROJECTION + 1, l], t[PROJECTION + 2, l] = factor * y, factor * z
    t[DISTANCE, l] = (length - target) * (length - target)


@dataclass(frozen=True, eq=False)
class Springs(Constraint):
    """Nothing resists lengths within the range; beyond it k does."""

    kind: ClassVar = "spring"
    lane: ClassVar = spring
    width: ClassVar = 2

    @classmethod
    def build(
        cls, rest: FloatArray, edges: ArrayLike, stiffness: ArrayLike, limits: tuple[float, float] = (1.0, 1.0)
    ) -> "Springs":
        """Springs of stiffness k [N/m] along edges (e, 2), free within `limits` of their lengths at `rest` [m]."""
        rest = as_floats(rest, "Springs.build(rest)", ("n", 3), unit="m")
        pairs = check_cells(edges, 2, len(rest), "spring")
        stiffness = each(stiffness, len(pairs), "Springs.build(stiffness)", "N/m")
        check_limits("Springs.build(limits)", limits, ropes=True)
        lengths = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
        operator = np.tile([[-1.0, 1.0]], (len(pairs), 1, 1))
        return cls(Stencils(pairs, operator, lengths), stiffness, np.array(limits)[:, None] * lengths)
