"""The logarithm of a volume ratio, continued below a small one so that it survives inversion."""

import numpy as np

from supple.linalg.small import point

__all__ = ["continued_log"]

THRESHOLD = 0.2


@point
def continued_log(J):
    """log J and its three derivatives; below the threshold its second-order Taylor polynomial.

    The energies that use it keep growing as an element turns inside out, and push it back
    (the aim of Irving et al. 2004, kept as an energy so that a line search can trust it).
    """
    inside = J < THRESHOLD
    base = THRESHOLD if inside else J
    d = (J - THRESHOLD) if inside else 0.0
    k = 1.0 / base
    value = np.log(base) + k * d - 0.5 * k * k * d * d
    third = 0.0 if inside else 2.0 * k * k * k
    return value, k - k * k * d, -k * k, third
