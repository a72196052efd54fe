"""Positions turned between files that have y up and files that have z up."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Axis", "turn_up"]

Axis = Literal["y", "z"]


def turn_up(vectors: NDArray[np.floating], held: Axis, wanted: Axis) -> NDArray[np.floating]:
    """Vectors (..., 3) turned about x so that what was up along the axis `held` is up along `wanted`."""
    if held == wanted:
        return vectors
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.stack([x, -z, y] if wanted == "z" else [x, z, -y], axis=-1)
