"""The training problem of a large body's elastic forces: some elements are candidates, the target is what all answer.

What all elements answer is one force a sample over the whole body; what a candidate answers is evaluated for those on
offer alone, so that a training costs little more on a large mesh than on a small one.
"""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import energy_scales, still_force
from supple.cubature.problem import IntArray
from supple.cubature.product_problem import ProductProblem
from supple.cubature.skinned_problem import RecordedForces
from supple.cubature.skinned_samples import SkinnedSamples
from supple.elastic import Body, elastic_gradient
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["offered_problem", "offered_skinned_problem"]

FloatArray = NDArray[np.float64]


def offered_problem(
    body: Body, elements: ElementMap, basis: Basis, fields: FloatArray, who: IntArray
) -> ProductProblem:
    """Forces at displacements (3 n, T) [m], of the elements `who` (ascending) on offer."""
    rest, values = body.mesh.vertices, np.empty((len(who), 9, fields.shape[1]), np.float32)
    values[:] = elements.stresses(elements.gradients(fields, who), who)
    forces = np.stack([elastic_gradient(body.parts, rest + u.reshape(-1, 3)).ravel() for u in fields.T], axis=1)
    scales = energy_scales(basis)
    maps = _Kept(elements.gradients(basis.columns, who) * scales)
    return ProductProblem(maps, RecordedForces(values), still_force(body, basis), (basis.columns.T @ forces).T * scales)


def offered_skinned_problem(
    body: Body, rig: SkinnedRig, elements: ElementMap, basis: Basis, samples: SkinnedSamples, who: IntArray
) -> ProductProblem:
    """Forces before skinning at samples of a basis, of the elements `who` (ascending) on offer."""
    scales, total = energy_scales(basis), np.empty((samples.count, basis.rank))
    for k, (number, q) in enumerate(zip(samples.which, samples.coordinates.T, strict=True)):
        A, t = rig.frames(samples.poses[number])
        x = np.einsum("nij,nj->ni", A, rig.rest + basis.lift(q)) + t
        pulled = np.einsum("nji,nj->ni", A, elastic_gradient(body.parts, x))
        total[k] = scales * (basis.columns.T @ pulled.ravel())
    columns = basis.columns.reshape(len(basis.mass), 3, basis.rank)
    maps = _Kept(columns[elements.tets[who]].reshape(len(who), 12, basis.rank) * scales)
    return ProductProblem(maps, RecordedForces.sampled(rig, basis, samples, elements, who), total=total)


class _Kept:
    """Maps kept in memory."""

    def __init__(self, maps: FloatArray) -> None:
        self._maps = maps
        self.count, self.width = len(maps), maps.shape[2]

    def of(self, who: slice | IntArray) -> FloatArray:
        """(k, d, r)"""
        return self._maps[who]
