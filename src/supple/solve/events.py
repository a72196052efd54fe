"""What a user does while a simulation runs; the log of events is what a replay replays."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from supple.errors import SceneError

__all__ = [
    "AddPin",
    "Event",
    "Grab",
    "Move",
    "Release",
    "RemovePin",
    "SetGravity",
    "SetStiffness",
    "SetThrottle",
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
class Grab:
    """Pull a point of the body, given by vertices of one element and weights that add up to 1, by a spring."""

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
    """Hold vertices where they are."""

    vertices: tuple[int, ...]


@dataclass(frozen=True)
class RemovePin:
    """Let vertices go, whoever held them."""

    vertices: tuple[int, ...]


Event = SetStiffness | SetGravity | SetThrottle | Grab | Move | Release | AddPin | RemovePin
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (SetStiffness, SetGravity, SetThrottle, Grab, Move, Release, AddPin, RemovePin)
}


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event as plain JSON data."""
    return {"kind": type(event).__name__, **asdict(event)}


def event_from_dict(data: dict[str, Any]) -> Event:
    """The event written by `event_to_dict`."""
    values = dict(data)
    kind = _KINDS.get(str(values.pop("kind", "")))
    if kind is None:
        raise SceneError(f"event kind {data.get('kind')!r} is not known: use one of {', '.join(_KINDS)}.")
    expected = {field.name for field in fields(kind)}
    if set(values) != expected:
        raise SceneError(f"a {kind.__name__} event takes {', '.join(sorted(expected))}: correct the event log.")
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})  # type: ignore[no-any-return]
