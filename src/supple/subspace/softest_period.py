"""The period of a body's softest vibration, estimated without a factorisation."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import diags_array
from scipy.sparse.linalg import LinearOperator, lobpcg
from scipy.spatial import cKDTree

from supple.elastic import Body
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["softest_period"]

FloatArray = NDArray[np.float64]
_VECTORS, _ITERATIONS = 3, 40


def softest_period(body: Body, enough: float = np.inf) -> float:
    """At least how long [s] the softest vibration about the rest shape takes, usually within a few per cent.

    The Rayleigh quotient of a smooth field never lies below the lowest eigenvalue, so every estimate is a lower bound
    of the period. One that reaches `enough` is returned at once; others are improved by preconditioned iterations.
    Infinite where a motion meets no resistance, or where every vertex is held.
    """
    if np.count_nonzero(body.pins.held) == 3 * len(body.mass):
        return np.inf
    stiffness = RestStiffness(body)
    fields = stiffness.without_rigid(stiffness.gather(_smooth_fields(body)))
    mass, weights = stiffness.mass[:, None], fields.T @ (stiffness.mass[:, None] * fields)
    scale, turn = np.linalg.eigh(weights)
    fields = fields @ (turn / np.sqrt(np.maximum(scale, 1e-300)))[:, scale > 1e-10 * scale.max(initial=0.0)]
    values, vectors = eigh(fields.T @ (stiffness.matrix @ fields), fields.T @ (mass * fields))
    period = _period(values[0])
    if period >= enough:
        return period
    with warnings.catch_warnings():  # of iterations that end before they converge, which an estimate may
        warnings.simplefilter("ignore", UserWarning)
        values, _ = lobpcg(
            stiffness.matrix,
            fields @ vectors[:, :_VECTORS],
            B=diags_array(stiffness.mass),
            M=_inverse_blocks(stiffness),
            Y=stiffness.rigid if stiffness.rigid.shape[1] else None,
            tol=1e-3 * values[0] * np.sqrt(stiffness.mass.mean()),
            maxiter=_ITERATIONS,
            largest=False,
        )
    return max(period, _period(values.min()))


def _period(value: float) -> float:
    return float(2.0 * np.pi / np.sqrt(value)) if value > 0.0 else np.inf


def _smooth_fields(body: Body) -> FloatArray:
    """Displacements that grow from what is held, or bend and stretch what is not, (3 n, k)."""
    x = body.mesh.vertices - body.mesh.vertices.mean(axis=0)
    held = body.pins.vertices[body.pins.held.all(axis=1)]
    if len(held):
        away = cKDTree(x[held]).query(x)[0]
        profiles = [away, away**2, *(away * x.T)]  # sections turn as they bend
    else:
        profiles = [*x.T, *(x[:, a] * x[:, b] for a in range(3) for b in range(a + 1))]
    profiles = [profile / max(np.abs(profile).max(), 1e-300) for profile in profiles]
    return np.stack([np.outer(profile, axis).ravel() for profile in profiles for axis in np.eye(3)], axis=1)


def _inverse_blocks(stiffness: RestStiffness) -> LinearOperator:
    """The inverse of the diagonal blocks of the stiffness."""
    blocks = stiffness.matrix.tobsr((3, 3))
    rows = np.repeat(np.arange(len(stiffness.map.free)), np.diff(blocks.indptr))
    inverse = np.linalg.inv(blocks.data[rows == blocks.indices])

    def apply(vectors: FloatArray) -> FloatArray:
        return np.asarray((inverse @ vectors.reshape(len(inverse), 3, -1)).reshape(vectors.shape))

    return LinearOperator(blocks.shape, matvec=apply, matmat=apply, dtype=np.float64)
