"""How far a body may be bent before its subspace has seen nothing like it."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleWarning

__all__ = ["BEYOND", "Reach"]

FloatArray = NDArray[np.float64]
BEYOND = 1.5  #: times the trained size of coordinates at which a user is told


class Reach:
    """Tells, once, when coordinates leave what was trained."""

    def __init__(self, importance: FloatArray, reach: float, remedy: str) -> None:
        """For coordinates of `importance` λ, (r,), whose trained size is sqrt(sum λ_i q_i²) <= reach; 0 is unknown."""
        self.weights = importance / (reach if reach > 0.0 else np.inf) ** 2
        """The size of q beside the trained one, squared, is the sum of these times q², (r,)."""
        self._remedy, self._told = remedy, False

    @property
    def is_left(self) -> bool:
        """Whether a user was told."""
        return self._told

    def look(self, q: FloatArray, time: float) -> None:
        """Look at coordinates q, (r,), at `time` [s]."""
        self.tell(float(self.weights @ (q * q)), time)

    def tell(self, bent: float, time: float) -> None:
        """Warn if a size beside the trained one, squared, is too large at `time` [s]."""
        if self._told or bent <= BEYOND**2:
            return
        self._told = True
        warnings.warn(
            f"at {time:.4g} s the body is deformed {np.sqrt(bent):.2g} times as much as in any training sample, so "
            f"its error is not known: {self._remedy}, or use the full solver.",
            SuppleWarning,
            stacklevel=5,
        )
