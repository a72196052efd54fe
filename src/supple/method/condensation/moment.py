"""A moment of a subspace, as looks for contacts of a body with itself see it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.contact.places import Moment
from supple.method.condensation.anchors import Anchor
from supple.method.condensation.subspace import Stance

__all__ = ["StanceMoment"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StanceMoment:
    """Coordinates in a stance; what is full is apart from it."""

    stance: Stance
    q: FloatArray
    anchor: Anchor

    @classmethod
    def of(cls, stance: Stance, q: FloatArray, everybody: NDArray[np.int32]) -> "StanceMoment | None":
        """That of all vertices, ascending; None where a frame moves, for then nothing stays where it is."""
        anchor = stance.hold(q, everybody)
        return None if anchor is None else cls(stance, q, anchor)

    @property
    def lengths(self) -> FloatArray:
        return self.anchor.lengths

    def since(self, then: Moment) -> FloatArray:
        assert isinstance(then, StanceMoment)
        return then.anchor.measure(self.stance, self.q)
