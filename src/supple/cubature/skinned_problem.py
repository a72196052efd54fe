"""The training problem of a skinned body's elastic forces: candidates are elements, pulled back by the skinning.

An element's reduced force is the sum of U_cᵀ A_cᵀ f_c over its corners: its rows of U times twelve numbers a sample.
"""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import energy_scales
from supple.cubature.problem import IntArray
from supple.cubature.product_problem import ProductProblem
from supple.cubature.skinned_elements import hat_gradients
from supple.cubature.skinned_samples import SkinnedSamples
from supple.elastic import Body
from supple.linalg.jit import njit
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["CornerForces", "RecordedForces", "recorded_problem", "skinned_problem"]

FloatArray = NDArray[np.float64]


def skinned_problem(body: Body, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples) -> ProductProblem:
    """Pulled-back forces of samples in the energy norm of a diagonalised basis."""
    elements = ElementMap(body)
    return ProductProblem(_CornerMaps(elements, basis), CornerForces(elements, rig, basis, samples))


class RecordedForces:
    """A_cᵀ f_c of all elements' corners [N], kept in memory: they depend on no basis."""

    def __init__(self, forces: NDArray[np.float32]) -> None:
        """(m, 12, T)"""
        self.forces, self.count = forces, forces.shape[2]

    @classmethod
    def of(cls, body: Body, rig: SkinnedRig, u: FloatArray, pose: FloatArray) -> "RecordedForces":
        """Those at a displacement [m], (n, 3), in a pose."""
        alone = Basis(u.reshape(-1, 1), body.mass, "a displacement", np.ones(1))
        sample = SkinnedSamples(pose[None], np.zeros(1, np.intp), np.ones((1, 1)))
        return cls.sampled(rig, alone, sample, ElementMap(body), slice(None))

    @classmethod
    def sampled(
        cls, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples, elements: ElementMap, who: slice | IntArray
    ) -> "RecordedForces":
        """Those of the elements `who` at samples in the coordinates of a basis."""
        return cls(CornerForces(elements, rig, basis, samples).at(who, slice(None)))

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """Of some elements in some samples, (k, 12, t)."""
        return self.forces[who][:, :, samples]


def recorded_problem(body: Body, basis: Basis, forces: RecordedForces) -> ProductProblem:
    """The training problem of forces that were recorded, in the energy norm of a basis."""
    return ProductProblem(_CornerMaps(ElementMap(body), basis), forces)


class _CornerMaps:
    """Rows of U at an element's corners, in the energy norm."""

    def __init__(self, elements: ElementMap, basis: Basis) -> None:
        self._tets = elements.tets
        self._columns = (basis.columns * energy_scales(basis)).reshape(len(basis.mass), 3, basis.rank)
        self.count, self.width = elements.count, basis.rank

    def of(self, who: slice | IntArray) -> FloatArray:
        """(k, 12, r)"""
        tets = self._tets[who]
        return self._columns[tets].reshape(len(tets), 12, self.width)


class CornerForces:
    """A_cᵀ f_c of elements' corners [N], evaluated when asked for."""

    def __init__(self, elements: ElementMap, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples) -> None:
        self._elements, self._rig, self._samples = elements, rig, samples
        self._columns = basis.columns.reshape(len(basis.mass), 3, basis.rank)
        self.count = samples.count
        placed = [rig.skeleton.transforms(pose) for pose in samples.poses]
        self._R, self._t = np.array([R for R, _ in placed]), np.array([t for _, t in placed])

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """(k, 12, t)"""
        elements, numbers = self._elements, np.arange(self.count)[samples]
        vertices, corners = np.unique(elements.tets[who], return_inverse=True)
        corners = corners.reshape(-1, 4)
        hats = hat_gradients(elements.inverse[who])
        poses, which = np.unique(self._samples.which[numbers], return_inverse=True)
        A, t = self._rig.frames_in(self._R[poses], self._t[poses], vertices)
        U = self._columns[vertices].reshape(3 * len(vertices), -1)
        moved = (U @ self._samples.coordinates[:, numbers]).T.reshape(len(numbers), len(vertices), 3)
        points = moved + self._rig.rest[vertices]
        F = np.empty((len(numbers), len(corners), 3, 3))
        _deform(A, t, which, points, corners, hats, F)
        out = np.empty((len(corners), 4, 3, len(numbers)), np.float32)
        _pull_back(A, which, corners, hats, elements.stresses_at(F, who), out)
        return out.reshape(len(corners), 12, len(numbers))


@njit(cache=True, fastmath={"contract"})
def _deform(A, t, which, points, corners, hats, out):
    """Deformation gradients (s, e, 3, 3) of elements whose corners are skinned by the frames of each sample's pose."""
    x = np.empty(points.shape[1:])
    for s in range(len(out)):
        p = which[s]
        for v in range(len(x)):
            for i in range(3):
                x[v, i] = t[p, v, i]
                for j in range(3):
                    x[v, i] += A[p, v, i, j] * points[s, v, j]
        for e in range(len(corners)):
            first = x[corners[e, 0]]
            for i in range(3):
                a = x[corners[e, 1], i] - first[i]
                b = x[corners[e, 2], i] - first[i]
                c = x[corners[e, 3], i] - first[i]
                for j in range(3):
                    out[s, e, i, j] = a * hats[e, 1, j] + b * hats[e, 2, j] + c * hats[e, 3, j]


@njit(cache=True, fastmath={"contract"})
def _pull_back(A, which, corners, hats, stress, out):
    """A_cᵀ f_c, (e, 4, 3, s), where f_c is the stress (s, e, 3, 3) times the gradient of the corner's hat."""
    force = np.empty(3)
    for s in range(len(stress)):
        p = which[s]
        for e in range(len(corners)):
            for c in range(4):
                turn = A[p, corners[e, c]]
                for i in range(3):
                    force[i] = 0.0
                    for j in range(3):
                        force[i] += stress[s, e, i, j] * hats[e, c, j]
                for j in range(3):
                    out[e, c, j, s] = turn[0, j] * force[0] + turn[1, j] * force[1] + turn[2, j] * force[2]
