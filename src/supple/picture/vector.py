"""Three-vectors as tuples, for kernels: no array is made."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["Vector", "add_scaled", "blend", "cross", "dot", "get_row", "normalise", "scale", "subtract"]

Vector = tuple[float, float, float]


@njit(cache=True)
def get_row(array: NDArray[np.float64], index: int) -> Vector:
    """Row of an (n, 3) array."""
    return array[index, 0], array[index, 1], array[index, 2]


@njit(cache=True)
def dot(a: Vector, b: Vector) -> float:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def subtract(a: Vector, b: Vector) -> Vector:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True)
def scale(a: Vector, factor: float) -> Vector:
    """Product factor · a."""
    return factor * a[0], factor * a[1], factor * a[2]


@njit(cache=True)
def add_scaled(a: Vector, factor: float, b: Vector) -> Vector:
    """Sum a + factor · b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@njit(cache=True)
def blend(a: Vector, share: float, b: Vector) -> Vector:
    """Mixture (1 - share) · a + share · b."""
    rest = 1.0 - share
    return rest * a[0] + share * b[0], rest * a[1] + share * b[1], rest * a[2] + share * b[2]


@njit(cache=True)
def normalise(a: Vector) -> Vector:
    """Unit vector along a; zero stays zero."""
    length = math.sqrt(dot(a, a))
    factor = 1.0 / length if length > 0.0 else 0.0
    return factor * a[0], factor * a[1], factor * a[2]
