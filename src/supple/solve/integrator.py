"""Time integrators as affine relations between end positions, velocity and acceleration."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.solve.increment import Motion

__all__ = ["INTEGRATORS", "Integrator", "implicit_euler", "newmark", "static"]

FloatArray = NDArray[np.float64]
Integrator = Callable[[FloatArray, FloatArray, FloatArray, float], Motion]


def implicit_euler(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """First order, never gains energy: v' = (x' - x)/h, a' = (v' - v)/h."""
    return Motion(1.0 / h**2, x + h * v, 1.0 / h, x)


def newmark(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """Second order, average acceleration (β = ¼, γ = ½): keeps the energy of linear systems."""
    xa = x + h * v + 0.25 * h**2 * a
    # v' = v + h/2 (a + a') with a' = 4/h² (x' - xa)
    return Motion(4.0 / h**2, xa, 2.0 / h, xa - 0.5 * h * (v + 0.5 * h * a))


def static(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """No inertia: equilibrium at every moment."""
    return Motion(0.0, x, 0.0, x)


INTEGRATORS: dict[str, Integrator] = {"implicit_euler": implicit_euler, "newmark": newmark, "static": static}
