"""Elastic energy and volume ratios of a body in small spaces, from the constraints that its solver evaluates."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import Constraint
from supple.method.hyperreduced.model import HyperReducedModel, Projections
from supple.method.measured import VolumeCheck, check_volumes
from supple.subspace.rotation_clusters import RotationClusters

__all__ = ["SampledEnergy"]

FloatArray = NDArray[np.float64]


class _Kind(NamedTuple):
    """One type of constraint at its samples."""

    constraint: Constraint
    members: NDArray[np.integer]
    seen: sp.csr_array
    """S U of the samples, (s p, c)."""
    weight: FloatArray
    """What each sample stands for, (s,)."""
    rest: sp.csr_array | None
    """What resists within clusters [N/m], (c, c); None where samples stand for all."""


class SampledEnergy:
    """Energy and volumes at coordinates (c, 3)."""

    def __init__(self, model: HyperReducedModel) -> None:
        self._kinds = [_sample(fit, model.positions.columns) for fit in model.fits]

    def energy(self, q: FloatArray, volume: float) -> float:
        """Elastic energy [J] for a target volume, times the one that constraints were made with."""
        total = 0.0
        for kind in self._kinds:
            constraint = kind.constraint if volume == 1.0 else kind.constraint.inflated(volume)
            total += 0.5 * float(kind.weight @ constraint.distances_of(kind.seen @ q, kind.members))
            if kind.rest is not None:
                total += 0.5 * float(np.vdot(q, kind.rest @ q))
        return total

    def volumes(self, q: FloatArray) -> VolumeCheck | None:
        """Volume ratios of the samples that are tets, or clusters of tets."""
        solid = [kind for kind in self._kinds if kind.constraint.stencils.rows == 3]
        F = [(kind.seen @ q).reshape(-1, 3, 3) for kind in solid]
        return check_volumes(np.linalg.det(np.concatenate(F)) if F else np.zeros(0))


def _sample(fit: Projections, columns: int) -> _Kind:
    constraint, members = fit.constraint, np.asarray(fit.members)
    seen = fit.seen.matrix(columns)
    weight = constraint.weight[members]
    if isinstance(fit, RotationClusters):  # a mean value a cluster; the constant matrix holds what differs from it
        rows = constraint.stencils.rows
        mean = seen.T @ sp.diags_array(np.repeat(weight, rows)) @ seen
        return _Kind(constraint, members, seen, weight, sp.csr_array(fit.stiffness - mean))
    return _Kind(constraint, members, seen, weight * (constraint.weight.sum() / weight.sum()), None)
