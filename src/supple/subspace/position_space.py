"""A subspace of positions whose columns x, y and z share: sparse rows in blocks of four columns."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from supple.errors import TrainingError
from supple.linalg.block_cholesky import BlockCholesky
from supple.subspace.blended import Blended
from supple.subspace.block_rows import BlockRows

__all__ = ["PositionSpace"]

FloatArray = NDArray[np.float64]
_DEPENDENT = 1e-9  # share of a column's square that is new: less, and it only spoils the numbers


@dataclass(frozen=True, eq=False)
class PositionSpace:
    """Positions x = U q with q of shape (c, 3): sections 4 and Appendix B of [BEH18].

    Row i of U has the blocks `blocks[starts[i] : starts[i + 1]]`; block b covers the columns 4 b to 4 b + 3.
    """

    starts: NDArray[np.int64]
    """(n + 1,)"""
    blocks: NDArray[np.int32]
    """(m,)"""
    values: FloatArray
    """(m, 4)"""
    size: int
    """Number of blocks."""
    mass: FloatArray
    """The metric [kg], (n,)."""
    source: str
    """What made it, in a user's words."""
    idle: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Columns that are zero because others span what they would, (c,)."""
    blended: Blended | None = None
    """The same positions by skinning, if that is what the columns are: all vertices at once come sooner."""

    @classmethod
    def build(
        cls,
        starts: NDArray[np.int64],
        blocks: NDArray[np.int32],
        values: FloatArray,
        size: int,
        mass: FloatArray,
        source: str,
        blended: Blended | None = None,
    ) -> "PositionSpace":
        """The space of these blocks; columns that add nothing to the others become zero and idle."""
        space = cls(starts, blocks, values, size, mass, source, np.zeros(4 * size, np.bool_), blended)
        idle = _dependent_columns(space.gram.toarray())
        if not idle.any():
            return space
        values = np.where(idle.reshape(-1, 4)[blocks], 0.0, values)
        return cls(starts, blocks, values, size, mass, source, idle)

    @property
    def columns(self) -> int:
        """c, the number of columns: a third of the degrees of freedom."""
        return 4 * self.size

    @cached_property
    def rows(self) -> BlockRows:
        """U as frames evaluate it."""
        return BlockRows(self.starts, self.blocks, self.values)

    def matrix(self, vertices: NDArray[np.integer] | None = None) -> sp.csr_array:
        """U, or its rows of chosen vertices, (k, c)."""
        return (self.rows if vertices is None else self.rows.take(vertices)).matrix(self.columns)

    def lift(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """U q of all or of chosen vertices, (k, 3)."""
        rows = self.rows if self.blended is None else self.blended
        return (rows if vertices is None else rows.take(vertices)).apply(q)

    def pull(self, fields: FloatArray) -> FloatArray:
        """Uᵀ f of forces f [N], (n, 3): (c, 3)."""
        return self.rows.gather(fields, self.columns)

    @cached_property
    def gram(self) -> sp.csr_array:
        """UᵀMU [kg], (c, c)."""
        U = self.matrix()
        return sp.csr_array(U.T @ (U * self.mass[:, None]))

    def project(self, x: FloatArray) -> FloatArray:
        """Coordinates of what is nearest to x, (n, 3), in the metric: (c, 3)."""
        if x.shape != (len(self.mass), 3):
            raise TrainingError(
                f"positions of shape {x.shape} are none of {len(self.mass)} vertices: give one row a vertex."
            )
        return self._factor.solve(self.pull(self.mass[:, None] * x))

    @cached_property
    def constant(self) -> FloatArray:
        """Coordinates of the function that is 1 everywhere, (c,): how the space moves without changing shape."""
        ones = np.ones((len(self.mass), 3))
        return np.ascontiguousarray(self.project(ones)[:, 0])

    @cached_property
    def _factor(self) -> BlockCholesky:
        return BlockCholesky(self.gram + sp.diags_array(self.idle.astype(np.float64)))


def _dependent_columns(gram: FloatArray) -> NDArray[np.bool_]:
    """Which columns the others span, by Cholesky with pivots of the Gram matrix scaled to a unit diagonal."""
    scale = np.sqrt(np.diag(gram))
    idle = scale <= 1e-9 * scale.max(initial=0.0)
    used = np.flatnonzero(~idle)
    scaled = gram[np.ix_(used, used)] / np.outer(scale[used], scale[used])
    _, order, rank, _ = dpstrf(scaled, lower=1, tol=_DEPENDENT)
    idle[used[order[rank:] - 1]] = True
    return np.asarray(idle)
