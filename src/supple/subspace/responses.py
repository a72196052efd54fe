"""How a body gives way where it is pushed evenly: what principal components of a motion in one plane do not hold.

A bent body sways to the side by turning its cross-sections about axes that turn with it, so that the sway about one
shape is not that about another. Components of a motion hold the sway that there was, and are stiff against any other.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.orthonormal import orthonormalise
from supple.subspace.basis import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["even_responses", "extend"]

FloatArray = NDArray[np.float64]
_NEW = 1e-6  # of a column: less than this is nothing new but round-off


def even_responses(body: Body, u: FloatArray) -> FloatArray:
    """Displacements under an even acceleration along each axis, about the displacement u [m], (n, 3): (3 n, 3).

    A shape that would give way by itself, where stiffness is not definite, has none.
    """
    about = RestStiffness(body, body.mesh.vertices + u)
    pushes = about.mass[:, None] * about.gather(np.tile(np.eye(3), (len(body.mass), 1)))
    try:
        return about.spread(np.stack([about.solve_shifted(push) for push in pushes.T], axis=1))
    except NotPositiveDefinite:
        return np.zeros((3 * len(body.mass), 0))


def extend(basis: Basis, columns: FloatArray, most: int) -> Basis:
    """A basis with what columns (3 n, k) add to it, up to `most` columns in all."""
    metric = basis.metric[:, None]
    size = np.sqrt(np.sum(metric * columns * columns, axis=0))
    for _ in range(2):
        columns = columns - basis.columns @ (basis.columns.T @ (metric * columns))
    left = np.sqrt(np.sum(metric * columns * columns, axis=0))
    new = orthonormalise(columns[:, left > _NEW * size], basis.metric, _NEW)[:, : max(0, most - basis.rank)]
    if not new.shape[1]:
        return basis
    return replace(
        basis, columns=np.column_stack([basis.columns, new]), source=f"{basis.source} + responses",
        importance=np.concatenate([basis.importance, np.zeros(new.shape[1])]),
    )  # fmt: skip
