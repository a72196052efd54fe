"""The `[output]` table: what is written."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from supple.scene.section import FILE, Section

__all__ = ["FIELDS", "OutputTable"]

Fields = Literal["displacement", "velocity", "J", "von_mises", "contact_force", "contact_depth"]
FIELDS: tuple[str, ...] = get_args(Fields)


class OutputTable(Section):
    """What is written."""

    files: Annotated[list[str], FILE] = Field(
        default_factory=list, description="result files; the suffix is the format (.usd .npz .pvd .obj)"
    )
    every: int = Field(default=1, ge=1, description="write every so many frames")
    fields: list[Fields] | None = Field(
        default=None,
        description="written where the format can hold them (default: all for .pvd and .npz, else velocity); those of "
        "contact bring the points that touch along",
    )
    tolerance: float = Field(
        default=1e-4,
        gt=0,
        lt=1,
        description="how far a vertex of a .glb may be from where it was, as a share of the body's size; more makes "
        "smaller files",
    )
    checkpoint: int = Field(default=10, ge=0, description="frames between checkpoints; 0: only when the run is stopped")
