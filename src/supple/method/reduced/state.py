"""The state of a body in a subspace, with or without a frame that moves."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.method.state import pack_live, unpack_live
from supple.solve.live import Live

__all__ = ["ReducedState"]

FloatArray = NDArray[np.float64]
_NO_TURNS, _NO_OFFSETS, _UNTOUCHED = np.zeros((0, 3, 3, 3)), np.zeros((0, 3)), Live()


class ReducedState(NamedTuple):
    """Few numbers: none of them but the pairs that touch grows with the mesh."""

    time: float
    """[s]"""
    shapes: FloatArray
    """Still frame: coordinates, velocities and accelerations, (3, r). Else the shapes s_k = (1, q, p) of which
    positions, velocities and accelerations are made, the present one first, (3, m)."""
    turns: FloatArray = _NO_TURNS
    """Q of positions, velocities and accelerations for each shape, (3, 3, 3, 3); (0, 3, 3, 3) where the frame is
    still."""
    offsets: FloatArray = _NO_OFFSETS
    """Their constant parts [m], [m/s], [m/s²], (3, 3)."""
    elastic: float = 0.0
    """Size of the elastic force at these coordinates, per unit of live stiffness."""
    live: Live = _UNTOUCHED
    pairs: NDArray[np.int32] = NO_PAIRS
    """Vertices and triangles of the body that touch, (k, 2)."""

    @property
    def is_framed(self) -> bool:
        """Whether the frame moves."""
        return len(self.turns) > 0

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        own = {"shapes": self.shapes, "turns": self.turns, "offsets": self.offsets, "elastic": np.array(self.elastic)}
        return {"time": np.array(self.time), "pairs": self.pairs, **own, **pack_live(self.live)}

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "ReducedState":
        """The state that was packed."""
        shapes, turns, offsets = (np.asarray(arrays[key], np.float64) for key in ("shapes", "turns", "offsets"))
        elastic, pairs = float(arrays["elastic"]), np.asarray(arrays["pairs"], np.int32)
        return cls(float(arrays["time"]), shapes, turns, offsets, elastic, unpack_live(arrays), pairs)
