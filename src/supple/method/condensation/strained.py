"""How long a matrix serves: elements that have hardly strained since it was made need not be asked again."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Elements, strain_between

__all__ = ["ALIKE", "Strained"]

FloatArray = NDArray[np.float64]
ALIKE = 0.005  #: strain within which a matrix is as good as a new one: Newton's method takes no iteration more


class Strained(NamedTuple):
    """What a matrix has been made for."""

    y: FloatArray
    """Positions [m], (l, 3)."""
    strain: FloatArray
    """Of the rule's elements, (9 c,)."""

    def serves(self, other: "Strained", parts: tuple[Elements, ...]) -> bool:
        """Whether neither exact tets nor the rule's have strained much since."""
        outside = float(np.abs(self.strain - other.strain).max(initial=0.0))
        return outside <= ALIKE and strain_between(parts, self.y, other.y) <= ALIKE
