"""What was recorded, looked at in the browser: the frames of a run, or the motion of bones without a body."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.io import Cache
from supple.picture.surface import BODY_COLOUR
from supple.scene.props import COLOUR
from supple.view.figures import as_rgb, set_scene
from supple.view.room import Room

if TYPE_CHECKING:
    import viser

__all__ = ["Playback", "Reel", "RunReel"]

SHORTEST = 1.0 / 60.0  #: between two updates [s]


class Reel(Protocol):
    """Frames that were recorded."""

    @property
    def times(self) -> Sequence[float]:
        """Of the frames [s]."""

    @property
    def indices(self) -> Sequence[int]:
        """Their numbers."""

    def furnish(self, server: viser.ViserServer) -> None:
        """Put what moves into the page."""

    def show(self, place: int) -> None:
        """Move it to where it is in the frame at a place of the recording."""


class RunReel:
    """The frames of a run: the body and what it touched."""

    def __init__(self, cache: Cache) -> None:
        self._cache, self.times, self.indices = cache, cache.times, cache.indices
        self._room = Room.around(cache.surface_positions(0), cache.info.up_axis)

    def furnish(self, server: viser.ViserServer) -> None:
        """Put body and colliders into the page."""
        cache = self._cache
        set_scene(server, self._room)
        self._server = server
        self._body = self._add("/body", cache.surface_positions(0), cache.triangles, BODY_COLOUR)
        self._solids = [
            self._add(f"/colliders/{number}", solid.vertices, solid.triangles, COLOUR)
            for number, solid in enumerate(cache.colliders(0))
        ]

    def show(self, place: int) -> None:
        """Move their vertices."""
        with self._server.atomic():
            self._body.vertices = self._room.enter(self._cache.surface_positions(place))
            for node, solid in zip(self._solids, self._cache.colliders(place), strict=True):
                node.vertices = self._room.enter(solid.vertices)

    def _add(self, name: str, points: NDArray[np.float64], triangles: NDArray[np.int32], colour: str) -> Any:
        placed = self._room.enter(points)
        return self._server.scene.add_mesh_simple(name, placed, triangles, color=as_rgb(colour), side="double")


class Playback:
    """Frames that were recorded, played over and over at their own rate while somebody watches."""

    def __init__(self, server: viser.ViserServer, reel: Reel) -> None:
        self._server, self._reel, self._last = server, reel, len(reel.times) - 1
        self._playing, self._closed = threading.Event(), threading.Event()
        reel.furnish(server)
        self._words = server.gui.add_markdown("")
        self._frame: Any = server.gui.add_slider("Frame", 0, max(self._last, 1), 1, 0)
        self._frame.on_update(lambda event: self._seek(event))
        self._button: Any = server.gui.add_button("Play")
        self._button.on_click(lambda _: self.toggle())
        server.gui.add_command("Play or pause", hotkey="space").on_trigger(lambda _: self.toggle())
        server.gui.add_command("Next frame", hotkey="arrowright").on_trigger(lambda _: self._shift(1))
        server.gui.add_command("Frame before", hotkey="arrowleft").on_trigger(lambda _: self._shift(-1))
        server.gui.add_command("First frame", hotkey="R").on_trigger(lambda _: self.show(0))
        self.show(0)

    def show(self, place: int) -> None:
        """Show the frame at a place of the recording."""
        place = min(max(place, 0), self._last)
        self._reel.show(place)
        times = self._reel.times
        self._words.content = f"**frame {self._reel.indices[place]}** · {times[place]:.2f} s of {times[-1]:.2f} s"
        self._frame.value = place

    def toggle(self) -> None:
        """Play when it stands, stand when it plays."""
        (self._playing.clear if self._playing.is_set() else self._playing.set)()
        self._button.label = "Pause" if self._playing.is_set() else "Play"

    def run(self) -> None:
        """Play until it is closed."""
        steps = np.diff(self._reel.times)
        step = max(float(np.median(steps)) if len(steps) else 1.0, SHORTEST)
        while not self._closed.wait(step):
            if self._last and self._playing.is_set() and self._server.get_clients():
                self.show((int(self._frame.value) + 1) % (self._last + 1))

    def close(self) -> None:
        """End `run`."""
        self._closed.set()

    def _seek(self, event: Any) -> None:
        if event.client is not None:  # a person, not an update of ours
            self.show(int(event.target.value))

    def _shift(self, places: int) -> None:
        self.show(int(self._frame.value) + places)
