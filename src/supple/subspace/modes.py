"""Linear vibration modes: K φ = λ M φ, softest first."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array
from scipy.sparse.linalg import LinearOperator, eigsh

from supple.elastic import Body
from supple.errors import MeshError
from supple.linalg.ties import BEYOND, settled_turn
from supple.subspace.basis import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["check_count", "linear_modes", "softest_modes"]

FloatArray = NDArray[np.float64]


def linear_modes(body: Body, count: int, *, x: FloatArray | None = None) -> Basis:
    """The `count` softest vibration modes about a shape x [m] (at rest by default), with their λ [1/s²].

    Rigid motions of a body that pins do not hold are left out: they belong to its frame.
    """
    stiffness = RestStiffness(body, x)
    values, vectors = softest_modes(stiffness, count)
    return Basis(stiffness.spread(vectors), body.mass, f"{count} linear modes", values)


def softest_modes(stiffness: RestStiffness, count: int) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues [1/s²] and mass-orthonormal eigenvectors over the unknowns, by shift-invert Lanczos."""
    rigid, unknowns = stiffness.rigid.shape[1], len(stiffness.mass) - len(stiffness.map.locked)
    check_count(count, unknowns - rigid)
    size = len(stiffness.mass)
    wanted = min(count + rigid + BEYOND, unknowns)
    if wanted >= unknowns - 1:
        values, vectors = _dense(stiffness)
    else:
        values, vectors = eigsh(
            stiffness.matrix,
            k=wanted,
            M=diags_array(stiffness.mass),
            sigma=-stiffness.shift,
            OPinv=LinearOperator((size, size), stiffness.solve_shifted, dtype=np.float64),
            v0=np.random.default_rng(0).standard_normal(size) / np.sqrt(stiffness.mass),
            tol=1e-10,
        )
    vectors = stiffness.without_rigid(vectors)
    vectors[stiffness.map.locked] = 0.0
    order = np.argsort(values)[rigid:]
    values, vectors = values[order], vectors[:, order]
    return values[:count], vectors @ settled_turn(values, vectors, stiffness.mass)[:, :count]


def check_count(count: int, most: int) -> None:
    """Refuse more modes than a body has."""
    if not 1 <= count <= most:
        raise MeshError(f"{count} modes of a body with {most} vibrations cannot be had: ask for 1 to {most}.")


def _dense(stiffness: RestStiffness) -> tuple[FloatArray, FloatArray]:
    """All modes of a body too small for an iteration."""
    free = np.setdiff1d(np.arange(len(stiffness.mass)), stiffness.map.locked)
    root = np.sqrt(stiffness.mass[free])
    values, turned = np.linalg.eigh(stiffness.matrix.toarray()[np.ix_(free, free)] / np.outer(root, root))
    vectors = np.zeros((len(stiffness.mass), len(free)))
    vectors[free] = turned / root[:, None]
    return values, vectors
