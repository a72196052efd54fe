"""A rig in motion: where its vertices are, how fast they go and how they accelerate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.arguments import check_type
from supple.errors import SceneError
from supple.rig.motion import Motion
from supple.rig.rig import Rig

__all__ = ["Moved"]

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None

#: Step of the differences, as a share of the time in which a rotation changes: round-off and remainder are alike there.
STEP = 2e-3


@dataclass(frozen=True, eq=False)
class Moved:
    """Vertices of any rig under a motion.

    Derivatives are central differences of fourth order along a smooth model of the motion, which has its exact
    velocity and acceleration; they need four or five evaluations of the rig.
    """

    rig: Rig
    motion: Motion
    step: float | None = None
    """Step of the differences [s]; None takes it from how fast the pose changes."""

    def __post_init__(self) -> None:
        check_type(self.motion, "Moved(motion)", Motion, "a Motion")
        if tuple(self.rig.controls) != self.motion.controls:
            raise SceneError(
                f"the motion has {len(self.motion.controls)} controls that are not the rig's "
                f"{len(self.rig.controls)}: retarget it, or make it for this rig."
            )

    def positions(self, time: float, vertices: Vertices = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are at a time [m], (k, 3)."""
        return self.rig.positions(self.motion.at(time), vertices)

    def velocities(self, time: float, vertices: Vertices = None) -> FloatArray:
        """Their velocities [m/s], (k, 3)."""
        h, (back2, back, on, on2) = self._around(time, vertices, (-2, -1, 1, 2))
        return np.asarray((8.0 * (on - back) - (on2 - back2)) / (12.0 * h))

    def accelerations(self, time: float, vertices: Vertices = None) -> FloatArray:
        """Their accelerations [m/s^2], (k, 3)."""
        h, (back2, back, here, on, on2) = self._around(time, vertices, (-2, -1, 0, 1, 2))
        return np.asarray((16.0 * ((on - here) + (back - here)) - ((on2 - here) + (back2 - here))) / (12.0 * h * h))

    def _around(self, time: float, vertices: Vertices, steps: tuple[int, ...]) -> tuple[float, list[FloatArray]]:
        """The step [s] and the positions that many steps from a time."""
        near, h = self.motion.about(time), self.step or self._pick_step(time)
        return h, [self.rig.positions(near(k * h), vertices) for k in steps]

    def _pick_step(self, time: float) -> float:
        """A step [s] that suits how fast the pose changes."""
        _, rate, bend = self.motion.jet([time])
        pace = max(float(np.abs(rate).max(initial=0.0)), float(np.sqrt(np.abs(bend).max(initial=0.0))))
        return STEP / pace if pace > STEP else 1.0
