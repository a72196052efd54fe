"""Deformation gradients of elements as linear maps of displacements, in the order of the mesh."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body

__all__ = ["ElementMap"]

FloatArray = NDArray[np.float64]
Real = TypeVar("Real", np.float32, np.float64)


class ElementMap:
    """B_e of every element: F_e = I + B_e u_e."""

    def __init__(self, body: Body) -> None:
        count = len(body.mesh.tets)
        self.tets = np.empty((count, 4), np.int32)
        self.inverse = np.empty((count, 3, 3))
        """Inverse rest edges [1/m]."""
        self.volume = np.empty(count)
        """Rest volumes [m³]."""
        self.part = np.empty(count, np.int64)
        """Which of the body's parts an element belongs to."""
        for number, part in enumerate(body.parts):
            self.tets[part.ids] = part.tets.T
            self.inverse[part.ids] = part.inverse.T.reshape(-1, 3, 3)
            self.volume[part.ids] = part.volume
            self.part[part.ids] = number

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.tets)

    def gradients(self, fields: NDArray[Real], who: slice | NDArray[np.integer]) -> NDArray[Real]:
        """G_e = B_e U_e of the elements `who` for displacement fields U (3 n, r), (k, 9, r); rows F_00, F_01 ..."""
        rank = fields.shape[1]
        corners = fields.reshape(-1, 3, rank)[self.tets[who]]
        count = len(corners)
        edges = (corners[:, 1:] - corners[:, :1]).reshape(count, 3, 3 * rank)  # edge k, then coordinate and field
        spread = self.inverse[who].transpose(0, 2, 1).astype(fields.dtype) @ edges  # index j, coordinate i, field
        return np.reshape(spread.reshape(count, 3, 3, rank).transpose(0, 2, 1, 3), (count, 9, rank))
