"""Positions of a body's vertices that are made where somebody asks for them.

What a subspace does costs something for every vertex that it is asked for. Who looks for contacts asks for those that
may touch; whoever does not know of this sees an array of all.
"""

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Moment", "Places", "as_places", "read"]

FloatArray = NDArray[np.float64]
_MANY = 0.05  # share of all vertices


class Moment(Protocol):
    """What bounds how far each vertex has moved since another moment: |x_i - x_i'| <= L_i · m."""

    @property
    def lengths(self) -> FloatArray:
        """L of all vertices, (n, c), the same in all moments."""

    def since(self, then: "Moment") -> FloatArray:
        """m, (c,); infinite where it cannot be told."""


class Places:
    """Positions [m], (n, 3), of which some are known."""

    def __init__(
        self,
        count: int,
        place: Callable[[NDArray[np.integer]], FloatArray],
        moment: Moment | None = None,
        apart: NDArray[np.int32] | None = None,
    ) -> None:
        """`place` gives positions of chosen ones, ascending; `moment` bounds all of them but those `apart`."""
        self._x, self._known, self._place = np.full((count, 3), np.nan), np.zeros(count, np.bool_), place
        self.moment, self.apart = moment, np.zeros(0, np.int32) if apart is None else apart

    def as_array(self) -> FloatArray:
        """What others may take for an array."""
        return cast(FloatArray, self)

    def read(self, vertices: NDArray[np.integer]) -> FloatArray:
        """An array of all, (n, 3), that is true at some vertices."""
        flat = vertices.ravel()
        new = flat[~self._known[flat]]
        if len(new):
            if len(new) > _MANY * len(self._x):  # then marks sort faster than a sort does
                mark = np.zeros(len(self._x), np.bool_)
                mark[new] = True
                new = np.flatnonzero(mark)
            else:
                new = np.unique(new)
            self._x[new] = self._place(new)
            self._known[new] = True
        return self._x

    @property
    def count_known(self) -> int:
        """How many have been asked for."""
        return int(np.count_nonzero(self._known))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._x.shape

    def copy(self) -> FloatArray:
        return np.array(self)

    def __len__(self) -> int:
        return len(self._x)

    def __getitem__(self, vertices: NDArray[np.integer]) -> FloatArray:
        return np.asarray(self.read(np.asarray(vertices))[vertices])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> FloatArray:
        return self.read(np.arange(len(self._x)))


def as_places(x: object) -> Places | None:
    """What somebody takes for an array, where it is made as it is asked for."""
    return x if isinstance(x, Places) else None


def read(x: FloatArray, vertices: NDArray[np.integer]) -> FloatArray:
    """An array of all positions [m], (n, 3), of which those of some vertices are going to be read."""
    places = as_places(x)
    return x if places is None else places.read(vertices)
