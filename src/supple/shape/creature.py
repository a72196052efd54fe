"""A small friendly creature with floppy ears and a tail, standing on flat soles at y = 0 and facing z."""

from __future__ import annotations

import numpy as np

from supple.shape.distance import (
    Field,
    box,
    cone,
    ellipsoid,
    mirrored,
    smooth_intersection,
    smooth_union,
    sphere,
)

__all__ = ["creature"]


def creature(height: float) -> Field:
    """The creature, `height` [m] from its soles to the bend of its ears."""
    model = _stand(_build())
    return Field(lambda points: height * model(points / height), model.low * height, model.high * height)


def _build() -> Field:
    """The creature one metre tall."""
    trunk = smooth_union([_belly(), _tail()], 0.06)
    with_limbs = smooth_union([trunk, mirrored(_arm()), mirrored(_leg())], 0.045)
    body = smooth_union([with_limbs, _skull(), mirrored(_ear())], 0.045)
    eyes, nose = mirrored(sphere((0.072, 0.708, 0.16), 0.034)), sphere((0.0, 0.664, 0.232), 0.03)
    return smooth_union([body, eyes, nose], 0.012)


def _belly() -> Field:
    return smooth_union([ellipsoid((0, 0.325, 0.02), (0.205, 0.18, 0.185)), sphere((0, 0.485, 0), 0.115)], 0.1)


def _skull() -> Field:
    head = ellipsoid((0, 0.685, 0.02), (0.18, 0.145, 0.155))
    cheeks = mirrored(sphere((0.105, 0.635, 0.06), 0.088))
    muzzle = ellipsoid((0, 0.634, 0.16), (0.085, 0.058, 0.07))
    return smooth_union([smooth_union([head, cheeks], 0.06), muzzle], 0.04)


def _ear() -> Field:
    upright = cone((0.085, 0.785, 0.0), (0.14, 0.94, -0.015), 0.043, 0.05)
    tip = cone((0.14, 0.94, -0.015), (0.25, 0.875, 0.04), 0.05, 0.058)
    return smooth_union([upright, tip], 0.03)


def _arm() -> Field:
    upper = cone((0.1, 0.505, 0.0), (0.235, 0.44, 0.02), 0.056, 0.046)
    lower = cone((0.235, 0.44, 0.02), (0.31, 0.41, 0.055), 0.046, 0.05)
    return smooth_union([upper, lower, sphere((0.315, 0.408, 0.058), 0.062)], 0.03)


def _leg() -> Field:
    thigh = cone((0.115, 0.21, 0.0), (0.135, 0.07, 0.0), 0.085, 0.064)
    foot = ellipsoid((0.142, 0.045, 0.05), (0.08, 0.062, 0.122))
    return smooth_union([thigh, foot], 0.035)


def _tail() -> Field:
    root = cone((0, 0.26, -0.13), (0, 0.29, -0.26), 0.045, 0.062)
    end = cone((0, 0.29, -0.26), (0, 0.42, -0.34), 0.066, 0.042)
    return smooth_union([root, end], 0.03)


def _stand(model: Field) -> Field:
    """Cut flat at the ground."""
    half = np.array([10.0, 10.0, 10.0])
    return smooth_intersection(model, box((0.0, 10.0, 0.0), half), 0.015)
