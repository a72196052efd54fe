"""Bases of a body that touches itself: constrained modes and derivatives, and the few ways in which contact opens.

Constrained columns keep contact in place, Eqs. (26) to (35) of [XB16]. Where it may open, they are joined by how the
two sides give way to being pushed apart. What keeps those from closing beyond contact is the solver's business.
"""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.orthonormal import orthonormalise
from supple.linalg.ties import settled_turn
from supple.subspace.derivatives import count_modes
from supple.subspace.restriction import Restriction
from supple.subspace.static_responses import LED_FROM

__all__ = ["contact_columns", "opening_columns"]

FloatArray = NDArray[np.float64]

OPENINGS = 3  #: one column in so many is for contact that opens
_REDUNDANT = 1e-9  # of the softest pressure: what gives way less is twice there


def contact_columns(
    body: Body,
    x: FloatArray,
    rank: int,
    constraints: FloatArray,
    *,
    weights: FloatArray | None = None,
    opens: bool,
    responses: FloatArray | None = None,
) -> FloatArray:
    """`rank` mass-orthonormal columns (3 n, r) about a shape x [m] under constraints (c, 3 n), perhaps in a region.

    `weights` (n,) of a region's vertices as `region_weights` gives them. With `opens` some columns break the
    constraints. `responses` (3 n, k) lead the columns; where there are none, and many columns, those of the restricted
    body to an acceleration do.
    """
    bound = Restriction(body, weights=weights, constraints=constraints, x=x)
    leading = []
    if responses is not None:
        leading.append(responses)
    elif rank >= LED_FROM:
        leading.append(bound.give_way(np.asarray(np.kron(body.mass[:, None], np.eye(3)), np.float64)))
    if opens and len(constraints):
        free = Restriction(body, weights=weights, x=x)
        leading.append(opening_columns(free, constraints, max(rank // OPENINGS, 1)))
    basis = bound.basis(count_modes(rank), rank)  # enough, should some of the leading ones add nothing
    return orthonormalise(np.column_stack([*leading, basis.columns]), basis.metric)[:, :rank]


def opening_columns(free: Restriction, constraints: FloatArray, count: int) -> FloatArray:
    """How a body gives way to pressure on its contacts, (3 n, at most `count`).

    Even pressure comes first, apart and to one side, then what gives way most: the first eigenvectors of C K⁻¹ Cᵀ, with
    rows of C that weigh as the roots of their areas.
    """
    answers = free.give_way(constraints.T)
    values, softest = np.linalg.eigh(constraints @ answers)
    softest = softest @ settled_turn(values, softest)
    felt = values > _REDUNDANT * values[-1]
    ways = constraints.reshape(len(constraints), -1, 3).sum(axis=1)
    apart = np.linalg.norm(ways, axis=1)
    aside = ways @ np.linalg.svd(ways, full_matrices=False)[2][0]
    pressures = np.column_stack([apart, aside, softest[:, felt][:, ::-1]])
    return np.asarray(answers @ orthonormalise(pressures, np.ones(len(constraints)))[:, :count])
