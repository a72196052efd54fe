"""The state of a character in a subspace that changes with its pose: two moments, because two make a velocity."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.method.state import pack_live, unpack_live
from supple.solve.live import Live

__all__ = ["PoseSpaceState"]

FloatArray = NDArray[np.float64]
_UNTOUCHED = Live()
_NUMBERS = ("time", "step", "elastic")
_ARRAYS = ("poses", "y", "w", "turns", "particles")


class PoseSpaceState(NamedTuple):
    """x = Φ(p) + R₀ U(p) y now and a step ago; nothing grows with the mesh."""

    time: float
    """[s]"""
    poses: FloatArray
    """(2, p), the present one first, as below."""
    y: FloatArray
    """Coordinates, (2, r)."""
    w: FloatArray
    """Weights of the examples, (2, m)."""
    turns: FloatArray
    """Of the root, (2, 3, 3)."""
    particles: FloatArray
    """Where the rig has the particles of its inertia [m], and their velocities [m/s], (2, i, 3). Turns of the flesh
    there, now and a step ago, stand beside them, row by row, (2, i, 12), where a step looks at them."""
    step: float
    """What lies between the two [s]."""
    elastic: float = 0.0
    """Size of the elastic force at these coordinates, per unit of live stiffness."""
    live: Live = _UNTOUCHED

    def preceded(self, past: "PoseSpaceState", step: float) -> "PoseSpaceState":
        """This state with another one, of a step [s] before, as its past: what they make a velocity of."""
        poses, y, w, turns = (np.array((now[0], before[0])) for now, before in zip(self[1:5], past[1:5], strict=True))
        moved = np.array((self.particles[0], past.particles[0]))
        moved[1, :, :3] = (self.particles[0, :, :3] - past.particles[0, :, :3]) / step
        return self._replace(poses=poses, y=y, w=w, turns=turns, particles=moved, step=step)

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        numbers = {name: np.array(getattr(self, name)) for name in _NUMBERS}
        return {**numbers, **{name: getattr(self, name) for name in _ARRAYS}, **pack_live(self.live)}

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "PoseSpaceState":
        """The state that was packed."""
        poses, y, w, turns, particles = (np.array(arrays[name], np.float64) for name in _ARRAYS)
        time, step, elastic = (float(arrays[name]) for name in _NUMBERS)
        return cls(time, poses, y, w, turns, particles, step, elastic, unpack_live(arrays))
