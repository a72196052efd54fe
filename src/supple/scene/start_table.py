"""The `[start]` table: how a body moves at the start."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from supple.scene.section import SPEED, Section, Unit, Vec3

__all__ = ["StartTable"]


class StartTable(Section):
    """How the body moves at the start."""

    velocity: Annotated[Vec3, SPEED] = Field(default=(0.0, 0.0, 0.0), description="velocity of the whole body")
    spin: Annotated[Vec3, Unit("rad/s")] = Field(
        default=(0.0, 0.0, 0.0), description="angular velocity about its centre of mass"
    )
