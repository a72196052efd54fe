"""A pose in a scene: what joints and channels are set to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from supple.scene.section import LENGTH, Section, Vec3, three_numbers

__all__ = ["PoseTable", "Setting"]


def _read_setting(value: object) -> object:
    """A number, three numbers, or a list of threes, as strict validation takes them."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(float(value))
    if isinstance(value, list | tuple) and value and all(isinstance(row, list | tuple) for row in value):
        return [_three(row) for row in value]
    if isinstance(value, list | tuple) and len(value) == 3:
        return _three(value)
    raise ValueError("must be a number or three numbers, such as 0.5 or [0, 0, 90]")


def _three(value: object) -> tuple[float, ...]:
    return tuple(_finite(number) for number in three_numbers(value))


def _finite(number: float) -> float:
    if not math.isfinite(number):  # said here, because a union would say it three times
        raise ValueError("must be a finite number")
    return number


#: What a joint (three angles), a channel (a number), a point of a wire or a whole wire is set to.
Setting = Annotated[float | Vec3 | list[Vec3], BeforeValidator(_read_setting)]


class PoseTable(Section):
    """A pose; every other key is the name of a joint or a channel, as in { elbow = [0, 0, 90], smile = 0.5 }."""

    pose: str | None = Field(default=None, description="name of one of the shape's poses; `rest` is one of any rig")
    shift: Annotated[Vec3 | None, LENGTH] = Field(default=None, description="where the root goes, from its rest")
    joints: dict[str, Setting] = Field(
        default_factory=dict,
        description="by joint, angles about x, y and z [degrees]: x turns first; by channel, the angle [degrees] of a "
        "bend or twist, the weight of a blend shape, the value of a function's control, the displacement [units] of a "
        "wire's point, as in spine.3 = [0, 0.1, 0]",
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_joints(cls, data: object) -> object:
        """The table with all that is no key of it taken for joints and channels."""
        if isinstance(data, str):
            return {"pose": data}
        if not isinstance(data, Mapping):
            return data
        loose = {name: value for name, value in data.items() if name not in cls.model_fields}
        given = data.get("joints", {})
        if not loose or not isinstance(given, Mapping):
            return data
        kept = {name: value for name, value in data.items() if name not in loose}
        return kept | {"joints": {**given, **dict(_flatten(loose))}}


def _flatten(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What dotted keys, which TOML makes tables of, stand for: their full names."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", item) for key, item in _flatten(value))
        else:
            yield name, value
