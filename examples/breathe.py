"""The function of breathe.toml."""

import numpy as np


def breathe(points, values):
    """Points (n, 3) of the body in scene units, swollen around the middle; values are those of the controls."""
    swell, lean = values
    shape = np.exp(-((points[:, 1] / 0.1) ** 2))
    moved = points * np.column_stack([1 + swell * shape, np.ones(len(points)), 1 + swell * shape])
    moved[:, 0] += lean * (points[:, 1] - points[:, 1].min())
    return moved
