"""The tables below `[rig]`: deformers, blend shapes and corrections."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from supple.scene.motion import Axis
from supple.scene.pose_table import PoseTable
from supple.scene.section import CODE, FILE, LENGTH, Section, Vec3

__all__ = ["BlendShapeTable", "CorrectionTable", "DeformerTable"]

#: Keys that belong to each kind, the needed ones first.
_NEEDED = {"bend": (), "twist": ("start", "end"), "wire": (), "function": ("file", "function", "controls")}
_ALLOWED = {"bend": ("start", "end", "about"), "twist": (), "wire": ("points", "inner", "outer"), "function": ()}


class DeformerTable(Section):
    """Something that moves all points of the body by a few channels, on top of bones and of deformers before it."""

    kind: Literal["bend", "twist", "wire", "function"] = Field(
        description="`bend` a stretch into an arc, `twist` it about itself, a `wire` that carries flesh along, or a "
        "Python `function`"
    )
    name: str | None = Field(default=None, description="name of its channel in keys (default: its kind)")
    start: Annotated[Vec3 | None, LENGTH] = Field(
        default=None, description="bend, twist: where the stretch begins; what lies before it stays"
    )
    end: Annotated[Vec3 | None, LENGTH] = Field(
        default=None, description="bend, twist: where it ends; what lies behind it follows"
    )
    about: Axis | None = Field(default=None, description="bend: the axis it turns about, across the stretch")
    points: Annotated[list[Vec3] | None, LENGTH] = Field(
        default=None, description="wire: its control points (default: the curves that came with the shape)"
    )
    inner: Annotated[float | None, LENGTH] = Field(
        default=None, ge=0, description="wire: distance up to which flesh follows wholly (default: all of it does)"
    )
    outer: Annotated[float | None, LENGTH] = Field(
        default=None, gt=0, description="wire: distance from which on it does not follow (default: twice `inner`)"
    )
    file: Annotated[str | None, CODE] = Field(
        default=None,
        description="function: a Python file beside the scene, which is **run** where `--allow-code` allows it",
    )
    function: str | None = Field(
        default=None,
        description="function: its name; called with points (n, 3) and values (c,), it returns the moved points, in "
        "units",
    )
    controls: list[str] | None = Field(
        default=None, min_length=1, description="function: names of its values, 0 each at rest"
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> DeformerTable:
        missing = [key for key in _NEEDED[self.kind] if getattr(self, key) is None]
        if missing:
            raise ValueError(f"is a {self.kind} without {missing[0]}: give one")
        mine = ("kind", "name", *_NEEDED[self.kind], *_ALLOWED[self.kind])
        spare = [key for key in type(self).model_fields if key not in mine and getattr(self, key) is not None]
        if spare:
            raise ValueError(f"has {spare[0]}, which no {self.kind} has: remove it")
        together = [getattr(self, key) is None for key in ("start", "end", "about")]
        if self.kind == "bend" and any(together) and not all(together):
            raise ValueError("has some of start, end and about: give all three, or none for a shape with a bend")
        if self.about is not None and not any(self.about):
            raise ValueError("has a zero axis: give a direction")
        return self

    @property
    def channel(self) -> str:
        """How keys call it."""
        return self.name or self.kind


class BlendShapeTable(Section):
    """A target shape, or several, that are mixed in by weight before bones act."""

    file: Annotated[str, FILE] = Field(
        description="the body, or its surface, as it is at weight 1, with the same vertices; or an .npz with an array "
        "of offsets (n, 3) for every channel"
    )
    name: str | None = Field(default=None, description="name of its channel in keys (default: the file's name)")


class CorrectionTable(Section):
    """How the body shall look in one pose; towards other poses the correction fades, as in [XB16] Eq. (1)."""

    pose: PoseTable = Field(description="the pose: a name, or { elbow = [0, 0, 90] }")
    file: Annotated[str, FILE] = Field(
        description="the body, or its surface, as it shall be in that pose, with the same vertices; or an .npz with "
        "`offsets` (n, 3) from what the rig does there"
    )
