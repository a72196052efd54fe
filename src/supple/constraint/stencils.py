"""The linear part of constraints: what of the positions around an element its constraint looks at."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Stencils"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stencils:
    """S_i of Eq. (4) of [BEH18] for e elements of one type: p rows over the a vertices around each.

    The same numbers act on x, y and z, so the value of an element is a p x 3 matrix: the transposed deformation
    gradient of a tetrahedron, an edge of a spring, the position of a vertex.
    """

    vertices: NDArray[np.int32]
    """(e, a); elements with fewer vertices repeat one with operator 0."""
    operator: FloatArray
    """(e, p, a)"""
    measure: FloatArray
    """Length, area or volume of every element in SI units, (e,)."""

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def rows(self) -> int:
        """p, the rows of one element's value."""
        return int(self.operator.shape[1])

    def values(self, x: FloatArray, members: NDArray[np.integer] | None = None) -> FloatArray:
        """S x of all or of chosen elements at positions x [m], (n, 3): (m, p, 3)."""
        chosen = slice(None) if members is None else members
        return np.asarray(np.einsum("epa,eai->epi", self.operator[chosen], x[self.vertices[chosen]], optimize=True))

    def matrix(self, count: int) -> sp.csr_array:
        """S stacked over elements for a mesh of `count` vertices, (e p, count)."""
        elements, rows, width = self.operator.shape
        columns = np.repeat(self.vertices[:, None, :], rows, axis=1)
        starts = np.arange(elements * rows + 1) * width
        stacked = sp.csr_array(
            (self.operator.ravel(), columns.ravel(), starts), shape=(elements * rows, count), dtype=np.float64
        )
        stacked.sum_duplicates()
        stacked.eliminate_zeros()
        return stacked

    def stiffness(self, weight: FloatArray, count: int) -> sp.csr_array:
        """The sum of weight SᵀS over elements, (count, count): what constraints add to the global step."""
        S = self.matrix(count)
        return sp.csr_array(S.T @ (S * np.repeat(weight, self.rows)[:, None]))

    def gather(self, weight: FloatArray, values: FloatArray, count: int) -> FloatArray:
        """The sum of weight Sᵀ p over elements with values p, (e, p, 3): (count, 3)."""
        return np.asarray(self.matrix(count).T @ (weight[:, None, None] * values).reshape(-1, 3))
