"""Coulomb friction as a potential: smoothed where contacts stick, with the normal forces of an earlier solution.

    D(u) = μ λ f(s),   s = |u - n (n·u)|,   f(s) = s²/ε - s³/(3 ε²) up to the slip length ε, s - ε/3 beyond

u is how far a contact's two sides have moved past each other in the step. The force μ λ f'(s) grows to that of sliding
within the slip length; f is convex and has two continuous derivatives.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.contact.anisotropy import build_tensor, split

__all__ = ["Friction"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Friction:
    """The friction of m contacts; everything is a function of their slides u [m], (m, 3)."""

    normal: FloatArray
    limit: FloatArray
    """Force of sliding, μ λ [N], (m,)."""
    slip: float
    """ε [m]"""

    def energy(self, slide: FloatArray) -> float:
        """D, summed over the contacts [J]."""
        s = self._slide(slide)[1]
        t = np.minimum(s / self.slip, 1.0)
        # Beyond the slip length the cubic has its end value, 2/3 ε, and the rest grows evenly
        return float(self.limit @ (self.slip * (t**2 - t**3 / 3.0) + np.maximum(s - self.slip, 0.0)))

    def gradient(self, slide: FloatArray) -> FloatArray:
        """Derivative of D by each slide [N], (m, 3): across the normal, never larger than the limit."""
        aside, s = self._slide(slide)
        return np.asarray(self._secant(s)[:, None] * aside)

    def curvature(self, slide: FloatArray) -> FloatArray:
        """Second derivative of D by each slide [N/m], (m, 3, 3), positive semi-definite."""
        aside, s = self._slide(slide)
        secant = self._secant(s)
        bend = 2.0 / self.slip * self.limit * np.maximum(1.0 - s / self.slip, 0.0)  # μ λ f''
        way = aside / np.maximum(s, np.finfo(float).tiny)[:, None]
        tensor = build_tensor(self.normal, np.zeros_like(s), secant)
        tensor += ((bend - secant)[:, None] * way)[:, :, None] * way[:, None, :]
        return tensor

    def secant(self, slide: FloatArray) -> FloatArray:
        """μ λ f'(s)/s [N/m], (m,): the stiffness of springs that pull as friction does at these slides."""
        return self._secant(self._slide(slide)[1])

    def _slide(self, slide: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The slide across the normal [m], (m, 3), and its length s, (m,)."""
        aside = split(self.normal, slide)[1]
        return aside, np.sqrt(np.einsum("mi,mi->m", aside, aside))

    def _secant(self, s: FloatArray) -> FloatArray:
        longest = np.maximum(s, self.slip)
        return np.asarray(self.limit * (2.0 - np.minimum(s / self.slip, 1.0)) / longest)
