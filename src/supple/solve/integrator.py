"""Time integrators as affine relations between end positions, velocity and acceleration."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.solve.increment import Motion

__all__ = ["ALL_INTEGRATORS", "INTEGRATORS", "Integrator", "generalized_alpha", "implicit_euler", "newmark", "static"]

FloatArray = NDArray[np.float64]
Integrator = Callable[[FloatArray, FloatArray, FloatArray, float], Motion]
# Spectral radius of generalized-α for vibrations much faster than a step: with 0.5 a free cylinder that turns by 0.83
# rad a step never gains energy, with 0.8 it does (tests/method/test_generalized_alpha.py)
_RADIUS = 0.5


def implicit_euler(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """First order, never gains energy: v' = (x' - x)/h, a' = (v' - v)/h."""
    return Motion(1.0 / h**2, x + h * v, 1.0 / h, x)


def newmark(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """Second order, average acceleration (β = ¼, γ = ½): keeps the energy of linear systems."""
    xa = x + h * v + 0.25 * h**2 * a
    # v' = v + h/2 (a + a') with a' = 4/h² (x' - xa)
    return Motion(4.0 / h**2, xa, 2.0 / h, xa - 0.5 * h * (v + 0.5 * h * a))


def generalized_alpha(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """Second order, damps what is fast compared with a step and keeps what is slow.

    Generalized-α with forces at the end of the step [WBZ80]: they balance (1 - α) a' + α a, with Newmark's relations
    for x' and v', γ = ½ - α and β = ¼ (1 - α)². Vibrations much faster than a step shrink to `_RADIUS` in each.
    """
    alpha = (_RADIUS - 1.0) / (_RADIUS + 1.0)
    gamma, beta = 0.5 - alpha, 0.25 * (1.0 - alpha) ** 2
    xs = x + h * v + (0.5 - beta) * h**2 * a  # a' = (x' - xs) / (β h²)
    ca, cv = (1.0 - alpha) / (beta * h**2), gamma / (beta * h)
    return Motion(ca, xs - alpha / ca * a, cv, xs - (v + (1.0 - gamma) * h * a) / cv, alpha, a)


def static(x: FloatArray, v: FloatArray, a: FloatArray, h: float) -> Motion:
    """No inertia: equilibrium at every moment."""
    return Motion(0.0, x, 0.0, x)


INTEGRATORS: dict[str, Integrator] = {"implicit_euler": implicit_euler, "newmark": newmark, "static": static}
"""Those that every method knows, where its own page says nothing else."""

ALL_INTEGRATORS: dict[str, Integrator] = {**INTEGRATORS, "generalized_alpha": generalized_alpha}
"""Those of the full solver."""
