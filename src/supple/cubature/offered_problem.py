"""The training problem of a large body's elastic forces: some elements are candidates, the target is what all answer.

What all elements answer is one force a sample over the whole body; what a candidate answers is evaluated for those on
offer alone, when they are looked at, so that a training costs little more on a large mesh than on a small one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import energy_scales, still_force
from supple.cubature.problem import IntArray
from supple.cubature.product_problem import ProductProblem
from supple.cubature.skinned_problem import CornerForces
from supple.cubature.skinned_samples import SkinnedSamples
from supple.elastic import Body, elastic_gradient
from supple.linalg.turns import turn, turn_back
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["offered_problem", "offered_skinned_problem"]

FloatArray = NDArray[np.float64]
_BLOCK = 256  # elements that are evaluated at a time, so that they stay in the cache


def offered_problem(
    body: Body, elements: ElementMap, basis: Basis, fields: FloatArray, who: IntArray
) -> ProductProblem:
    """Forces at displacements (3 n, T) [m], of the elements `who` (ascending) on offer."""
    rest, scales, T = body.mesh.vertices, energy_scales(basis), fields.shape[1]
    fields = np.ascontiguousarray(fields)
    forces = np.stack([elastic_gradient(body.parts, rest + u.reshape(-1, 3)).ravel() for u in fields.T], axis=1)
    maps = _Maps((len(who), 9, basis.rank), np.float64, lambda k: elements.gradients(basis.columns, who[k]) * scales)
    values = _Values(
        (len(who), 9, T), np.float32, lambda k: elements.stresses(elements.gradients(fields, who[k]), who[k])
    )
    return ProductProblem(maps, values, still_force(body, basis), (basis.columns.T @ forces).T * scales)


def offered_skinned_problem(
    body: Body, rig: SkinnedRig, elements: ElementMap, basis: Basis, samples: SkinnedSamples, who: IntArray
) -> ProductProblem:
    """Forces before skinning at samples of a basis, of the elements `who` (ascending) on offer."""
    scales, pulled = energy_scales(basis), np.empty((samples.count, len(basis.columns)))
    lifted = (basis.columns @ samples.coordinates).T
    for k, number in enumerate(samples.which):
        A, t = rig.frames(samples.poses[number])
        x = turn(A, rig.rest + lifted[k].reshape(-1, 3)) + t
        pulled[k] = turn_back(A, elastic_gradient(body.parts, x)).ravel()
    total = scales * (pulled @ basis.columns)
    columns = basis.columns.reshape(len(basis.mass), 3, basis.rank)
    corners = CornerForces(elements, rig, basis, samples)
    maps = _Maps(
        (len(who), 12, basis.rank), np.float64,
        lambda k: columns[elements.tets[who[k]]].reshape(-1, 12, basis.rank) * scales,
    )  # fmt: skip
    values = _Values((len(who), 12, samples.count), np.float32, lambda k: corners.at(who[k], slice(None)))
    return ProductProblem(maps, values, total=total)


class _Lazy:
    """What there is of every element on offer, made when it is first asked for: most are never looked at."""

    def __init__(self, shape: tuple[int, int, int], kind: type, make: Callable[[IntArray], NDArray[Any]]) -> None:
        self._rows: NDArray[Any] = np.empty(shape, kind)
        self._made, self._make = np.zeros(shape[0], bool), make

    def _of(self, who: slice | IntArray) -> NDArray[Any]:
        numbers = np.arange(len(self._made))[who]
        new = numbers[~self._made[numbers]]
        for block in blocks(len(new), _BLOCK):
            self._rows[new[block]] = self._make(new[block])
        self._made[new] = True
        return self._rows[who]


class _Maps(_Lazy):
    """Maps of elements."""

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self._made)

    @property
    def width(self) -> int:
        """Numbers in the answer to a sample."""
        return int(self._rows.shape[2])

    def of(self, who: slice | IntArray) -> FloatArray:
        """(k, d, r)"""
        return self._of(who)


class _Values(_Lazy):
    """What samples give elements."""

    @property
    def count(self) -> int:
        """Number of samples."""
        return int(self._rows.shape[2])

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """(k, d, t)"""
        return self._of(who)[:, :, samples]
