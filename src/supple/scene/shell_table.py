"""The `[shell]`, `[skin]` and `[volume]` tables: what bodies of projective dynamics are made of besides tetrahedra."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from supple.constraint import Shell
from supple.material import Material
from supple.scene.motion import check_times, interpolate
from supple.scene.section import LENGTH, Section, Unit
from supple.scene.select import Select

__all__ = ["ShellTable", "SkinTable", "VolumeKey", "VolumeTable"]


def _range(value: object) -> object:
    """A list of two numbers as a range."""
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = value
        if all(isinstance(end, int | float) and not isinstance(end, bool) for end in value) and 0 <= low <= high:
            return float(low), float(high)
    raise ValueError("must be two numbers, the smaller first and not below 0, such as [0.9, 1.1]")


Range = Annotated[tuple[float, float], BeforeValidator(_range)]


class SkinTable(Section):
    """A thin layer over the surface of the tetrahedra, which stretches and bends with it."""

    thickness: Annotated[float, LENGTH] = Field(gt=0, description="of the layer")
    young: Annotated[float | None, Unit("Pa")] = Field(
        default=None, gt=0, description="Young's modulus (default: that of `[material]`)"
    )
    poisson: float | None = Field(
        default=None, gt=-1, lt=0.5, description="Poisson's ratio (default: that of `[material]`)"
    )
    density: Annotated[float | None, Unit("kg/m³")] = Field(
        default=None, gt=0, description="mass density (default: that of `[material]`)"
    )
    limits: Range | None = Field(
        default=None, description="stretches between which it is slack, such as [0.9, 1.1] (default: it never is)"
    )

    def make(self, material: Material) -> Shell:
        """What the layer is made of, in metres; what the table leaves out is that of a material."""
        mu, lam = material.mu, material.lam
        young = mu * (3.0 * lam + 2.0 * mu) / (lam + mu) if self.young is None else self.young
        poisson = lam / (2.0 * (lam + mu)) if self.poisson is None else self.poisson
        density = material.density if self.density is None else self.density
        return Shell(young, poisson, self.thickness, density, self.limits)


class ShellTable(SkinTable):
    """The surface of the mesh as a body without inside: cloth, a glove, a hat."""

    open: Select | None = Field(
        default=None, description='part of the surface that is left out, such as "min y 10%" for the wrist of a glove'
    )


class VolumeKey(Section):
    """What volume is aimed at, at one time."""

    t: Annotated[float, Unit("s")] = Field(description="time of the key")
    factor: float = Field(gt=0, description="target volume, times that of the rest shape")


class VolumeTable(Section):
    """A volume that every tetrahedron aims at; keys blow a balloon up."""

    bulk: Annotated[float | None, Unit("Pa")] = Field(
        default=None, gt=0, description="how hard it aims, a bulk modulus (default: ten times the material's own)"
    )
    limits: Range = Field(default=(1.0, 1.0), description="volumes, times the target, between which nothing resists")
    keys: list[VolumeKey] | None = Field(
        default=None, description="the target in time: { t, factor }, straight between keys (default: 1)"
    )

    @model_validator(mode="after")
    def _times_increase(self) -> VolumeTable:
        if self.keys is not None:
            check_times([key.t for key in self.keys])
        return self

    def factor(self, time: float) -> float:
        """The target at `time` [s], times the volume at rest."""
        if self.keys is None:
            return 1.0
        return float(interpolate([key.t for key in self.keys], [(key.factor,) for key in self.keys], time)[0])
