"""Mass and stiffness of a hyper-reduced body, laid out so that a step of any length is a weighted sum of them."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.subspace.position_space import PositionSpace

__all__ = ["ConstantParts"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConstantParts:
    """What constant matrices are sums of, in the same blocks of 4 x 4, so that another step or stiffness is one sum."""

    starts: NDArray[np.int32]
    """(k + 1,)"""
    columns: NDArray[np.int32]
    """(m,)"""
    mass: FloatArray
    """[kg], (m, 4, 4)"""
    stiffness: FloatArray
    """[N/m], (m, 4, 4)"""
    idle: FloatArray
    """1 on the diagonal of columns that are zero, (m, 4, 4)."""
    drifts: bool
    """Whether no constraint holds the body as a whole."""

    @classmethod
    def build(cls, mass: sp.csr_array, stiffness: sp.csr_array, positions: PositionSpace) -> "ConstantParts":
        """Of matrices over the columns of a space, (c, c)."""
        idle = sp.diags_array(positions.idle.astype(np.float64))
        blocks = [sp.bsr_array(one, blocksize=(4, 4)) for one in (mass, stiffness, idle)]
        size = positions.size
        keys = [np.repeat(np.arange(size), np.diff(one.indptr)) * size + one.indices for one in blocks]
        every = np.unique(np.concatenate(keys))
        parts = np.zeros((3, len(every), 4, 4))
        for part, one, key in zip(parts, blocks, keys, strict=True):
            part[np.searchsorted(every, key)] = one.data
        rows, columns = np.divmod(every, size)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
        held = np.abs(stiffness @ positions.constant).max()
        drifts = bool(held < 1e-9 * np.abs(stiffness.data).max())
        return cls(starts.astype(np.int32), columns.astype(np.int32), parts[0], parts[1], parts[2], drifts)

    def sum(self, mass: float, stiffness: float, idle: float = 1.0) -> sp.bsr_array:
        """The matrix of so much of each."""
        data = mass * self.mass + stiffness * self.stiffness + idle * self.idle
        return sp.bsr_array((data, self.columns, self.starts), shape=(4 * (len(self.starts) - 1),) * 2)
