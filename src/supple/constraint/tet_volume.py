"""Tetrahedra whose volume stays within a range of a target that can change while a simulation runs."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.constraint.checks import check_limits, each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.elastic.kernels import read, write
from supple.errors import SceneError
from supple.linalg.small import add, inner, matmul_nt, point, scale, signed_svd, single_svd

__all__ = ["TetVolume"]

# Literals would make all double
_ZERO, _HALF, _ONE, _TWO, _THREE, _FOUR = (np.float32(number) for number in (0.0, 0.5, 1.0, 2.0, 3.0, 4.0))
_TINY = np.float32(1e-30)


@point
def _nearest_product(s, target):
    """The stretches nearest to s1 >= s2 >= |s3| whose product is `target`, which is positive.

    At the nearest point every change is μ target / stretch with one μ, so each stretch is a root of a quadratic in μ:
    the larger one, but for the smallest stretch. That one therefore determines the others, and their product grows
    with it: Newton's method on its logarithm, kept within a bracket.
    """
    x, y, z = s
    low, high = (0.0, z) if x * y * z > target else (max(z, 0.0), target ** (1.0 / 3.0))
    c = 0.5 * (low + high)
    a, b = x, y
    for _ in range(80):
        shift = 4.0 * c * (c - z)
        root_a, root_b = np.sqrt(max(x * x + shift, 0.0)), np.sqrt(max(y * y + shift, 0.0))
        a, b = 0.5 * (x + root_a), 0.5 * (y + root_b)
        miss = np.log(a * b * c / target)
        if abs(miss) < 1e-14:
            break
        if miss > 0.0:
            high = c
        else:
            low = c
        rate = 2.0 * c - z
        slope = 1.0 / c + rate / max(a * root_a, 1e-300) + rate / max(b * root_b, 1e-300)
        c = c - miss / slope if slope > 0.0 else 0.5 * (low + high)
        if not low < c < high:
            c = 0.5 * (low + high)
    return a, b, c


@point
def tet_volume(t, l):
    F = read(t, VALUE, l)
    U, s, V = signed_svd(F)
    ratio = s[0] * s[1] * s[2]
    target = min(max(ratio, t[PARAMETERS, l]), t[PARAMETERS + 1, l])
    P = F
    if target != ratio:
        a, b, c = _nearest_product(s, target)
        U = U[0] * a, U[1] * b, U[2] * c, U[3] * a, U[4] * b, U[5] * c, U[6] * a, U[7] * b, U[8] * c
        P = matmul_nt(U, V)
    gap = add(F, scale(-1.0, P))
    write(t, PROJECTION, l, P)
    t[DISTANCE, l] = inner(gap, gap)


@point
def _approach_product(s, target, c, low, high):
    """One round of the same in single precision and without branches: a better c and its bracket."""
    x, y, z = s
    shift = _FOUR * c * (c - z)
    root_a, root_b = np.sqrt(max(x * x + shift, _ZERO)), np.sqrt(max(y * y + shift, _ZERO))
    a, b = _HALF * (x + root_a), _HALF * (y + root_b)
    g = a * b * c / target
    miss = _THREE * (g * g - _ONE) / (g * g + _FOUR * g + _ONE)  # nearly the logarithm, and zero where that is
    low, high = low if miss > _ZERO else c, c if miss > _ZERO else high
    rate = _TWO * c - z
    slope = _ONE / max(c, _TINY) + rate / max(a * root_a, _TINY) + rate / max(b * root_b, _TINY)
    best = c - miss / (slope if slope > _ZERO else _TINY)
    return best if (best >= low) & (best <= high) else _HALF * (low + high), low, high


@point
def _nearest_product_single(s, ratio, target):
    """The stretches nearest to s in single precision; eight rounds, one by one, so that lanes run together."""
    x, y, z = s
    larger = ratio > target
    # c³ <= target, so c is at most a third of target + 1 + 1
    low, high = _ZERO if larger else max(z, _ZERO), z if larger else (target + _TWO) / _THREE
    c, low, high = _approach_product(s, target, _HALF * (low + high), low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    c, low, high = _approach_product(s, target, c, low, high)
    shift = _FOUR * c * (c - z)
    root_a, root_b = np.sqrt(max(x * x + shift, _ZERO)), np.sqrt(max(y * y + shift, _ZERO))
    return _HALF * (x + root_a), _HALF * (y + root_b), c


@point
def tet_volume_single(t, l):
    F = read(t, VALUE, l)
    U, s, V = single_svd(F)
    ratio = s[0] * s[1] * s[2]
    target = min(max(ratio, t[PARAMETERS, l]), t[PARAMETERS + 1, l])
    a, b, c = _nearest_product_single(s, ratio, target)
    free = target == ratio
    a, b, c = s[0] if free else a, s[1] if free else b, s[2] if free else c
    U = U[0] * a, U[1] * b, U[2] * c, U[3] * a, U[4] * b, U[5] * c, U[6] * a, U[7] * b, U[8] * c
    write(t, PROJECTION, l, matmul_nt(U, V))


@dataclass(frozen=True, eq=False)
class TetVolume(Constraint):
    """Volumes over rest volumes within a range; for small changes a pressure of the bulk modulus resists."""

    kind: ClassVar = "tet volume"
    lane: ClassVar = tet_volume
    single_lane: ClassVar = tet_volume_single
    width: ClassVar = 4
    span: tuple[float, float] = (1.0, 1.0)
    """The range at the target volume 1."""

    @classmethod
    def build(cls, stencils: Stencils, bulk: ArrayLike, limits: tuple[float, float] = (1.0, 1.0)) -> "TetVolume":
        """Tets (constraint/gradients.py) of bulk modulus κ [Pa] whose volume is free within `limits` of the rest's."""
        bulk = each(bulk, len(stencils), "TetVolume.build(bulk)", "Pa")
        check_limits("TetVolume.build(limits)", limits)
        # A stretch s in all directions is √3 (s - 1) away and changes the volume by 3 (s - 1): λ 3/2 = κ 9/2
        parameters = np.repeat(np.array(limits)[:, None], len(stencils), axis=1)
        return cls(stencils, 3.0 * bulk * stencils.measure, parameters, limits)

    def inflated(self, factor: float) -> "TetVolume":
        if not (np.isfinite(factor) and factor > 0.0):
            raise SceneError(f"volume factor {factor} is not positive: give a number above 0.")
        span = factor * np.array(self.span)[:, None]
        return replace(self, parameters=np.repeat(span, len(self.stencils), axis=1))
