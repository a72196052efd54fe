"""What the shading kernels need to know about camera, lamps and floor, as plain numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.ground import Ground
from supple.picture.vector import Vector, add_scaled, get_row

__all__ = ["Shot", "aim", "make_shot"]


class Shot(NamedTuple):
    """Positions in [m]; the ray of unit depth through a pixel is corner + column · right + row · down."""

    eye: Vector
    right: Vector
    down: Vector
    corner: Vector
    key: Vector  # towards the lamp
    fill: Vector
    centre: Vector  # of the body
    size: float  # diagonal of the body
    ground: Ground


@njit(cache=True)
def make_shot(vectors: NDArray[np.float64], size: float, ground: Ground) -> Shot:
    """Shot from the seven vectors of its first fields, (7, 3)."""
    return Shot(
        get_row(vectors, 0),
        get_row(vectors, 1),
        get_row(vectors, 2),
        get_row(vectors, 3),
        get_row(vectors, 4),
        get_row(vectors, 5),
        get_row(vectors, 6),
        size,
        ground,
    )


@njit(cache=True)
def aim(shot: Shot, column: float, row: float) -> Vector:
    """Ray of unit depth through a point of the picture, in pixels."""
    return add_scaled(add_scaled(shot.corner, column, shot.right), row, shot.down)
