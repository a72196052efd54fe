"""A cubature rule: a few elements and their weights, which stand for all of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rule"]


@dataclass(frozen=True, eq=False)
class Rule:
    """Candidates chosen by a trainer; the reduced force is the sum of weight times the candidate's column."""

    members: NDArray[np.int64]
    """Numbers of the chosen candidates (elements of the mesh, vertices, contact pairs), ascending, (c,)."""
    weights: NDArray[np.float64]
    """Non-negative, (c,); for elements it multiplies the element's volume."""
    training_error: float
    """Relative error on the training samples, recomputed with the final weights."""
    heldout_error: float | None = None
    """The same on samples the trainer did not see."""
    frequency_error: float | None = None
    """Largest relative error of the first rest frequencies."""
    trainer: str = ""

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.members)
