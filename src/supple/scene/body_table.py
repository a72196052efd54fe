"""The `[[body]]` tables: what each of several bodies has for itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from supple.scene.contact import ContactTable
from supple.scene.force import Force
from supple.scene.material import MaterialTable
from supple.scene.mesh_table import MeshTable
from supple.scene.method_table import MethodTable
from supple.scene.motion_table import MotionTable
from supple.scene.paint_table import PaintTable
from supple.scene.pin import Pin
from supple.scene.rig_table import RigTable
from supple.scene.section import LENGTH, Section, Unit, Vec3
from supple.scene.shell_table import SkinTable, VolumeTable
from supple.scene.start_table import StartTable
from supple.scene.tie_table import ExamplesTable, SpringTable, StrainTable
from supple.scene.training_table import TrainingTable

__all__ = ["BodyTable"]

SHARED = ("units", "up_axis", "gravity", "time", "collider", "output")  #: what no body has for itself


class BodyTable(Section):
    """One of several bodies: tables as those of a scene with one, in a frame of its own; what it does not say, it has
    from the tables at the top.
    """

    name: str = Field(pattern=r"^[\w-]+$", description="letters, digits, - and _; results and files are called by it")
    at: Annotated[Vec3, LENGTH] = Field(default=(0.0, 0.0, 0.0), description="where the origin of its frame is put")
    rotate: Annotated[Vec3, Unit("degrees")] = Field(
        default=(0.0, 0.0, 0.0), description="its frame turned about x, then y, then z"
    )
    mesh: MeshTable | None = Field(default=None, description="a file or a built-in shape")
    paint: list[PaintTable] | None = Field(default=None, description="maps painted over its surface")
    material: MaterialTable | None = Field(default=None, description="its material")
    volume: VolumeTable | None = Field(default=None, description="a volume that its tetrahedra aim at")
    skin: SkinTable | None = Field(default=None, description="a layer over its surface")
    spring: list[SpringTable] | None = Field(default=None, description="springs between its vertices")
    strain: StrainTable | None = Field(default=None, description="stretches beyond which it resists harder")
    examples: ExamplesTable | None = Field(default=None, description="shapes that it likes as its own")
    pin: list[Pin] | None = Field(default=None, description="held or moved vertices, in its frame")
    rig: RigTable | None = Field(default=None, description="bones that move it")
    motion: MotionTable | None = Field(default=None, description="what the rig does")
    force: list[Force] | None = Field(default=None, description="loads besides gravity, in its frame")
    contact: ContactTable | None = Field(default=None, description="how it touches itself and colliders")
    start: StartTable | None = Field(default=None, description="how it moves at the start, in its frame")
    method: MethodTable | None = Field(default=None, description="how its steps are solved")
    training: TrainingTable | None = Field(default=None, description="what its reduced model learns from")

    @model_validator(mode="before")
    @classmethod
    def _leaves_what_is_shared(cls, data: object) -> object:
        for key in SHARED:
            if isinstance(data, Mapping) and key in data:
                raise ValueError(f"has {key}, which all bodies of a scene share: put it at the top")
        return data
