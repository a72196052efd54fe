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
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["RecordedForces", "recorded_problem", "skinned_problem"]

FloatArray = NDArray[np.float64]


def skinned_problem(body: Body, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples) -> ProductProblem:
    """Pulled-back forces of samples in the energy norm of a diagonalised basis."""
    elements = ElementMap(body)
    return ProductProblem(_CornerMaps(elements, basis), _CornerForces(elements, rig, basis, samples))


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
        return cls.sampled(body, rig, alone, sample)

    @classmethod
    def sampled(cls, body: Body, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples) -> "RecordedForces":
        """Those of samples in the coordinates of a basis."""
        return cls(_CornerForces(ElementMap(body), rig, basis, samples).at(slice(None), slice(None)))

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


class _CornerForces:
    """A_cᵀ f_c of elements' corners [N], evaluated when asked for."""

    def __init__(self, elements: ElementMap, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples) -> None:
        self._elements, self._rig, self._samples = elements, rig, samples
        self._columns = basis.columns.reshape(len(basis.mass), 3, basis.rank)
        self.count = samples.count

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """(k, 12, t)"""
        elements, numbers = self._elements, np.arange(self.count)[samples]
        vertices, corners = np.unique(elements.tets[who], return_inverse=True)
        corners = corners.reshape(-1, 4)
        hats = hat_gradients(elements.inverse[who])
        which, coordinates = self._samples.which[numbers], self._samples.coordinates[:, numbers]
        U, X = self._columns[vertices], self._rig.rest[vertices]
        out = np.empty((len(corners), 4, 3, len(numbers)), np.float32)
        for pose in np.unique(which):
            own = np.flatnonzero(which == pose)
            A, t = self._rig.frames(self._samples.poses[pose], vertices)
            points = X[:, :, None] + U @ coordinates[:, own]
            x = A @ points + t[:, :, None]
            edges = x[corners[:, 1:]] - x[corners[:, :1]]
            F = np.einsum("ecit,ecj->eijt", edges, hats[:, 1:], optimize=True).reshape(len(corners), 9, len(own))
            P = elements.stresses(F - np.eye(3).reshape(9, 1), who).reshape(len(corners), 3, 3, len(own))
            forces = np.einsum("eijt,ecj->ecit", P, hats, optimize=True)
            out[..., own] = np.einsum("ecij,ecit->ecjt", A[corners], forces, optimize=True)
        return out.reshape(len(corners), 12, len(numbers))
