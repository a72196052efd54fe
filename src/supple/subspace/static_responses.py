"""How a held body gives way to being accelerated: three shapes that say more of flesh on bones than many modes do."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.orthonormal import orthonormalise
from supple.subspace.basis import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["LED_FROM", "RESPONSES", "lead_with_responses", "static_responses"]

FloatArray = NDArray[np.float64]

RESPONSES = 3  #: of a body, one for each axis
LED_FROM = 5 * RESPONSES  #: columns of a basis that responses lead: fewer are all needed for modes


def static_responses(body: Body, x: FloatArray) -> FloatArray:
    """K⁻¹ M e about a shape x [m], (n, 3), for the three axes e, (3 n, 3): how it sags, and how it lags."""
    stiffness = RestStiffness(body, x)
    loads = (body.mass[:, None] * axis for axis in np.eye(RESPONSES))
    found = [stiffness.spread(stiffness.solve(stiffness.map.unknowns(load))) for load in loads]
    return np.stack([field.ravel() for field in found], axis=1)


def lead_with_responses(basis: Basis, body: Body, x: FloatArray) -> FloatArray:
    """The static responses and as many columns of the basis as keep its rank, mass-orthonormal, (3 n, r)."""
    columns = np.column_stack([static_responses(body, x), basis.columns])
    return orthonormalise(columns, basis.metric)[:, : basis.rank]
