"""The training problem of a moving frame: candidates are vertices, a column is m_v U_vᵀ h_v ([XB16] 5.4).

h = Aᵀ y is a pulled-back acceleration less what the subspace takes care of itself: the inertia that skinning brings,
and gravity where skinning turns it other than the root does. Samples are what a solver meets: two states, and the pose
after them.
"""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_problem import energy_scales
from supple.cubature.problem import IntArray
from supple.cubature.product_problem import ProductProblem
from supple.cubature.skinned_samples import SkinnedSamples
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["draw_accelerations", "vertex_problem"]

FloatArray = NDArray[np.float64]
_TURN = np.deg2rad(1.0)  # largest change of an angle between two states
_TRAVEL = 5e-4  # of the body's size: largest change of a place
_SWING = 0.02  # of the coordinates: their change between two states


def vertex_problem(basis: Basis, fields: NDArray[np.float32]) -> ProductProblem:
    """The problem of pulled-back accelerations (n, 3, T), in the energy norm of a diagonalised basis."""
    return ProductProblem(_VertexMaps(basis), _VertexFields(fields))


def draw_accelerations(
    rig: SkinnedRig, basis: Basis, samples: SkinnedSamples, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Pulled-back accelerations about samples, (n, 3, T), of any unit: inertia, and in every third sample gravity."""
    fields = np.empty((*rig.rest.shape, samples.count), np.float32)
    for k in range(samples.count):
        pose, q = samples.poses[samples.which[k]], samples.coordinates[:, k]
        is_gravity = k % 3 == 2
        fields[:, :, k] = _turned_gravity(rig, pose, rng) if is_gravity else _frame_inertia(rig, basis, pose, q, rng)
    return fields


def _turned_gravity(rig: SkinnedRig, pose: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(A - R)ᵀ g, R the root's rotation, for g of any direction, (n, 3)."""
    A, _ = rig.frames(pose)
    root = rig.skeleton.transforms(pose)[0][0]
    return np.asarray(np.einsum("vji,j->vi", A - root, rng.standard_normal(3)))


def _frame_inertia(
    rig: SkinnedRig, basis: Basis, pose: FloatArray, q: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Aᵀ (xa - φ(p, X + U qa)), (n, 3), where xa and qa go on from two states with their velocity."""
    size = float(np.ptp(rig.rest, axis=0).max())
    spread = np.concatenate([np.full(3, _TRAVEL * size), np.full(len(pose) - 3, _TURN)])
    before, here, after = pose + spread * rng.uniform(-1.0, 1.0, (3, len(pose)))
    earlier = q * (1.0 + _SWING * rng.standard_normal(len(q)))
    now, then = (
        rig.push_forward(moment, rig.rest + basis.lift(coordinates))
        for moment, coordinates in ((here, q), (before, earlier))
    )
    A, t = rig.frames(after)
    ahead = np.einsum("vij,vj->vi", A, rig.rest + basis.lift(2.0 * q - earlier)) + t
    return np.asarray(np.einsum("vji,vj->vi", A, 2.0 * now - then - ahead))


class _VertexMaps:
    """m_v U_v, in the energy norm."""

    def __init__(self, basis: Basis) -> None:
        columns = basis.metric[:, None] * basis.columns * energy_scales(basis)
        self._columns = columns.reshape(len(basis.mass), 3, basis.rank)
        self.count, self.width = len(basis.mass), basis.rank

    def of(self, who: slice | IntArray) -> FloatArray:
        """(k, 3, r)"""
        return self._columns[who]


class _VertexFields:
    """Fields kept in memory, 12 bytes a vertex and sample."""

    def __init__(self, fields: NDArray[np.float32]) -> None:
        self._fields = fields
        self.count = int(fields.shape[2])

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """(k, 3, t)"""
        return self._fields[who][:, :, samples]
