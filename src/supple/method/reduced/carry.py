"""What moving pins prescribe to a body in a subspace: its frame, and how far it is strained besides."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError, SuppleWarning
from supple.subspace.rigid_fit import pin_frame

__all__ = ["Carrier"]

FloatArray = NDArray[np.float64]
_FAR = 1e-3  # of the body's size by which pins may leave what the model was trained for


class Carrier:
    """The frame x = c + R X and the coordinates p of the pins' own strain, from their targets."""

    def __init__(self, body: Body, carried: FloatArray) -> None:
        self._body = body
        pins = body.pins
        self._rest = body.mesh.vertices[pins.vertices]
        rows = carried.reshape(len(body.mass), 3, carried.shape[1])[pins.vertices] * pins.held[:, :, None]
        self._columns = rows.reshape(3 * len(pins.vertices), carried.shape[1])
        self._fit = np.linalg.pinv(self._columns)
        self._told = False

    def follow(self, targets: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """R (3, 3), c (3,) [m] and p (s,) for targets (k, 3) [m]."""
        if not np.isfinite(targets).all():
            raise SceneError("a pin is to be moved to a place that is not finite: correct its motion.")
        pins = self._body.pins
        R, c = pin_frame(pins, self._body.mesh.vertices, targets)
        strain = (((targets - c) @ R - self._rest) * pins.held).ravel()
        p = self._fit @ strain
        missed = float(np.abs(strain - self._columns @ p).max(initial=0.0))
        if missed > _FAR * self._body.mesh.size() and not self._told:
            self._told = True
            warnings.warn(
                f"pins move {missed:.3g} m away from all that the model was trained for: train it with this motion, or "
                "use the full solver.",
                SuppleWarning,
                stacklevel=2,
            )
        return R, c, p
