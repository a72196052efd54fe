"""The `[mesh]` table: a file or a built-in shape."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from supple.scene.section import FILE, LENGTH, Section, only

__all__ = ["MeshTable"]


class MeshTable(Section):
    """A file or a built-in shape."""

    file: Annotated[str | None, FILE] = Field(
        default=None,
        description="tetrahedra (.msh .mesh .vtu .npz), or a surface (.obj .ply .off) to fill with them",
    )
    shape: str | None = Field(default=None, description="a built-in shape instead of a file")
    size: Annotated[dict[str, float], LENGTH] = Field(
        default_factory=dict, description="the shape's own measures, such as { length = 1.0 }"
    )
    resolution: int | None = Field(default=None, ge=1, le=2000, description="cells along the body's longest side")
    elements: int | None = Field(
        default=None, ge=5, le=50_000_000, description="number of tetrahedra to aim at, instead of resolution"
    )
    parts: list[str] | None = Field(
        default=None,
        min_length=1,
        description="of a rigged character (.glb .gltf .usd): the meshes that are its body, placed as its skeleton has "
        "them; all others ride along",
    )
    render: Annotated[bool | str, FILE, only((bool, str), "true, false or the name of a surface file")] = Field(
        default=True,
        description="surface file to carry along; true: the one in `file`; false: the tetrahedra's own",
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> MeshTable:
        if (self.file is None) == (self.shape is None):
            raise ValueError("must have either file or shape")
        if self.resolution is not None and self.elements is not None:
            raise ValueError("has both resolution and elements, which say the same thing twice: keep one of them")
        if self.parts is not None and self.file is None:
            raise ValueError("has parts, which belong to the file of a character: name one, or remove it")
        if self.size and self.shape is None:
            raise ValueError("has size, which belongs to a built-in shape: remove it, or set units")
        return self
