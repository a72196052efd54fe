"""What a user does while a simulation runs; the log of events is what a replay replays."""

import math
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, get_args

import numpy as np

from supple.arguments import as_indices, describe, refuse, remember
from supple.errors import ArgumentError, SceneError

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


class _Checked:
    """Values are checked where an event is made; arrays become tuples, masks the numbers of their vertices."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            where = f"{type(self).__name__}({item.name})"
            if item.name == "vertices" and isinstance(value, np.ndarray):
                value = as_indices(value, where)
            if isinstance(value, np.ndarray | np.generic):
                value = value.tolist()
            fits, want = _FITS[item.name]
            if not fits(value):
                given = isinstance(value, list | tuple) and len(value) < 5
                refuse(where, repr(value) if given else describe(value), want)
            remember(self, **{item.name: tuple(value) if isinstance(value, list) else value})


@dataclass(frozen=True)
class SetStiffness(_Checked):
    """Multiply the stiffness of the whole body, relative to the scene's."""

    factor: float


@dataclass(frozen=True)
class SetGravity(_Checked):
    """Replace gravity [m/s²]."""

    acceleration: Point


@dataclass(frozen=True)
class SetThrottle(_Checked):
    """Trade accuracy for speed in methods that estimate their error; others keep it and do nothing."""

    value: float


@dataclass(frozen=True)
class SetVolume(_Checked):
    """Multiply the volume that volume constraints aim at, relative to the scene's; bodies without them keep theirs."""

    factor: float


@dataclass(frozen=True)
class Grab(_Checked):
    """Pull a point of the body, given by vertices and weights that add up to 1, by a spring."""

    name: str
    vertices: tuple[int, ...]
    weights: tuple[float, ...]
    target: Point
    """[m]"""
    stiffness: float
    """[N/m]"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != len(self.vertices):
            refuse("Grab(weights)", f"{len(self.weights)}", f"one for each of {len(self.vertices)} vertices")


@dataclass(frozen=True)
class Move(_Checked):
    """Move the far end of a grab's spring [m]."""

    name: str
    target: Point


@dataclass(frozen=True)
class Release(_Checked):
    """End a grab."""

    name: str


@dataclass(frozen=True)
class AddPin(_Checked):
    """Hold vertices where they are, along the given axes."""

    vertices: tuple[int, ...]
    axes: str = "xyz"


@dataclass(frozen=True)
class RemovePin(_Checked):
    """Let vertices go along the given axes, whoever held them."""

    vertices: tuple[int, ...]
    axes: str = "xyz"


@dataclass(frozen=True)
class SetPose(_Checked):
    """Add to the pose that the rig's motion prescribes, control by control; the scene carries it out in a frame."""

    change: tuple[float, ...]


@dataclass(frozen=True)
class MoveCollider(_Checked):
    """Shift [m] and turn [rotation vector, rad] a collider from where the scene has it, carried out in a frame."""

    collider: int
    shift: Point
    turn: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SetScene(_Checked):
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
    try:
        return kind(**values)  # type: ignore[no-any-return]
    except ArgumentError as error:
        raise SceneError(f"an event makes no sense: {error}") from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are(test: Callable[[object], bool], count: int | None = None) -> Callable[[object], bool]:
    return lambda v: isinstance(v, list | tuple) and (count is None or len(v) == count) and all(map(test, v))


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


_CHANGES = {"method", "material"}  #: tables that may change on the way
_is_index = _are(lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0)
_is_point = _are(_is_number, 3)
_NUMBER = _is_number, "a finite number"
_POINT = _is_point, "three finite numbers"
#: What each value must be, and how that is told
_FITS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda v: isinstance(v, str), "text"),
    "axes": (lambda v: isinstance(v, str) and v != "" and set(v) <= set("xyz"), 'letters out of "xyz"'),
    "vertices": (_is_index, "numbers of vertices"),
    "weights": (_are(_is_number), "finite numbers"),
    "target": _POINT,
    "acceleration": _POINT,
    "change": (_are(_is_number), "finite numbers"),
    "changes": (
        lambda v: isinstance(v, dict) and bool(v) and set(v) <= _CHANGES and all(map(_is_table, v.values())),
        "keys by table, method or material",
    ),
    "collider": (lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0, "its number, from 0 on"),
    "shift": _POINT,
    "turn": _POINT,
    "factor": _NUMBER,
    "value": _NUMBER,
    "stiffness": _NUMBER,
}
