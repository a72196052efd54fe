"""Materials as plain frozen values: parameters in SI units, checked, with their compiled point functions."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import check_keywords, check_number
from supple.errors import MaterialError
from supple.material import batch
from supple.material.response import Response

__all__ = ["ElasticMaterial", "Material", "lame"]

FloatArray = NDArray[np.float64]
_STIFFNESS = ("young", "shear", "density")  #: one of these is the example in a message


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Shear modulus μ and Lamé's λ [Pa] of Young's modulus [Pa] and Poisson's ratio."""
    return young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


@dataclass(frozen=True, kw_only=True)
class Material(ABC):
    """What every material answers; F has shape (..., 3, 3). Parameters are keywords."""

    density: float = 1000.0
    """Mass per volume at rest [kg/m³]."""

    def __new__(cls, *args: object, **parameters: object) -> Self:
        example = next(f"{item.name}={item.default:.0e}" for item in reversed(fields(cls)) if item.name in _STIFFNESS)
        check_keywords(cls, args, parameters, example.replace("e+0", "e"))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        self._check("density", "kg/m³", "About 1000 for soft tissue.", above=0.0)

    def _check(self, name: str, unit: str, remedy: str, *, above: float, below: float | None = None) -> None:
        """Refuse a parameter outside its range."""
        where = f"{type(self).__name__}({name})"
        value = getattr(self, name)
        check_number(value, where, above=above, below=below, unit=unit, remedy=remedy, error=MaterialError)

    @property
    @abstractmethod
    def mu(self) -> float:
        """Shear modulus at rest [Pa]."""

    @property
    @abstractmethod
    def lam(self) -> float:
        """Lamé's first modulus at rest [Pa]."""

    @property
    @abstractmethod
    def moduli(self) -> tuple[float, float, float]:
        """The three numbers the point functions take."""

    @property
    @abstractmethod
    def response(self) -> Response:
        """The compiled point functions."""

    @property
    def wave_speed(self) -> float:
        """Speed of pressure waves at rest [m/s]."""
        return math.sqrt((self.lam + 2.0 * self.mu) / self.density)

    def psi(self, F: ArrayLike) -> FloatArray:
        """Energy density [J/m³], shape (...)."""
        return batch.psi_at(self.response, F, self.moduli)

    def stress(self, F: ArrayLike) -> FloatArray:
        """First Piola–Kirchhoff stress [Pa], shape (..., 3, 3)."""
        return batch.stress_at(self.response, F, self.moduli)

    def hessian(self, F: ArrayLike, *, project: bool = False) -> FloatArray:
        """Derivative of the stress by F [Pa], shape (..., 3, 3, 3, 3); `project` clamps its eigenvalues at zero."""
        return batch.hessian_at(self.response, F, self.moduli, project)

    def curvature(self, F: ArrayLike, A: ArrayLike, B: ArrayLike) -> FloatArray:
        """Second derivative of the stress along A and B [Pa], shape (..., 3, 3)."""
        return batch.curvature_at(self.response, F, A, B, self.moduli)


@dataclass(frozen=True, kw_only=True)
class ElasticMaterial(Material):
    """A material given by Young's modulus and Poisson's ratio."""

    young: float = 1e5
    """Young's modulus [Pa]."""
    poisson: float = 0.4
    """Poisson's ratio, -1 < ν < 0.5."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("young", "Pa", "About 1e5 for soft tissue.", above=0.0)
        self._check("poisson", "", "Use 0.45 for nearly incompressible tissue.", above=-1.0, below=0.5)

    @property
    def mu(self) -> float:
        return lame(self.young, self.poisson)[0]

    @property
    def lam(self) -> float:
        return lame(self.young, self.poisson)[1]

    @property
    def moduli(self) -> tuple[float, float, float]:
        return self.mu, self.lam, 0.0
