"""The state of a body in full space, and its arrays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.elastic import Pins
from supple.solve.events import Grab, event_from_dict, event_to_dict
from supple.solve.live import Live

__all__ = ["FullState", "pack_live", "pack_state", "unpack_live", "unpack_state"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FullState:
    """Motion of every vertex, and what the user changed."""

    time: float
    """[s]"""
    x: FloatArray
    """Positions [m], (n, 3)."""
    v: FloatArray
    """Velocities [m/s], (n, 3)."""
    a: FloatArray
    """Accelerations [m/s²], (n, 3); Newmark's method goes on with them, and leaves out what contacts do."""
    live: Live = field(default_factory=Live)
    pairs: NDArray[np.int32] = field(default_factory=lambda: NO_PAIRS)
    """Vertices and the triangles of the body's own surface that they touch, (k, 2)."""


def pack_live(live: Live) -> dict[str, NDArray[np.generic]]:
    """What the user changed as plain arrays."""
    settings = {
        "stiffness": live.stiffness,
        "gravity": live.gravity,
        "throttle": live.throttle,
        "volume": live.volume,
        "grabs": [event_to_dict(grab) for grab in live.grabs],
    }
    return {
        "added": live.added.vertices,
        "added_axes": live.added.held,
        "places": live.places,
        "released": live.released.vertices,
        "released_axes": live.released.held,
        "live": np.array(json.dumps(settings)),  # floats survive JSON exactly
    }


def unpack_live(arrays: Mapping[str, NDArray[np.generic]]) -> Live:
    """What was packed."""
    settings = json.loads(str(arrays["live"]))
    grabs = tuple(grab for grab in map(event_from_dict, settings["grabs"]) if isinstance(grab, Grab))
    return Live(
        settings["stiffness"],
        tuple(settings["gravity"]) if settings["gravity"] else None,
        settings["throttle"],
        grabs,
        Pins(np.asarray(arrays["added"], np.int32), np.asarray(arrays["added_axes"], np.bool_)),
        np.asarray(arrays["places"], np.float64),
        Pins(np.asarray(arrays["released"], np.int32), np.asarray(arrays["released_axes"], np.bool_)),
        settings.get("volume", 1.0),  # unknown to older checkpoints
    )


def pack_state(state: FullState) -> dict[str, NDArray[np.generic]]:
    """The state as plain arrays."""
    return {
        "time": np.array(state.time),
        "x": state.x,
        "v": state.v,
        "a": state.a,
        "pairs": state.pairs,
        **pack_live(state.live),
    }


def unpack_state(arrays: Mapping[str, NDArray[np.generic]]) -> FullState:
    """The state that was packed."""
    x, v, a = (np.asarray(arrays[key], np.float64) for key in ("x", "v", "a"))
    pairs = np.asarray(arrays["pairs"], np.int32)
    return FullState(float(arrays["time"]), x, v, a, unpack_live(arrays), pairs)
