"""A recording looked at in the browser."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.io import Cache
from supple.picture.surface import BODY_COLOUR
from supple.scene.props import COLOUR
from supple.view.figures import as_rgb, set_scene
from supple.view.room import Room

if TYPE_CHECKING:
    import viser

__all__ = ["Playback"]

SHORTEST = 1.0 / 60.0  #: between two updates [s]


class Playback:
    """Frames that were recorded, played over and over at their own rate while somebody watches."""

    def __init__(self, server: viser.ViserServer, cache: Cache) -> None:
        self._server, self._cache = server, cache
        self._room = Room.around(cache.surface_positions(0), cache.info.up_axis)
        self._playing, self._closed = threading.Event(), threading.Event()
        set_scene(server, self._room)
        self._body = self._add("/body", cache.surface_positions(0), cache.triangles, BODY_COLOUR)
        self._solids = [
            self._add(f"/colliders/{number}", solid.vertices, solid.triangles, COLOUR)
            for number, solid in enumerate(cache.colliders(0))
        ]
        self._words = server.gui.add_markdown("")
        self._frame: Any = server.gui.add_slider("Frame", 0, cache.frames - 1, 1, 0)
        self._frame.on_update(lambda event: self._seek(event))
        self._button: Any = server.gui.add_button("Play")
        self._button.on_click(lambda _: self.toggle())
        server.gui.add_command("Play or pause", hotkey="space").on_trigger(lambda _: self.toggle())
        server.gui.add_command("Next frame", hotkey="arrowright").on_trigger(lambda _: self._shift(1))
        server.gui.add_command("Frame before", hotkey="arrowleft").on_trigger(lambda _: self._shift(-1))
        self.show(0)

    def show(self, place: int) -> None:
        """Show the frame at a place of the recording."""
        cache = self._cache
        with self._server.atomic():
            self._body.vertices = self._room.enter(cache.surface_positions(place))
            for node, solid in zip(self._solids, cache.colliders(place), strict=True):
                node.vertices = self._room.enter(solid.vertices)
        self._words.content = (
            f"**frame {cache.indices[place]}** · {cache.times[place]:.2f} s of {cache.times[-1]:.2f} s"
        )
        self._frame.value = place

    def toggle(self) -> None:
        """Play when it stands, stand when it plays."""
        (self._playing.clear if self._playing.is_set() else self._playing.set)()
        self._button.label = "Pause" if self._playing.is_set() else "Play"

    def run(self) -> None:
        """Play until it is closed."""
        step = max(float(np.median(np.diff(self._cache.times))), SHORTEST)
        while not self._closed.wait(step):
            if self._playing.is_set() and self._server.get_clients():
                self.show((int(self._frame.value) + 1) % self._cache.frames)

    def close(self) -> None:
        """End `run`."""
        self._closed.set()

    def _add(self, name: str, points: NDArray[np.float64], triangles: NDArray[np.int32], colour: str) -> Any:
        placed = self._room.enter(points)
        return self._server.scene.add_mesh_simple(name, placed, triangles, color=as_rgb(colour), side="double")

    def _seek(self, event: Any) -> None:
        if event.client is not None:  # a person, not an update of ours
            self.show(int(event.target.value))

    def _shift(self, places: int) -> None:
        self.show(int(np.clip(int(self._frame.value) + places, 0, self._cache.frames - 1)))
