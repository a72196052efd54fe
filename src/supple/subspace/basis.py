"""A subspace of displacements: its columns, the metric in which they are orthonormal, and where they came from."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from supple.errors import TrainingError
from supple.linalg.orthonormal import orthonormalise

__all__ = ["Basis"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Basis:
    """Displacements u = U q; rows run over the coordinates of all vertices, x y z fastest."""

    columns: FloatArray
    """U, (3 n, r)."""
    mass: FloatArray
    """Vertex masses [kg], (n,): the metric."""
    source: str
    """What made it, in a user's words."""
    importance: FloatArray
    """One number a column by which its maker ranked it: an eigenvalue [1/s²] or a singular value; (r,)."""

    @property
    def rank(self) -> int:
        """Number of columns."""
        return int(self.columns.shape[1])

    @property
    def metric(self) -> FloatArray:
        """The diagonal of the mass matrix [kg], (3 n,)."""
        return np.repeat(self.mass, 3)

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The columns in single precision: products with them take half the time where that is enough."""
        return self.columns.astype(np.float32)

    def check_vertices(self, count: int) -> None:
        """Refuse to serve a body with another number of vertices."""
        own = len(self.columns) // 3
        if own != count:
            raise TrainingError(
                f"the basis ({self.source}) has {own} vertices where the body has {count}: make one from this mesh."
            )

    def lift(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Displacements of all or of chosen vertices [m], (k, 3)."""
        rows = self.columns if vertices is None else self.rows(vertices).reshape(-1, self.rank)
        return np.asarray(rows @ q).reshape(-1, 3)

    def rows(self, vertices: NDArray[np.integer]) -> FloatArray:
        """The columns at chosen vertices, (k, 3, r)."""
        return np.asarray(self.columns.reshape(len(self.mass), 3, self.rank)[vertices])

    def even(self) -> FloatArray:
        """Sum of the columns over vertices by their masses [kg], (3, r): what a uniform acceleration does to q."""
        return np.tensordot(self.mass, self.columns.reshape(len(self.mass), 3, self.rank), 1)

    def project(self, u: FloatArray) -> FloatArray:
        """Coordinates of the displacement nearest to u [m], (n, 3), in the metric."""
        return np.asarray(self.columns.T @ (self.metric * u.ravel()))

    def project_all(self, displacements: FloatArray) -> FloatArray:
        """Coordinates of many displacements (k, n, 3) [m], (r, k)."""
        flat = displacements.reshape(len(displacements), -1)
        return np.asarray((self.metric[:, None] * self.columns).T @ flat.T)

    def truncated(self, rank: int) -> "Basis":
        """The first columns."""
        return replace(self, columns=self.columns[:, :rank], importance=self.importance[:rank])

    def rotated(self, turn: FloatArray, importance: FloatArray | None = None) -> "Basis":
        """The basis U R; an orthogonal R keeps the span and the metric."""
        kept = self.importance if importance is None else importance
        return replace(self, columns=self.columns @ turn, importance=kept)

    def joined(self, other: "Basis") -> "Basis":
        """This basis and what the other adds to it."""
        columns = orthonormalise(np.column_stack([self.columns, other.columns]), self.metric)
        importance = np.concatenate([self.importance, other.importance])[: columns.shape[1]]
        return replace(self, columns=columns, source=f"{self.source} + {other.source}", importance=importance)

    def to_sparse(self, threshold: float = 0.0) -> csc_array:
        """The columns with entries up to the threshold left out: what localised ones should be stored as."""
        return csc_array(np.where(np.abs(self.columns) > threshold, self.columns, 0.0))
