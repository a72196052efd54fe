"""The state of a body in the hyper-reduced solver."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.pressing import Pressing
from supple.method.state import pack_live, unpack_live
from supple.solve.live import Live

__all__ = ["HyperReducedState"]

FloatArray = NDArray[np.float64]
_UNKNOWN = np.zeros((4, 0), np.float32)


class HyperReducedState(NamedTuple):
    """Few numbers: none of them grows with the mesh."""

    time: float
    """[s]"""
    q: FloatArray
    """Coordinates of positions, (c, 3)."""
    v: FloatArray
    """Of velocities [1/s]."""
    a: FloatArray
    """Of accelerations [1/s²]."""
    turns: NDArray[np.floating[Any]] = _UNKNOWN
    """Quaternions of sampled constraints, from which the next step goes on, (4, s); none after a leap."""
    live: Live = Live()
    pressing: Pressing = Pressing.none()

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        own = {"q": self.q, "v": self.v, "a": self.a, "turns": self.turns}
        return {"time": np.array(self.time), **own, **pack_live(self.live), **self.pressing.pack()}

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "HyperReducedState":
        """The state that was packed."""
        q, v, a = (np.asarray(arrays[key], np.float64) for key in ("q", "v", "a"))
        kept = np.asarray(arrays["turns"]), unpack_live(arrays), Pressing.unpack(arrays)
        return cls(float(arrays["time"]), q, v, a, *kept)
