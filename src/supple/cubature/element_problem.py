"""The training problem of elastic forces: candidates are elements, a column is P_eᵀ G_e in the energy norm."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.problem import IntArray
from supple.cubature.product_problem import ProductProblem
from supple.elastic import Body
from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["ElementProblem", "Stresses", "energy_scales", "still_force"]

FloatArray = NDArray[np.float64]
_STILL = 1e-9  # strains up to this are none


class Stresses(Protocol):
    """Where the stresses of samples come from: kept in memory (Snapshots) or evaluated when asked for (Poses)."""

    @property
    def count(self) -> int:
        """Number of samples T."""
        ...

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """First Piola-Kirchhoff stresses times volumes [J] of some elements in some samples, (k, 9, t)."""
        ...


def energy_scales(basis: Basis) -> FloatArray:
    """(λ_i / λ_1)^-1/2, by which forces are multiplied so that their length is the root of an energy, (r,)."""
    values = basis.importance
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise TrainingError("a basis with rigid motions has no energy norm: diagonalise one without them.")
    return np.asarray(np.sqrt(values.min() / values))


def still_force(body: Body, basis: Basis) -> float:
    """The length in the energy norm of forces that are none: a share of those at strains about one, the root of twice
    μ V times λ_1."""
    energy = sum(part.material.mu * float(part.volume.sum()) for part in body.parts)
    return _STILL * float(np.sqrt(2.0 * energy * basis.importance.min()))


class ElementProblem(ProductProblem):
    """Reduced forces of samples in a diagonalised basis; columns are made when they are asked for."""

    def __init__(self, body: Body, basis: Basis, stresses: Stresses) -> None:
        super().__init__(_Gradients(body, basis), stresses, still_force(body, basis))


class _Gradients:
    """G_e in the energy norm."""

    def __init__(self, body: Body, basis: Basis) -> None:
        self._map, self._columns, self._scales = ElementMap(body), basis.columns, energy_scales(basis)
        self.count, self.width = self._map.count, basis.rank

    def of(self, who: slice | IntArray) -> FloatArray:
        """(k, 9, r)"""
        return self._map.gradients(self._columns, who) * self._scales
