"""Leave out of a fitted rule what it can spare: backward elimination by the optimal brain surgeon's measure."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.ties import first_smallest

__all__ = ["prune"]

FloatArray = NDArray[np.float64]


def prune(gram: FloatArray, right: FloatArray, square: float, enough: float) -> NDArray[np.bool_]:
    """Which of the columns are still needed for a residual's square of at most `enough`, (n,).

    Without column j the least-squares residual grows by w_j² / (G⁻¹)_jj. The cheapest one goes, the others take its
    share; one that they push below zero goes next.
    """
    inverse = np.linalg.inv(gram)
    weights = inverse @ right
    residual = square - right @ weights
    alive = np.ones(len(right), bool)
    good = alive.copy()
    while np.count_nonzero(alive) > 1:
        cost = np.where(alive, weights**2 / np.where(alive, np.diag(inverse), 1.0), np.inf)
        lowest = first_smallest(np.where(alive, weights, np.inf))
        gone = lowest if weights[lowest] < 0.0 else first_smallest(cost)
        residual += cost[gone]
        if residual > enough:
            break
        row, pivot = inverse[gone].copy(), inverse[gone, gone]
        weights -= weights[gone] / pivot * row
        inverse -= np.outer(row, row / pivot)
        alive[gone] = False
        if weights[alive].min() >= 0.0:
            good = alive.copy()
    return good
