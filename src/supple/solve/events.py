"""What a user does while a simulation runs; the log of events is what a replay replays."""

import math
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, get_args

from supple.errors import SceneError

__all__ = [
    "AddPin",
    "Event",
    "Grab",
    "Move",
    "MoveCollider",
    "Release",
    "RemovePin",
    "SetGravity",
    "SetPose",
    "SetScene",
    "SetStiffness",
    "SetThrottle",
    "SetVolume",
    "event_from_dict",
    "event_to_dict",
]

Point = tuple[float, float, float]


@dataclass(frozen=True)
class SetStiffness:
    """Multiply the stiffness of the whole body, relative to the scene's."""

    factor: float


@dataclass(frozen=True)
class SetGravity:
    """Replace gravity [m/s²]."""

    acceleration: Point


@dataclass(frozen=True)
class SetThrottle:
    """Trade accuracy for speed in methods that estimate their error; others keep it and do nothing."""

    value: float


@dataclass(frozen=True)
class SetVolume:
    """Multiply the volume that volume constraints aim at, relative to the scene's; bodies without them keep theirs."""

    factor: float


@dataclass(frozen=True)
class Grab:
    """Pull a point of the body, given by vertices and weights that add up to 1, by a spring."""

    name: str
    vertices: tuple[int, ...]
    weights: tuple[float, ...]
    target: Point
    """[m]"""
    stiffness: float
    """[N/m]"""


@dataclass(frozen=True)
class Move:
    """Move the far end of a grab's spring [m]."""

    name: str
    target: Point


@dataclass(frozen=True)
class Release:
    """End a grab."""

    name: str


@dataclass(frozen=True)
class AddPin:
    """Hold vertices where they are, along the given axes."""

    vertices: tuple[int, ...]
    axes: str = "xyz"


@dataclass(frozen=True)
class RemovePin:
    """Let vertices go along the given axes, whoever held them."""

    vertices: tuple[int, ...]
    axes: str = "xyz"


@dataclass(frozen=True)
class SetPose:
    """Add to the pose that the rig's motion prescribes, control by control; the scene carries it out in a frame."""

    change: tuple[float, ...]


@dataclass(frozen=True)
class MoveCollider:
    """Shift [m] and turn [rotation vector, rad] a collider from where the scene has it, carried out in a frame."""

    collider: int
    shift: Point
    turn: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SetScene:
    """Change keys of the scene, table by table; motion goes on from where it is, under another solver if need be."""

    changes: dict[str, dict[str, Any]]


Event = (
    SetStiffness
    | SetGravity
    | SetThrottle
    | SetVolume
    | Grab
    | Move
    | Release
    | AddPin
    | RemovePin
    | SetPose
    | MoveCollider
    | SetScene
)
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event as plain JSON data."""
    return {"kind": type(event).__name__, **asdict(event)}


def event_from_dict(data: dict[str, Any]) -> Event:
    """The event written by `event_to_dict`; values that make no sense are refused."""
    if not isinstance(data, dict):
        raise SceneError(f"{data!r} is no event: give a table with a kind.")
    values = dict(data)
    kind = _KINDS.get(str(values.pop("kind", "")))
    if kind is None:
        raise SceneError(f"event kind {data.get('kind')!r} is not known: use one of {', '.join(_KINDS)}.")
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if not needed <= set(values) <= known:
        raise SceneError(f"a {kind.__name__} event takes {', '.join(sorted(known))}: correct the event log.")
    for name, value in values.items():
        if not _FITS[name](value):
            raise SceneError(f"a {kind.__name__} event has {name} = {value!r}, which makes no sense: correct it.")
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})  # type: ignore[no-any-return]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are(test: Callable[[object], bool], count: int | None = None) -> Callable[[object], bool]:
    return lambda v: isinstance(v, list | tuple) and (count is None or len(v) == count) and all(map(test, v))


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


_CHANGES = {"method", "material"}  #: tables that may change on the way
_is_index = _are(lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0)
_is_point = _are(_is_number, 3)
_FITS: dict[str, Callable[[object], bool]] = {
    "name": lambda v: isinstance(v, str),
    "axes": lambda v: isinstance(v, str) and v != "" and set(v) <= set("xyz"),
    "vertices": _is_index,
    "weights": _are(_is_number),
    "target": _is_point,
    "acceleration": _is_point,
    "change": _are(_is_number),
    "changes": lambda v: isinstance(v, dict) and bool(v) and set(v) <= _CHANGES and all(map(_is_table, v.values())),
    "collider": lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0,
    "shift": _is_point,
    "turn": _is_point,
    "factor": _is_number,
    "value": _is_number,
    "stiffness": _is_number,
}
