"""Steps of a body with a rig: what is half way between two poses."""

from dataclasses import dataclass, replace

import numpy as np

from supple.rig import Held
from supple.solve.inputs import Inputs, Moment

__all__ = ["RiggedInputs"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RiggedInputs(Inputs):
    """A step whose halves meet where the rig is half way: pins that follow it at both ends follow it there, too.

    Half way between their targets they would be on the chord of the arc along which bones move.
    """

    held: Held
    """The body's pins."""
    resolution: float
    """Pins within this of the rig follow it [m]."""

    def halves(self) -> tuple["RiggedInputs", "RiggedInputs"]:
        """The same step as two of half the length; events belong to the first."""
        middle = self._follow(self.begin.blend(self.end, 0.5))
        return replace(self, end=middle), replace(self, begin=middle, events=())

    def _follow(self, middle: Moment) -> Moment:
        """The moment half way, with the pins that follow the rig at its places."""
        if self.begin.pose is None or self.end.pose is None or middle.pose is None:
            return middle
        follows = np.ones((len(middle.targets), 1), np.bool_)
        for pose, targets in ((self.begin.pose, self.begin.targets), (self.end.pose, self.end.targets)):
            near = np.abs(self.held.targets(pose) - targets) <= self.resolution
            follows &= (near | ~self.held.pins.held).all(axis=1, keepdims=True)
        return replace(middle, targets=np.where(follows, self.held.targets(middle.pose), middle.targets))
