"""How well a basis between poses vibrates: its frequencies beside those of the body itself.

An interpolated basis may miss next to nothing of the true modes and still be useless: what it adds to them is a little
stretch, which is a thousand times as stiff as the bending one sees. Its frequencies tell, angles do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from supple.elastic import Body
from supple.subspace.alignment import ALIGNMENTS, Alignment
from supple.subspace.modes import softest_modes
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["COUNT", "PoseFrequencies", "PoseVibration"]

FloatArray = NDArray[np.float64]

COUNT = 5  #: frequencies that are compared: the first alone is that of one limb, and tells nothing of the others
_SAME = 0.005, 0.1  # errors are alike that differ by less than this, or than this share of the least


class PoseVibration:
    """A body at rest in a pose, with its first exact frequencies."""

    def __init__(
        self,
        body: Body,
        shape: FloatArray,
        name: str = "the pose",
        count: int = COUNT,
        pose: FloatArray | None = None,
    ) -> None:
        """`shape`: where all vertices are at rest [m], (n, 3), in a pose that messages call by its name."""
        self._stiffness = RestStiffness(body.posed(shape, name, pose), shape)
        values, _ = softest_modes(self._stiffness, count)
        self.exact: FloatArray = np.sqrt(values) / (2.0 * np.pi)
        """[Hz], (c,)"""

    def reduced(self, columns: FloatArray) -> FloatArray:
        """The first frequencies of the body in a basis (3 n, r) [Hz], (c,)."""
        U = self._stiffness.gather(columns)
        K, M = U.T @ (self._stiffness.matrix @ U), U.T @ (self._stiffness.mass[:, None] * U)
        values = eigh(K, M, eigvals_only=True)[: len(self.exact)]
        return np.asarray(np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class PoseFrequencies:
    """Frequencies of interpolated bases at poses between those they come from."""

    poses: FloatArray
    """(k, p)"""
    exact: FloatArray
    """Of the body [Hz], (k, c)."""
    reduced: Mapping[Alignment, FloatArray]
    """Of the bases [Hz], (k, c), by alignment."""

    def errors(self, alignment: Alignment) -> FloatArray:
        """By how much the frequencies of an alignment are too high, as a share, (k, c)."""
        return np.asarray(self.reduced[alignment] / self.exact - 1.0)

    def pose_errors(self, alignment: Alignment) -> FloatArray:
        """Size of the largest of the errors in every pose, (k,)."""
        return np.asarray(np.abs(self.errors(alignment)).max(axis=1))

    def worst_errors(self, alignment: Alignment) -> FloatArray:
        """Size of the largest error of every frequency, (c,); 0 without a pose."""
        return np.asarray(np.abs(self.errors(alignment)).max(axis=0, initial=0.0))

    def best(self) -> Alignment:
        """The first in `ALIGNMENTS`, which costs least, of those that are as good as the best where they are worst, and
        among these as good as the best in the mean over the frequencies."""
        found = [one for one in ALIGNMENTS if one in self.reduced]
        for rate in (self.pose_errors, self._mean_errors):
            errors = [float(rate(one).max(initial=0.0)) for one in found]
            most = min(errors) + max(_SAME[0], _SAME[1] * min(errors))
            found = [one for one, error in zip(found, errors, strict=True) if error <= most]
        return found[0]

    def _mean_errors(self, alignment: Alignment) -> FloatArray:
        return np.asarray(np.abs(self.errors(alignment)).mean(axis=1))
