"""The frame a body is described in: it follows the pins, or the body itself where there are none."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.rigid import fit_rigid
from supple.subspace.rigid_fit import pin_displacement, pin_frame

__all__ = ["BodyFrame"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BodyFrame:
    """Positions x = c + R (X + S p + u), with R, c and p known from the pins, or R and c fitted to a free body."""

    body: Body
    carried: FloatArray
    """S, (3 n, s), orthonormal at the pinned coordinates."""

    @cached_property
    def _at_pins(self) -> FloatArray:
        """Rows of S at the pinned coordinates, (held, s)."""
        pins = self.body.pins
        return np.asarray(self.carried[(3 * pins.vertices[:, None] + np.arange(3))[pins.held]])

    def fit(self, x: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R (3, 3) and c [m], (3,), of positions x (n, 3) while pins are held at targets (k, 3) [m]."""
        body, rest = self.body, self.body.mesh.vertices
        return pin_frame(body.pins, rest, targets) if len(body.pins.vertices) else fit_rigid(x, rest, body.mass)

    def follow(self, targets: FloatArray) -> FloatArray:
        """Coordinates p of the carried fields while pins are held at targets (k, 3) [m], (s,)."""
        pins = self.body.pins
        moved = pin_displacement(pins, self.body.mesh.vertices, targets)[pins.held]
        return np.asarray(self._at_pins.T @ moved)
