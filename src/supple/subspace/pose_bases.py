"""Subspaces of one body about several rest shapes, aligned so that columns of equal number mean the same ([XB16] 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Alignment", "PoseBases"]

FloatArray = NDArray[np.float64]
Alignment = Literal["world", "paper", "rotframe"]


@dataclass(frozen=True, eq=False)
class PoseBases:
    """A basis at every example pose, all in the frame of the rig's root."""

    poses: FloatArray
    """(m, p), their roots at the neutral place."""
    rest: FloatArray
    """Rest shapes there [m], (m, n, 3)."""
    columns: FloatArray
    """U_i, (m, 3 n, r): aligned, mass-orthonormal in each pose, zero at pins."""
    alignment: Alignment
    mass: FloatArray
    """Vertex masses [kg], (n,)."""
    tree: NDArray[np.int64]
    """The pose that each was aligned to, (m,); its own number for the first."""
    frequencies: Mapping[str, Any] = field(default_factory=dict)
    """Errors of frequencies between poses, by alignment."""

    @property
    def rank(self) -> int:
        """Number of columns."""
        return int(self.columns.shape[2])
