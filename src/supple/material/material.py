"""Materials as plain frozen values: parameters in SI units, checked, with their compiled point functions."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import MaterialError
from supple.material import batch
from supple.material.response import Response

__all__ = ["ElasticMaterial", "Material", "lame", "require_finite"]

FloatArray = NDArray[np.float64]


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Shear modulus μ and Lamé's λ [Pa] of Young's modulus [Pa] and Poisson's ratio."""
    return young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


def require_finite(material: "Material", *names: str) -> None:
    """Refuse parameters that are not finite numbers."""
    for name in names:
        value = getattr(material, name)
        if not math.isfinite(value):
            raise MaterialError(f"{name} = {value} is not a number a material can have: give a finite value.")


@dataclass(frozen=True)
class Material(ABC):
    """What every material answers; F has shape (..., 3, 3)."""

    density: float = 1000.0
    """Mass per volume at rest [kg/m³]."""

    def __post_init__(self) -> None:
        require_finite(self, "density")
        if self.density <= 0:
            raise MaterialError(
                f"density = {self.density:g} kg/m³ is not positive: give a mass per volume, about 1000 for flesh."
            )

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


@dataclass(frozen=True)
class ElasticMaterial(Material):
    """A material given by Young's modulus and Poisson's ratio."""

    young: float = 1e5
    """Young's modulus [Pa]."""
    poisson: float = 0.4
    """Poisson's ratio, -1 < ν < 0.5."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_finite(self, "young", "poisson")
        if self.young <= 0:
            raise MaterialError(f"young = {self.young:g} Pa is not positive: give a stiffness, about 1e5 for flesh.")
        if not -1.0 < self.poisson < 0.5:
            raise MaterialError(
                f"poisson = {self.poisson:g} lies outside -1 < ν < 0.5: use 0.45 for nearly incompressible flesh."
            )

    @property
    def mu(self) -> float:
        return lame(self.young, self.poisson)[0]

    @property
    def lam(self) -> float:
        return lame(self.young, self.poisson)[1]

    @property
    def moduli(self) -> tuple[float, float, float]:
        return self.mu, self.lam, 0.0
