"""The `[[force]]` table: gravity, body, point and region forces, each a function of time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from supple.scene.motion import ScaleKey, check_times, interpolate
from supple.scene.pin import check_interval, is_within
from supple.scene.section import LENGTH, Section, Unit, Vec3
from supple.scene.select import Select

__all__ = ["Force"]

WHERE = {"gravity": (), "body": ("select",), "point": ("at",), "region": ("select",)}


class Force(Section):
    """A load: `gravity` on all, `body` per kilogram of a part, `point` at a place, `region` spread out."""

    name: str | None = Field(default=None, description="a name for messages")
    kind: Literal["gravity", "body", "point", "region"] = Field(description="what the vector acts on")
    vector: Annotated[Vec3, Unit("N; m/s² for gravity and body")] = Field(
        description="the force; for `region` the total over the selection"
    )
    select: Select | None = Field(default=None, description="where a `region` or `body` force acts (body: everywhere)")
    at: Annotated[Vec3 | None, LENGTH] = Field(
        default=None, description="where a `point` force acts, on the rest shape"
    )
    from_: Annotated[float | None, Unit("s")] = Field(
        default=None,
        alias="from",
        description="time at which it begins (default: from the start, pre-roll included)",
    )
    until: Annotated[float | None, Unit("s")] = Field(
        default=None, description="time at which it ends (default: never)"
    )
    keys: list[ScaleKey] | None = Field(
        default=None, description="strength in time: { t, scale }, straight between keys"
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> Force:
        for key in ("select", "at"):
            if getattr(self, key) is not None and key not in WHERE[self.kind]:
                raise ValueError(f'is of kind "{self.kind}", which takes no {key}: remove it')
        missing = {"point": "at", "region": "select"}.get(self.kind)
        if missing is not None and getattr(self, missing) is None:
            raise ValueError(f'is of kind "{self.kind}", which needs {missing}: say where it acts')
        check_interval(self.from_, self.until)
        if self.keys is not None:
            check_times([key.t for key in self.keys])
        return self

    def most(self) -> float:
        """The largest factor on the vector at any time, without its sign."""
        return 1.0 if self.keys is None else max(abs(key.scale) for key in self.keys)

    def strength(self, time: float) -> float:
        """Factor on the vector at `time` [s]; 0 outside the force's interval."""
        if not is_within(time, self.from_, self.until):
            return 0.0
        if self.keys is None:
            return 1.0
        return float(interpolate([key.t for key in self.keys], [(key.scale,) for key in self.keys], time)[0])
