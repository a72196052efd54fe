"""Springs that push penetrating contacts apart: Eqs. (6) to (8) of [TOK14], as a potential of frozen contacts.

    E(d) = k a (½ min(n·d, 0)² + ½ α e |d - n (n·d)|²)

With α e > 0 and n·d < 0 its Hessian is k a N. It is convex, continuously differentiable and one-sided: a contact opens
without a new detection.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.contact.anisotropy import build_tensor, split
from supple.linalg.jit import njit

__all__ = ["Penalty"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Penalty:
    """The springs of m contacts; everything is a function of their gaps d [m], (m, 3)."""

    normal: FloatArray
    along: FloatArray
    """Stiffness against penetration, k a [N/m], (m,)."""
    across: FloatArray
    """Stiffness against sliding, k a α e [N/m], (m,): e is 1 where a contact penetrated when it was frozen, else 0."""

    def energy(self, gap: FloatArray) -> float:
        """E, summed over the contacts [J]."""
        depth, aside = self._split(gap)
        return 0.5 * float(self.along @ depth**2 + self.across @ np.einsum("mi,mi->m", aside, aside))

    def gradient(self, gap: FloatArray) -> FloatArray:
        """Derivative of E by each gap [N], (m, 3)."""
        return _push(gap, self.normal, self.along, self.across)

    def curvature(self, gap: FloatArray) -> FloatArray:
        """Second derivative of E by each gap [N/m], (m, 3, 3), positive semi-definite."""
        return build_tensor(self.normal, self.stiffness_along(gap), self.across)

    def normal_forces(self, gap: FloatArray) -> FloatArray:
        """What presses each pair apart [N], (m,), never negative."""
        return np.asarray(self.along * self._split(gap)[0])

    def stiffness_along(self, gap: FloatArray) -> FloatArray:
        """`along` where contacts are closed, 0 where they are open [N/m], (m,)."""
        return np.where(self._split(gap)[0] > 0.0, self.along, 0.0)

    def _split(self, gap: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Depth of penetration, zero for open contacts [m], (m,), and the gap across the normal [m], (m, 3)."""
        height, aside = split(self.normal, gap)
        return np.maximum(-height, 0.0), aside


@njit(cache=True)
def _push(gap: FloatArray, normal: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
    """across (d - n (n·d)) + along min(n·d, 0) n of each contact, (m, 3)."""
    out = np.empty_like(gap)
    for m in range(len(gap)):
        height = gap[m, 0] * normal[m, 0] + gap[m, 1] * normal[m, 1] + gap[m, 2] * normal[m, 2]
        push = along[m] * min(height, 0.0) - across[m] * height
        for i in range(3):
            out[m, i] = across[m] * gap[m, i] + push * normal[m, i]
    return out
