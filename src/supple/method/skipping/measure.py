"""The one number that all decisions about skipping compare with the tolerance."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Measure", "rms"]

FloatArray = NDArray[np.float64]


def rms(field: FloatArray, mass: FloatArray) -> float:
    """Root of the mean square of a vertex field (n, 3), by mass: the same on every mesh."""
    return float(np.sqrt(mass @ np.einsum("ij,ij->i", field, field) / mass.sum()))


class Measure(NamedTuple):
    """ε(d) = factor rms(d) / scale: the velocity error that an error d of one step's displacement makes, relative to
    the largest velocity lately; in statics, which forgets errors, relative to the largest displacement."""

    factor: float
    """What the integrator multiplies displacements with to have velocities [1/s]; 1 in statics."""
    scale: float
    """[m/s]; [m] in statics."""
    refused: float
    """Tolerances above which a step is refused: one in statics, where it is the error itself; three in motion, where
    most of it rings and does not add up."""

    @classmethod
    def of(cls, integrator: str, duration: float, scale: float) -> "Measure":
        """For steps of `duration` [s]."""
        factors = {"static": 1.0, "implicit_euler": 1.0 / duration, "newmark": 2.0 / duration}
        return cls(factors[integrator], scale, 1.0 if integrator == "static" else 3.0)

    def step(self, length: float) -> float:
        """ε of a displacement error of this root mean square [m]."""
        return self.factor * length / self.scale if self.scale > 0.0 else np.inf

    def length(self, epsilon: float) -> float:
        """The displacement error [m] of this ε."""
        return epsilon * self.scale / self.factor
