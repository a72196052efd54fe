"""The `[[collider]]` table: rigid things that the body stops at, standing or moving."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from supple.scene.motion import Axis, Move, Turn
from supple.scene.section import FILE, FRICTION, LENGTH, Section, Unit, Vec3

__all__ = ["AXES", "ColliderTable"]

#: Direction of a shape's own axis before it is placed, for those that have one.
AXES = {"plane": (0.0, 1.0, 0.0), "capsule": (1.0, 0.0, 0.0), "cylinder": (1.0, 0.0, 0.0), "pipe": (1.0, 0.0, 0.0)}


class ColliderTable(Section):
    """A rigid thing: a shape or a closed surface, put `at` a place and perhaps moving as a pin does."""

    name: str | None = Field(default=None, description="a name for messages and results")
    shape: Literal["plane", "sphere", "capsule", "box", "cylinder", "pipe"] | None = Field(
        default=None, description="a built-in shape; a plane fills all that lies below it"
    )
    file: Annotated[str | None, FILE] = Field(default=None, description="a closed surface (.obj .ply .off) instead")
    size: Annotated[dict[str, float], LENGTH] = Field(
        default_factory=dict, description="the shape's own measures, such as { radius = 0.1 }"
    )
    at: Annotated[Vec3, LENGTH] = Field(default=(0.0, 0.0, 0.0), description="where its centre, or its origin, is put")
    axis: Axis | None = Field(
        default=None,
        description='where its own axis points, "x", "y", "z" or a direction: a plane\'s normal (default: up), '
        "the axis of a capsule, cylinder or pipe (default: x)",
    )
    rotate: Annotated[Vec3, Unit("degrees")] = Field(
        default=(0.0, 0.0, 0.0), description="turned in place about x, then y, then z, before it moves"
    )
    friction: Annotated[float | None, FRICTION] = Field(
        default=None, ge=0, le=100, description="its own coefficient of friction (default: that of `[contact]`)"
    )
    move: Move | None = Field(default=None, description="translation: a list of keys { t, by }, or { velocity }")
    turn: Turn | None = Field(
        default=None, description="rotation: { axis, about, keys = [{ t, degrees }] } or { axis, speed }"
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> ColliderTable:
        if (self.file is None) == (self.shape is None):
            raise ValueError("must have either shape or file")
        if self.size and self.shape is None:
            raise ValueError("has size, which belongs to a built-in shape: remove it, or set units")
        if self.axis is not None and self.shape not in AXES:
            what = "a file" if self.shape is None else f"a {self.shape}"
            raise ValueError(f"has axis, but {what} has none of its own: use rotate")
        if self.axis is not None and not any(self.axis):
            raise ValueError("has a zero axis: give a direction")
        return self
