"""The `[[paint]]` table: numbers painted over a surface."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from supple.scene.section import FILE, LENGTH, Section

__all__ = ["PaintTable", "PaintedTable"]


def _pair(value: object) -> object:
    """A list of two numbers as a tuple."""
    if isinstance(value, list | tuple) and len(value) == 2:
        one, other = value
        if all(isinstance(end, int | float) and not isinstance(end, bool) for end in value):
            return float(one), float(other)
    raise ValueError("must be two numbers, such as [0.2, 5.0]")


Pair = Annotated[tuple[float, float], BeforeValidator(_pair)]


class PaintTable(Section):
    """A map painted over a surface: colours or another attribute of its vertices, or a picture."""

    name: str = Field(min_length=1, description="what selections and materials call it")
    file: Annotated[str | None, FILE] = Field(
        default=None,
        description="surface with the paint (.ply .glb .gltf .usd), or an .npz with a number for every vertex "
        "(default: the surface that is drawn)",
    )
    attribute: str | None = Field(
        default=None,
        description="attribute of the vertices, such as `_softness` in glTF, a primvar in USD, a property in PLY or an "
        "array in an .npz (default: their colour)",
    )
    image: Annotated[str | None, FILE] = Field(
        default=None, description="picture (.png .jpg .tif) over the surface's texture coordinates instead"
    )
    channel: Literal["red", "green", "blue", "alpha"] | None = Field(
        default=None, description="which channel of a colour or picture (default: the mean of red, green and blue)"
    )
    range: Pair | None = Field(
        default=None, description="values that count as 0 and as 1; beyond, they are cut off (default: as painted)"
    )
    smooth: Annotated[float | None, LENGTH] = Field(
        default=None, gt=0, description="over how far paint runs (default: 0.02 of the body)"
    )

    @model_validator(mode="after")
    def _is_one_thing(self) -> PaintTable:
        if self.attribute is not None and self.image is not None:
            raise ValueError("has both attribute and image: keep one of them")
        if self.range is not None and self.range[0] == self.range[1]:
            raise ValueError("has a range without width: give two different numbers")
        return self


class PaintedTable(Section):
    """How a paint changes the material."""

    paint: str = Field(description="name of a `[[paint]]` with values from 0 to 1")
    stiffness: Pair | None = Field(
        default=None,
        description="times the material's stiffness where the paint is 0 and where it is 1, in between by logarithm",
    )
    density: Pair | None = Field(default=None, description="the same for the density")

    @model_validator(mode="after")
    def _changes_something(self) -> PaintedTable:
        if self.stiffness is None and self.density is None:
            raise ValueError("changes nothing: give stiffness or density, two factors each")
        for name in ("stiffness", "density"):
            pair = getattr(self, name)
            if pair is not None and min(pair) <= 0.0:
                raise ValueError(f"has a {name} that is not above 0: give factors such as [0.2, 5.0]")
        return self
