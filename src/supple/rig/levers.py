"""What a control moves: the length by which it counts when poses are compared."""

import numpy as np
from numpy.typing import NDArray

from supple.rig.rig import Rig

__all__ = ["measure_levers"]

_STEP = 1e-3  # of a control, in its own unit: small against a radian and against a slider from 0 to 1


def measure_levers(rig: Rig) -> NDArray[np.float64]:
    """How far the vertex that moves most goes per unit of each control, about the neutral pose, (p,)."""
    neutral = np.asarray(rig.neutral, np.float64)
    levers = np.empty(len(neutral))
    for k in range(len(neutral)):
        step = np.zeros(len(neutral))
        step[k] = _STEP
        way = rig.positions(neutral + step) - rig.positions(neutral - step)
        levers[k] = np.linalg.norm(way, axis=1).max() / (2.0 * _STEP)
    return levers
