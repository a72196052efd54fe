"""The scene file: every table and key that `supple run` understands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from supple.io.assembled import MOVE_SUFFIXES, RigFiles
from supple.io.bone_file import BONE_SUFFIXES
from supple.scene.body_table import BodyTable
from supple.scene.collider import ColliderTable
from supple.scene.contact import ContactTable
from supple.scene.force import Force
from supple.scene.material import MaterialTable
from supple.scene.mesh_table import MeshTable
from supple.scene.method_table import PROJECTIVE, MethodName, MethodTable
from supple.scene.motion_table import MotionTable
from supple.scene.output_table import OutputTable
from supple.scene.paint_table import PaintTable
from supple.scene.pin import Pin
from supple.scene.rig_table import WEIGHTS, RigTable
from supple.scene.section import Section, Unit
from supple.scene.shell_table import ShellTable, SkinTable, VolumeTable
from supple.scene.start_table import StartTable
from supple.scene.tie_table import ExamplesTable, SpringTable, StrainTable
from supple.scene.time_table import TimeTable
from supple.scene.training_table import TrainingTable
from supple.scene.units import UNITS, UNITS_RULE

__all__ = ["EARTH", "Scene"]

EARTH = 9.81


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _gravity(value: object) -> object:
    """The switch as it is, a list as a vector."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and len(value) == 3 and all(_is_finite(x) for x in value):
        return tuple(value)
    raise ValueError("must be true, false or three finite numbers [m/s²], such as [0.0, -9.81, 0.0]")


