"""The `[material]` table: elasticity, density and damping, for the whole body and by region."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from supple.errors import SceneError
from supple.material import MATERIALS, PRESETS, Material
from supple.scene.paint_table import PaintedTable
from supple.scene.pose_table import PoseTable
from supple.scene.section import FILE, LENGTH, Section, Unit
from supple.scene.select import Select

__all__ = ["MaterialTable", "Model", "PoseMaterialTable", "RegionTable", "describe_material", "make_material"]

Model = Literal["linear", "stvk", "corotational", "neo_hookean", "stable_neo_hookean", "arruda_boyce"]
ELASTIC = ("young", "poisson")
CHAINS = ("shear", "segments", "bulk")
DEFAULTS: Mapping[str, Any] = {"young": 1e5, "poisson": 0.4, "density": 1000.0}


class _MaterialKeys(Section):
    """What a material is made of; a key left out is inherited."""

    aliases: ClassVar[Mapping[str, str]] = {"E": "young", "nu": "poisson", "rho": "density"}
    model: Model | None = Field(
        default=None,
        description='energy density (default "stable_neo_hookean"; "corotational" for projective and hyperreduced)',
    )
    preset: str | None = Field(default=None, description="a measured material that gives young, poisson and density")
    young: Annotated[float | None, Unit("Pa")] = Field(default=None, gt=0, description="Young's modulus (default 1e5)")
    poisson: float | None = Field(default=None, gt=-1, lt=0.5, description="Poisson's ratio, below 0.5 (default 0.4)")
    density: Annotated[float | None, Unit("kg/m³")] = Field(
        default=None, gt=0, description="mass density (default 1000)"
    )
    shear: Annotated[float | None, Unit("Pa")] = Field(default=None, gt=0, description="arruda_boyce: shear modulus μ")
    segments: float | None = Field(default=None, gt=0, description="arruda_boyce: links of a chain, N")
    bulk: Annotated[float | None, Unit("Pa")] = Field(default=None, gt=0, description="arruda_boyce: bulk modulus k")

    @field_validator("preset")
    @classmethod
    def _preset_exists(cls, name: str | None) -> str | None:
        if name is not None and name not in PRESETS:
            near = difflib.get_close_matches(name, PRESETS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(PRESETS)}"
            raise ValueError(f"is no known material: {hint}")
        return name

    @model_validator(mode="after")
    def _keys_fit_the_model(self) -> _MaterialKeys:
        unfit = ELASTIC if self.model == "arruda_boyce" else CHAINS if self.model is not None else ()
        for key in unfit:
            if getattr(self, key) is not None:
                wanted = CHAINS if self.model == "arruda_boyce" else ELASTIC
                raise ValueError(f'gives {key}, but "{self.model}" takes {", ".join(wanted)}: remove {key}')
        if self.model == "arruda_boyce" and self.preset is not None:
            raise ValueError(f'gives preset, but "{self.model}" takes {", ".join(CHAINS)}: remove preset')
        return self


class RegionTable(_MaterialKeys):
    """What differs in one part of the body."""

    select: Select | None = Field(
        default=None,
        description="tetrahedra, by centroid (default: the region of the mesh with the name or number NAME)",
    )


class PoseMaterialTable(Section):
    """How stiff flesh is in one pose; towards the other poses of such tables, and the neutral one, that fades."""

    pose: PoseTable = Field(description="the pose: a name, or { elbow = [0, 0, 90] }")
    stiffness: float = Field(default=1.0, gt=0, description="times the stiffness of the material")
    select: Select | None = Field(default=None, description="tetrahedra, by centroid (default: all)")
    bone: str | None = Field(default=None, description="the flesh around this bone instead")
    paint: Annotated[str | None, FILE] = Field(
        default=None,
        description="an .npz file with `stiffness` instead, a factor for every vertex of the mesh, of its surface or "
        "of the drawn surface",
    )
    smooth: Annotated[float | None, LENGTH] = Field(
        default=None,
        ge=0,
        description="over how far the stiffness changes at the edge (default: not at all; 0.02 of the body for paint)",
    )

    @model_validator(mode="after")
    def _is_one_place(self) -> PoseMaterialTable:
        given = [key for key in ("select", "bone", "paint") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"has both {given[0]} and {given[1]}: keep one of them")
        if not given and "stiffness" not in self.model_fields_set:
            raise ValueError("has no stiffness: give a factor, or a file of them as `paint`")
        if self.paint is not None and self.smooth == 0.0:
            raise ValueError("has paint that may not run, so it would not get below the surface: give smooth above 0")
        return self


class MaterialTable(_MaterialKeys):
    """The whole body's material."""

    damping_mass: Annotated[float, Unit("1/s")] = Field(
        default=0.0, ge=0, description="Rayleigh damping, times the mass matrix"
    )
    damping_stiffness: Annotated[float, Unit("s")] = Field(
        default=0.0, ge=0, description="Rayleigh damping, times the stiffness matrix"
    )
    regions: dict[str, RegionTable] = Field(
        default_factory=dict, description="parts of another material; where they overlap, the last one counts"
    )
    painted: list[PaintedTable] = Field(
        default_factory=list, description="paints that make it stiffer, softer, heavier or lighter; they multiply"
    )
    pose: list[PoseMaterialTable] = Field(
        default_factory=list, description="poses in which flesh is stiffer or softer (full, posespace)"
    )


def describe_material(material: Material) -> str:
    """The material in words: model, moduli, density."""
    model = next(name for name, kind in MATERIALS.items() if type(material) is kind)
    units = {"young": " Pa", "shear": " Pa", "bulk": " Pa", "density": " kg/m³"}
    values = (
        f"{field.name} {getattr(material, field.name):g}{units.get(field.name, '')}" for field in fields(material)
    )
    return f"{model}, {', '.join(values)}"


def make_material(*layers: _MaterialKeys, model: Model = "stable_neo_hookean") -> Material:
    """The material that these tables describe together, a later one overriding an earlier one.

    Where none names one, it is of the given `model`.
    """
    values = {**DEFAULTS, "model": model}
    for layer in layers:
        if layer.preset is not None:
            preset = PRESETS[layer.preset]
            values |= {key: getattr(preset, key) for key in (*ELASTIC, "density")}
        if layer.model is not None and layer.model != "arruda_boyce":
            values = {key: value for key, value in values.items() if key not in CHAINS}  # of a model given up here
        for key in ("model", *ELASTIC, "density", *CHAINS):
            if getattr(layer, key) is not None:
                values[key] = getattr(layer, key)
    stray = [key for key in CHAINS if key in values and values["model"] != "arruda_boyce"]
    if stray:
        raise SceneError(
            f'material.{stray[0]} belongs to model = "arruda_boyce": name that model or remove {stray[0]}.'
        )
    kind: type[Material] = MATERIALS[values["model"]]
    own = CHAINS if values["model"] == "arruda_boyce" else ELASTIC
    return kind(**{key: values[key] for key in (*own, "density") if key in values})
