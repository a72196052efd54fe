"""Vertices that a simulation holds where a rig puts them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.rig.bone_crossing import BoneCrossings
from supple.rig.rig import Rig

__all__ = ["Held", "hold_bones"]


@dataclass(frozen=True, eq=False)
class Held:
    """Pins that follow a rig."""

    rig: Rig
    pins: Pins

    def targets(self, pose: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where they are in a pose [m], (k, 3), in the order of the pins."""
        return self.rig.positions(pose, self.pins.vertices)


def hold_bones(rig: Rig, crossings: BoneCrossings) -> Held:
    """The vertices of all tets that bones cross, held along all axes."""
    return Held(rig, Pins.of(crossings.vertices()))
