"""Fields that follow pins: what pins do beside their common rigid motion, extended into the body by elasticity."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Pins
from supple.linalg.ties import settled_turn
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["carried_fields"]

FloatArray = NDArray[np.float64]


def carried_fields(body: Body, displacements: FloatArray, least: float) -> FloatArray:
    """S (3 n, s) that holds pin displacements (t, k, 3) [m] up to `least` [m]; orthonormal at the pinned coordinates.

    Inside the body every column is the displacement of linear elasticity at rest, K_ff u = -K_fp d.
    """
    pins, size = body.pins, 3 * len(body.mass)
    rows = (3 * pins.vertices[:, None] + np.arange(3))[pins.held]
    moved = displacements[:, pins.held].T
    if not moved.size or np.abs(moved).max() <= least:
        return np.zeros((size, 0))
    left, singular, right = np.linalg.svd(moved, full_matrices=False)
    turn = settled_turn(singular, left)
    left = left @ turn
    reached = np.abs(turn.T @ (singular[:, None] * right)).max(axis=1)  # largest coordinate of each column
    fields = np.zeros((size, int(np.count_nonzero(reached > least))))
    fields[rows] = left[:, reached > least]
    stiffness = RestStiffness(body)
    pull = RestStiffness(body.pinned(Pins.none())).matrix @ fields
    for column in range(fields.shape[1]):
        load = stiffness.map.unknowns(pull[:, column].reshape(-1, 3))
        fields[:, column] += stiffness.spread(-stiffness.solve(load))
    return fields
