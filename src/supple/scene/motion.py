"""How pins and colliders move: keyframed or steady translation and rotation, as functions of time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator

from supple.scene.section import LENGTH, SPEED, Section, Unit, Vec3

__all__ = ["UNIT_AXES", "Axis", "Move", "MoveKey", "ScaleKey", "Turn", "TurnKey", "carry", "interpolate"]

Ease = Literal["linear", "smooth"]
UNIT_AXES = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}


class MoveKey(Section):
    """Where a moving pin or collider is at one time."""

    t: Annotated[float, Unit("s")] = Field(description="time of the key")
    by: Annotated[Vec3, LENGTH] = Field(description="displacement from the rest position")


class TurnKey(Section):
    """How far a turning pin or collider is turned at one time."""

    t: Annotated[float, Unit("s")] = Field(description="time of the key")
    degrees: Annotated[float, Unit("degrees")] = Field(description="angle from the rest position")


class ScaleKey(Section):
    """How strong a force is at one time."""

    t: Annotated[float, Unit("s")] = Field(description="time of the key")
    scale: float = Field(description="factor on the force's vector")


class _Motion(Section):
    """Keys or a steady rate; a bare list is the list of keys."""

    rate: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, data: object) -> object:
        return {"keys": data} if isinstance(data, list) else data

    @model_validator(mode="after")
    def _has_one_motion(self) -> _Motion:
        keys = getattr(self, "keys", None)
        if (keys is None) == (getattr(self, self.rate) is None):
            raise ValueError(f"must have either keys or {self.rate}")
        if keys is not None:
            check_times([key.t for key in keys])
        return self


class Move(_Motion):
    """Translation of a pin or collider; before the first key and after the last it stands still."""

    rate: ClassVar[str] = "velocity"
    keys: list[MoveKey] | None = Field(default=None, description="keyframes { t, by }")
    velocity: Annotated[Vec3 | None, SPEED] = Field(default=None, description="steady velocity from time 0 on")
    ease: Ease = Field(default="linear", description="between keys: straight, or slowing down at every key")

    def offset(self, time: float) -> NDArray[np.float64]:
        """Displacement [m] from the rest position, shape (3,)."""
        if self.velocity is not None:
            return np.asarray(self.velocity) * max(time, 0.0)
        keys = self.keys or []
        return interpolate([key.t for key in keys], [key.by for key in keys], time, self.ease)


def _axis_vector(value: object) -> object:
    return UNIT_AXES.get(value, value) if isinstance(value, str) else value


#: A direction, or the name of an axis.
Axis = Annotated[Vec3, BeforeValidator(_axis_vector)]


class Turn(_Motion):
    """Rotation of a pin or collider about an axis; applied before the translation."""

    rate: ClassVar[str] = "speed"
    axis: Axis = Field(description='"x", "y", "z" or a direction')
    about: Annotated[Vec3 | None, LENGTH] = Field(
        default=None,
        description="a point of the axis (default: the mean of the pinned vertices, or the collider's `at`)",
    )
    keys: list[TurnKey] | None = Field(default=None, description="keyframes { t, degrees }")
    speed: Annotated[float | None, Unit("degrees/s")] = Field(default=None, description="steady speed from time 0 on")
    ease: Ease = Field(default="linear", description="between keys: straight, or slowing down at every key")

    @model_validator(mode="after")
    def _axis_points_somewhere(self) -> Turn:
        if not any(self.axis):
            raise ValueError("has a zero axis: give a direction")
        return self

    def rotation(self, time: float) -> NDArray[np.float64]:
        """Rotation matrix, shape (3, 3)."""
        if self.speed is not None:
            degrees = self.speed * max(time, 0.0)
        else:
            keys = self.keys or []
            degrees = float(interpolate([k.t for k in keys], [(k.degrees,) for k in keys], time, self.ease)[0])
        return rotate(np.asarray(self.axis), np.deg2rad(degrees))


def carry(
    points: NDArray[np.float64], centre: NDArray[np.float64], move: Move | None, turn: Turn | None, time: float
) -> NDArray[np.float64]:
    """Where points [m], shape (k, 3), are at `time` [s]: turned, about `centre` if nothing else is said, then moved."""
    placed = points
    if turn is not None:
        about = centre if turn.about is None else np.asarray(turn.about)
        placed = (placed - about) @ turn.rotation(time).T + about
    return placed if move is None else placed + move.offset(time)


def rotate(axis: NDArray[np.float64], angle: float) -> NDArray[np.float64]:
    """Rotation by `angle` [rad] about `axis` (Rodrigues), shape (3, 3)."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: NDArray[np.float64] = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    return turned


def check_times(times: Sequence[float]) -> None:
    """Refuse an empty list of keys and times that do not increase."""
    if not times:
        raise ValueError("has an empty list of keys: give at least one")
    if any(later <= earlier for earlier, later in pairwise(times)):
        raise ValueError("has keys whose times do not increase: sort them and remove repeated times")


def interpolate(
    times: Sequence[float], values: Sequence[Sequence[float]], time: float, ease: Ease = "linear"
) -> NDArray[np.float64]:
    """Value at `time` between keys, held outside them, shape (width of a value,)."""
    table = np.asarray(values, dtype=np.float64)
    last = len(times) - 1
    if time <= times[0] or last == 0:
        return np.array(table[0])
    if time >= times[last]:
        return np.array(table[last])
    k = int(np.searchsorted(times, time, side="right")) - 1
    share = (time - times[k]) / (times[k + 1] - times[k])
    if ease == "smooth":
        share = share * share * (3.0 - 2.0 * share)
    blended: NDArray[np.float64] = (1.0 - share) * table[k] + share * table[k + 1]
    return blended
