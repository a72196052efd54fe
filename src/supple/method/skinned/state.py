"""The state of a skinned body in a subspace."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.method.state import pack_live, unpack_live
from supple.solve.live import Live

__all__ = ["SkinnedState"]

FloatArray = NDArray[np.float64]
_ARRAYS = ("shapes", "pose", "particles", "former_poses", "former_shapes", "spans")


class SkinnedState(NamedTuple):
    """Few numbers: none of them grows with the mesh, but for what touches."""

    time: float
    """[s]"""
    shapes: FloatArray
    """Coordinates, velocities and accelerations, (3, r)."""
    pose: FloatArray
    """(p,)"""
    particles: FloatArray
    """Positions [m] and velocities [m/s] of the vertices of the rule for the frame, (2, k, 3)."""
    former_poses: FloatArray
    """The poses one and two steps ago, (2, p): velocities of all other vertices follow from them."""
    former_shapes: FloatArray
    """Their coordinates, (2, r)."""
    spans: FloatArray
    """How long these steps took [s], (2,); zero where there was none."""
    live: Live
    pairs: NDArray[np.int32] = NO_PAIRS
    """Vertices and the triangles of the body's own surface that they touch, (k, 2)."""

    @property
    def drift(self) -> FloatArray:
        """Velocities of the coordinates over the last step, as those of the particles are, (r,)."""
        if not self.spans[0] > 0.0:
            return np.asarray(self.shapes[1])
        return np.asarray((self.shapes[0] - self.former_shapes[0]) / self.spans[0])

    def follow(
        self, time: float, shapes: FloatArray, pose: FloatArray, particles: FloatArray, span: float
    ) -> "SkinnedState":
        """The state after a step of `span` [s]; 0 forgets what was before."""
        return SkinnedState(
            time, shapes, pose, particles,
            np.array([self.pose, self.former_poses[0]]),
            np.array([self.shapes[0], self.former_shapes[0]]),
            np.array([span, self.spans[0] if span > 0.0 else 0.0]),
            self.live,
        )  # fmt: skip

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        own = {name: getattr(self, name) for name in _ARRAYS}
        return {"time": np.array(self.time), "pairs": self.pairs, **own, **pack_live(self.live)}

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "SkinnedState":
        """The state that was packed."""
        own = {name: np.asarray(arrays[name], np.float64) for name in _ARRAYS}
        pairs = np.asarray(arrays["pairs"], np.int32)
        return cls(time=float(arrays["time"]), live=unpack_live(arrays), pairs=pairs, **own)
