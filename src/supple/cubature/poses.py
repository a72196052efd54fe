"""Poses of a subspace whose stresses are evaluated for the elements that are asked for, and not kept."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.problem import IntArray
from supple.elastic import Body
from supple.subspace import Basis

__all__ = ["Poses"]

FloatArray = NDArray[np.float64]


class Poses:
    """T poses U q: what memory they take does not grow with the mesh."""

    def __init__(self, body: Body, basis: Basis, coordinates: FloatArray) -> None:
        """`coordinates` (r, T)."""
        self._map, self._columns, self._coordinates = ElementMap(body), basis.columns, coordinates

    @property
    def count(self) -> int:
        """Number of poses T."""
        return int(self._coordinates.shape[1])

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """Stresses times volumes [J] of the elements `who` in the poses `samples`, (k, 9, t)."""
        G = self._map.gradients(self._columns, who)
        q = self._coordinates[:, samples]
        change = (q.T @ G.reshape(-1, len(q)).T).reshape(q.shape[1], len(G), 9)
        return self._map.stresses(change.transpose(1, 2, 0), who)
