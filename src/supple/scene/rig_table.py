"""The `[rig]` table: bones that move the body."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from supple.scene.deformer_table import BlendShapeTable, CorrectionTable, DeformerTable
from supple.scene.pose_table import PoseTable
from supple.scene.section import FILE, LENGTH, FileName, Section
from supple.scene.select import Select

__all__ = ["HOLDS", "WEIGHTS", "AttachTable", "RigTable"]

WEIGHTS = ("heat", "biharmonic", "file")  #: ways to find weights; any other text names a file of them
HOLDS = ("bones", "none")


def _read_hold(value: object) -> object:
    """One of the words, or the selection that anything else stands for."""
    if isinstance(value, Select) or (isinstance(value, str) and value in HOLDS):
        return value
    try:
        return Select.model_validate(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValueError(f'is neither "bones" nor "none" and as a selection {reason}') from None


class AttachTable(Section):
    """Flesh tied to where the rig has it by springs that paint makes stronger or weaker (full)."""

    paint: str = Field(description="a `[[paint]]`: 0 is free, 1 follows the rig, 0.5 is as tied as `reach` says")
    reach: Annotated[float | None, LENGTH] = Field(
        default=None,
        gt=0,
        description="how far flesh is pulled out of shape by what paint 0.5 ties (default: a tenth of the size)",
    )


class RigTable(Section):
    """What moves the body: bones, of which a built-in shape brings its own, and what stands on them.

    Blend shapes come first, then bones, then deformers in their order, then corrections.
    """

    skeleton: Annotated[str | None, FILE] = Field(
        default=None,
        description="joints that lie in the mesh at rest (.bvh .tgf .out .mhskel .json); a character has its own",
    )
    skinning: Literal["dual_quaternion", "linear"] = Field(
        default="dual_quaternion", description="how the motions of several bones are blended at a vertex"
    )
    weights: Annotated[str, FileName(but=WEIGHTS)] = Field(
        default="heat",
        description="how much each bone moves a vertex: `heat`, `biharmonic`, `file` (a character's own), a file of "
        "the skeleton's kind (.dmat .out .mhw .json), or an .npz file with `weights` (a row for every vertex) and "
        "`joints` (the names of its columns)",
    )
    rest: Literal["neutral", "posed"] = Field(
        default="neutral",
        description="what flesh springs back to: its shape in the neutral pose, or the skinned shape of the moment",
    )
    hold: Annotated[str | Select, BeforeValidator(_read_hold)] = Field(
        default="bones",
        description="vertices that follow the rig exactly: those of tetrahedra that `bones` run through, `none`, or a "
        "selection",
    )
    attach: AttachTable | None = Field(
        default=None, description="flesh tied to the rig by painted springs, beside `hold`"
    )
    bones: bool | None = Field(
        default=None, description="whether bones move the body (default: where there are any, from a shape or a file)"
    )
    deformer: list[DeformerTable] = Field(default_factory=list, description="bends, twists, wires, Python functions")
    blend_shape: list[BlendShapeTable] = Field(default_factory=list, description="target shapes, mixed in by weight")
    correction: list[CorrectionTable] = Field(default_factory=list, description="shapes that poses shall have")
    surface: Annotated[str | None, FILE] = Field(
        default=None, description="a surface around the body (.obj .ply .off) that has the rig; tetrahedra follow it"
    )
    fit: bool | list[PoseTable] | None = Field(
        default=None,
        description="whether tetrahedra are fitted to where the rig has the surface: in some poses of the motion, in "
        "those listed, or not at all (default: where they would be turned inside out, and with `surface`)",
    )