class Scene(Section):
    """A whole scene."""

    units: Literal["m", "dm", "cm", "mm", "um", "km", "in", "ft"] = Field(default="m", description=UNITS_RULE)
    up_axis: Literal["y", "z"] = Field(default="y", description="which axis of the scene points up")
    gravity: Annotated[bool | tuple[float, float, float], BeforeValidator(_gravity), Unit("m/s²")] = Field(
        default=True, description="true: 9.81 down the up axis; false: none; or a vector"
    )
    time: TimeTable = Field(default=TimeTable(), description="how long and how finely")
    mesh: MeshTable = Field(description="a file or a built-in shape")
    body: list[BodyTable] = Field(
        default_factory=list, min_length=1, description="several bodies instead of one, each with tables of its own"
    )
    paint: list[PaintTable] = Field(
        default_factory=list, description="maps painted over a surface, for selections and materials"
    )
    material: MaterialTable = Field(default=MaterialTable(), description="the body's material")
    shell: ShellTable | None = Field(
        default=None, description="the mesh's surface as a body without inside (projective, hyperreduced)"
    )
    skin: SkinTable | None = Field(
        default=None, description="a layer over the tetrahedra's surface (projective, hyperreduced)"
    )
    volume: VolumeTable | None = Field(
        default=None, description="a volume that tetrahedra aim at (projective, hyperreduced)"
    )
    spring: list[SpringTable] = Field(
        default_factory=list, description="springs between vertices (projective, hyperreduced)"
    )
    strain: StrainTable | None = Field(
        default=None, description="stretches beyond which tetrahedra resist harder (projective, hyperreduced)"
    )
    examples: ExamplesTable | None = Field(
        default=None, description="shapes that the body likes as its own (projective, hyperreduced)"
    )
    pin: list[Pin] = Field(default_factory=list, description="held or moved vertices")
    rig: RigTable | None = Field(default=None, description="bones that move the body; without it there are none")
    motion: MotionTable | None = Field(
        default=None, description="what the rig does; without it, what came with its skeleton"
    )
    force: list[Force] = Field(default_factory=list, description="loads besides gravity")
    collider: list[ColliderTable] = Field(default_factory=list, description="rigid things that the body stops at")
    contact: ContactTable | None = Field(
        default=None, description="what touches what; without it, and without colliders, nothing does"
    )
    start: StartTable = Field(default=StartTable(), description="how the body moves at the start")
    method: MethodTable = Field(default=MethodTable(), description="how a step is solved")
    training: TrainingTable = Field(default=TrainingTable(), description="what a reduced model learns from")
    output: OutputTable = Field(default=OutputTable(), description="what is written")

    @model_validator(mode="before")
    @classmethod
    def _bodies_have_meshes(cls, data: object) -> object:
        """The scene with the first body's mesh where it names none for all, so that it is a scene without them, too."""
        bodies = data.get("body") if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(bodies, list | tuple) or not bodies:
            return data
        shared = data.get("mesh", {})
        if not isinstance(shared, Mapping) or {"file", "shape"} & set(shared):
            return data
        meshes = [body.get("mesh") if isinstance(body, Mapping) else None for body in bodies]
        if None in meshes:
            raise ValueError(f"has no mesh for body[{meshes.index(None)}]: add [body.mesh], or a [mesh] for all bodies")
        return {**data, "mesh": meshes[0]}

    @model_validator(mode="after")
    def _bodies_have_names(self) -> Scene:
        names = [body.name for body in self.body]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f'has two bodies of the name "{twice}": give each its own')
        return self

    @model_validator(mode="after")
    def _gravity_is_said_once(self) -> Scene:
        steady = "gravity" in self.model_fields_set and (
            any(self.gravity) if isinstance(self.gravity, tuple) else self.gravity
        )
        if steady and any(force.kind == "gravity" for force in self.force):
            raise ValueError('has both gravity and a [[force]] of kind "gravity": keep one of them')
        return self

    @model_validator(mode="after")
    def _motion_has_a_rig(self) -> Scene:
        if self.motion is not None and self.rig is None:
            raise ValueError("has [motion] but nothing that it moves: add [rig]")
        return self

    @model_validator(mode="after")
    def _domains_have_bones(self) -> Scene:
        if self.training.domains == "bones" and self.rig is None:
            raise ValueError('has training.domains = "bones" but no bones: add [rig], or remove it')
        return self

    @property
    def metres(self) -> float:
        """Size of one scene unit [m]."""
        return UNITS[self.units]

    def own_ties(self) -> list[str]:
        """The tables that only projective dynamics knows, by name."""
        tables = ("shell", "skin", "volume", "strain", "examples")
        return [f"[{name}]" for name in tables if getattr(self, name) is not None] + ["[[spring]]"] * bool(self.spring)

    def touching(self) -> ContactTable | None:
        """The contact table that counts; None where nothing touches anything."""
        table = self.contact or (ContactTable() if self.collider else None)
        if table is None or self.shell is None:
            return table
        return table.model_copy(update={"self_": False})  # which only bodies with an inside can touch

    def acceleration(self) -> tuple[float, float, float] | None:
        """Steady gravity [m/s²], or None when it is off or given as a force."""
        if self.gravity is False or any(force.kind == "gravity" for force in self.force):
            return None
        if self.gravity is True:
            return (0.0, -EARTH, 0.0) if self.up_axis == "y" else (0.0, 0.0, -EARTH)
        return self.gravity

    def rig_files(self) -> RigFiles | None:
        """Skeleton, weights and motion that make the mesh a character, where they are in files of such kinds."""
        rig, motion = self.rig, None if self.motion is None else self.motion.file
        if rig is None or rig.skeleton is None or Path(rig.skeleton).suffix.lower() not in BONE_SUFFIXES:
            return None
        weights = None if rig.weights in WEIGHTS else Path(rig.weights)
        moves = None if motion is None or Path(motion).suffix.lower() not in MOVE_SUFFIXES else Path(motion)
        return RigFiles(Path(rig.skeleton), weights, moves)

    @property
    def subspace_method(self) -> MethodName:
        """The method in a subspace that suits the scene: its own, if that is one."""
        if self.method.name != "full":
            return self.method.name
        return "posespace" if self.rig is not None and self.rig.rest == "posed" else "reduced"

    def under(self, method: MethodName) -> Scene:
        """The same scene under another method; what means other things there is left behind: tolerance, radius, and the
        most iterations where these are Newton's in one of the two."""
        if method == self.method.name and not any(body.method for body in self.body):
            return self
        residual = self.method.newton_tolerance or (self.method.tolerance if self.method.name == "full" else None)
        kept = {"name": method, "tolerance": None, "radius": None, "newton_tolerance": residual}
        if (method in PROJECTIVE) != self.method.is_projective:
            kept["max_iterations"] = None
        bodies = [body.model_copy(update={"method": None}) for body in self.body]
        return self.model_copy(update={"method": self.method.model_copy(update=kept), "body": bodies})

    def keys(self) -> dict[str, Any]:
        """The scene as the tables and keys that differ from the defaults."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
