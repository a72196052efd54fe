"""How far an equilibrium went in the last step: the next one is looked for as far on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.method.condensation.subspace import Stance

__all__ = ["Stride"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Stride:
    """What a step changed, beside what carries the body."""

    duration: float
    """[s]"""
    q: FloatArray
    """Of the coordinates, (r,)."""
    full: IntArray
    """Vertices that were full at its end, ascending, (f,)."""
    x: FloatArray
    """Of their positions [m], (f, 3)."""

    def go_on(self, stance: Stance, full: IntArray, z: FloatArray, duration: float) -> FloatArray:
        """z = (x_f, q) of a region as it would be if a step from there that takes so long [s] went on as this one."""
        share, size = duration / self.duration, 3 * len(full)
        q = z[size:] + share * self.q
        gone = stance.place(q, full) - stance.place(z[size:], full)  # of those that were not full
        if len(self.full):
            where = np.minimum(np.searchsorted(self.full, full), len(self.full) - 1)
            own = self.full[where] == full
            gone[own] = share * self.x[where[own]]
        return np.concatenate([z[:size] + gone.ravel(), q])

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """As plain arrays."""
        return {
            "stride_duration": np.array(self.duration), "stride_q": self.q, "stride_full": self.full,
            "stride_x": self.x,
        }  # fmt: skip

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "Stride | None":
        """What was packed, if anything was."""
        if "stride_q" not in arrays:
            return None
        return cls(
            float(np.asarray(arrays["stride_duration"], np.float64)), np.asarray(arrays["stride_q"], np.float64),
            np.asarray(arrays["stride_full"], np.int32), np.asarray(arrays["stride_x"], np.float64),
        )  # fmt: skip
