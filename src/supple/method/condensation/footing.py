"""The vertices of a region on their subspace: full ones stand where they are, those around where a stance has them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.method.condensation.region import Region
from supple.method.condensation.rows import Rows
from supple.method.condensation.subspace import Piece, Stance

__all__ = ["Footing"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Footing:
    """A region and the stance of one moment, over unknowns z = (x_f, q)."""

    region: Region
    stance: Stance

    @property
    def size(self) -> int:
        """Number of full unknowns, 3 f."""
        return self.region.size

    @cached_property
    def origin(self) -> FloatArray:
        """[m], (l, 3)"""
        return self.stance.origin(self.region.vertices)

    @cached_property
    def rows(self) -> Rows:
        """What the coordinates do to its vertices."""
        region = self.region
        return Rows(self.stance.parts(region.vertices), region.count, len(region.full), region.ground.rank)

    @cached_property
    def U(self) -> FloatArray:
        """The same, zeros and all, (3 l, r)."""
        return self.rows.to_dense()

    @cached_property
    def under(self) -> tuple[FloatArray, list[Piece]]:
        """Origin [m], (c, 3), and rows of the vertices where the subspace has the exact tets: in domains of their
        copies there."""
        copies, domains = self.region.copies, self.region.ground.domains
        if copies is None or domains is None:
            return self.origin, [Piece(slice(0, len(self.origin)), slice(0, self.U.shape[1]), self.U)]
        return self.stance.origin(domains.vertex_of[copies]), self.stance.pieces(copies)

    @cached_property
    def U_full(self) -> FloatArray:
        return self.U[: self.size]

    @cached_property
    def stirred(self) -> NDArray[np.intp]:
        """Coordinates that move exact tets, ascending."""
        ranges = [np.arange(piece.coordinates.start, piece.coordinates.stop) for piece in self.under[1]]
        return np.concatenate([np.zeros(0, np.intp), *ranges])

    @cached_property
    def taken(self) -> FloatArray:
        """Mass of the full vertices, as the coordinates see it: U_fᵀ M U_f, (r, r)."""
        return self.rows.weigh_full(self.region.mass)

    @cached_property
    def most_taken(self) -> float:
        """The largest share that full vertices have of the mass that a motion moves."""
        bound = float(np.linalg.norm(self.taken))  # less work, and often little enough
        own = np.flatnonzero(np.diagonal(self.taken))
        return bound if bound < 0.5 else float(np.linalg.eigvalsh(self.taken[np.ix_(own, own)])[-1])

    def place(self, z: FloatArray) -> FloatArray:
        """Positions of all its vertices [m], (l, 3), from z = (x_f, q)."""
        y = np.empty((len(self.region.vertices), 3))
        count = len(self.region.full)
        y[:count] = z[: self.size].reshape(-1, 3)
        y[count:] = self.origin[count:] + self.rows.move(z[self.size :])
        return y

    def follow(self, q: FloatArray) -> FloatArray:
        """Positions in the subspace of the vertices of its exact tets [m], (c, 3)."""
        origin, pieces = self.under
        x = origin.copy()
        for piece in pieces:
            x[piece.vertices] += (piece.U @ q[piece.coordinates]).reshape(-1, 3)
        return x

    def gather_under(self, field: FloatArray) -> FloatArray:
        """What forces on those vertices [N], (c, 3), do to the coordinates, (r,)."""
        out = np.zeros(self.rows.rank)
        for piece in self.under[1]:
            out[piece.coordinates] += field[piece.vertices].ravel() @ piece.U
        return out

    def gather(self, field: FloatArray) -> FloatArray:
        """What forces on its vertices [N], (l, 3), do to z: (f, U_sᵀ f), (3 f + r,)."""
        count = len(self.region.full)
        return np.concatenate([field[:count].ravel(), self.rows.gather(field[count:])])
