"""Bases of a body that touches itself: constrained modes and derivatives, and the few ways in which contact opens.

Constrained columns keep contact in place, Eqs. (26) to (35) of [XB16]. Where it may open, they are joined by how the
two sides give way to being pushed apart: pressures that they give way to most, which are the eigenvectors of C K⁻¹ Cᵀ.
What keeps those from closing beyond contact is the solver's business.
"""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.orthonormal import orthonormalise
from supple.subspace.derivatives import count_modes
from supple.subspace.restriction import Restriction
from supple.subspace.static_responses import LED_FROM

__all__ = ["contact_columns", "opening_columns"]

FloatArray = NDArray[np.float64]

OPENINGS = 6  #: one column in so many is for contact that opens


def contact_columns(
    body: Body, x: FloatArray, rank: int, constraints: FloatArray, *, weights: FloatArray | None = None, opens: bool
) -> FloatArray:
    """`rank` mass-orthonormal columns (3 n, r) about a shape x [m] under constraints (c, 3 n), perhaps in a region.

    `weights` (n,) of a region's vertices as `region_weights` gives them. With `opens` some columns break the
    constraints.
    """
    bound = Restriction(body, weights=weights, constraints=constraints, x=x)
    metric = np.repeat(body.mass, 3)
    apart = np.zeros((len(metric), 0))
    if opens and len(constraints):
        apart = opening_columns(Restriction(body, weights=weights, x=x), constraints, max(rank // OPENINGS, 1))
    own = rank - apart.shape[1]
    columns = bound.basis(count_modes(own), own).columns
    if own >= LED_FROM:
        even = np.asarray(np.kron(body.mass[:, None], np.eye(3)), np.float64)
        columns = orthonormalise(np.column_stack([bound.give_way(even), columns]), metric)[:, :own]
    return orthonormalise(np.column_stack([columns, apart]), metric)


def opening_columns(free: Restriction, constraints: FloatArray, count: int) -> FloatArray:
    """How a body gives way to the pressures on its contacts that it gives way to most, (3 n, at most `count`)."""
    answers = free.give_way(constraints.T)
    values, pressures = np.linalg.eigh(constraints @ answers)
    softest = np.flatnonzero(values > 1e-9 * max(float(values[-1]), 0.0))[::-1][:count]
    return np.asarray(answers @ pressures[:, softest])
