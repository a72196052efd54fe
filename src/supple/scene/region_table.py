"""A region of a body with a basis of its own: an entry of `[[training.region]]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from supple.scene.section import LENGTH, Section, Vec3
from supple.subspace.regions import Region

__all__ = ["RegionTable"]


class RegionTable(Section):
    """What lies around a point, or along a segment, of the body at rest; or all of it, beside the others."""

    name: str | None = Field(default=None, description="a name for messages")
    at: Annotated[Vec3 | None, LENGTH] = Field(default=None, description="the point")
    from_: Annotated[Vec3 | None, LENGTH] = Field(default=None, alias="from", description="one end of the segment")
    to: Annotated[Vec3 | None, LENGTH] = Field(default=None, description="the other end")
    whole: bool = Field(default=False, description="the whole body, for what regions cannot do each by itself")
    rank: int | None = Field(
        default=None, ge=1, le=500, description="coordinates of its own (default: an even share of method.rank)"
    )

    @model_validator(mode="after")
    def _is_somewhere(self) -> RegionTable:
        given = (self.at is not None) + (self.from_ is not None) + self.whole
        if given != 1 or (self.from_ is None) != (self.to is None):
            raise ValueError("must say where it is, by `at`, by `from` and `to` or by `whole`: give one of these")
        return self

    def region(self, number: int) -> Region:
        """The region, whose lengths are in metres."""
        begin, end = (self.at, None) if self.from_ is None else (self.from_, self.to)
        return Region(self.name or f"region {number}", begin, end, self.rank)
