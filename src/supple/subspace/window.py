"""The displacements of a run's latest full steps, and the subspace that holds them best.

A proper orthogonal decomposition by the Gram matrix, one row of which is added with each step ([KJ09] grows a basis by
Gram–Schmidt instead; what that discards keeps a bent body from stretching).
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.linalg.ties import settled_turn
from supple.subspace.basis import Basis

__all__ = ["Window"]

FloatArray = NDArray[np.float64]
_MOST = 300  # fields; every second old one goes when there are more
_BYTES = 200e6  # that fields may take
_FEWEST = 40
_RECENT = 20  # fields that thinning leaves alone
_NOISE = 1e-7  # singular values below this share of the first: the Gram matrix knows squares to 1e-16


@dataclass(frozen=True, eq=False)
class Window:
    """Displacements, oldest first, with their inner products in the mass metric."""

    mass: FloatArray
    """Of the vertices [kg], (n,)."""
    fields: tuple[FloatArray, ...] = ()
    """Displacements [m], (n, 3) each, zero where pins hold."""
    gram: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    poses: tuple[FloatArray, ...] = ()
    """Of the bones, (p,) each."""

    def __len__(self) -> int:
        return len(self.fields)

    def appended(self, u: FloatArray, pose: FloatArray | None = None) -> "Window":
        """The window with a newer displacement [m], (n, 3), in a pose (p,) of bones."""
        weighted = (self.mass[:, None] * u).ravel()
        fields = (*self.fields, u)
        count = len(fields)
        gram = np.empty((count, count))
        gram[:-1, :-1] = self.gram
        gram[-1] = gram[:, -1] = [float(old.ravel() @ weighted) for old in fields]
        grown = replace(self, fields=fields, gram=gram, poses=(*self.poses, np.zeros(0) if pose is None else pose))
        most = int(np.clip(_BYTES / u.nbytes, _FEWEST, _MOST))
        return grown._thinned() if count > most else grown

    def _thinned(self) -> "Window":
        """Without every second of the older fields."""
        old = len(self) - _RECENT
        kept = [k for k in range(len(self)) if k >= old or k % 2 == 0]
        fields, poses = (tuple(rows[k] for k in kept) for rows in (self.fields, self.poses))
        return replace(self, fields=fields, gram=self.gram[np.ix_(kept, kept)], poses=poses)

    def spread(self, count: int) -> NDArray[np.intp]:
        """Numbers of at most `count` displacements, evenly over the window with the newest among them."""
        return np.unique(np.linspace(0, len(self) - 1, count).round().astype(np.intp))

    def principal(self, rank: int) -> Basis:
        """At most `rank` mass-orthonormal columns that hold most of the displacements."""
        squares, directions = np.linalg.eigh(self.gram)
        squares, directions = squares[::-1], directions[:, ::-1] @ settled_turn(squares[::-1], directions[:, ::-1])
        kept = min(rank, int(np.count_nonzero(squares > _NOISE**2 * max(squares[0], 0.0))))
        singular = np.sqrt(squares[:kept])
        columns = np.stack([u.ravel() for u in self.fields], axis=1) @ (directions[:, :kept] / singular)
        metric = np.repeat(self.mass, 3)[:, None]
        # Orthonormal but for the noise of the Gram matrix, so that Cholesky's factor of their products makes them so
        columns = columns @ np.linalg.inv(np.linalg.cholesky(columns.T @ (metric * columns))).T
        return Basis(columns, self.mass, f"principal components of {len(self)} full steps", singular)
