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

__all__ = ["skinned_problem"]

FloatArray = NDArray[np.float64]


def skinned_problem(body: Body, rig: SkinnedRig, basis: Basis, samples: SkinnedSamples) -> ProductProblem:
    """Pulled-back forces of samples in the energy norm of a diagonalised basis."""
    elements = ElementMap(body)
    return ProductProblem(_CornerMaps(elements, basis), _CornerForces(elements, rig, basis, samples))


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
