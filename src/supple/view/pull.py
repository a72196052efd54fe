"""Pulling at the body with the mouse."""

from __future__ import annotations

import asyncio
from typing import Any

from supple.solve import Move, Release
from supple.view.figures import Figures
from supple.view.player import Player, Shown

__all__ = ["Puller"]

EAGERNESS = 2000.0  #: of a pull at strength 1, times the mass: a free body swings after the pointer in 1/7 s [1/s²]


class Puller:
    """Turns drags on the body into events: a spring from the point picked to the pointer."""

    def __init__(self, player: Player, figures: Figures) -> None:
        self._player, self._figures = player, figures
        self._seen: Shown | None = None
        self.strength = 1.0
        figures.body.on_drag("left")(self._drag)  # called in the order in which the browser says so

    def update(self, shown: Shown) -> None:
        """The frame that is seen, on which points are picked."""
        self._seen = shown

    async def _drag(self, event: Any) -> None:
        await asyncio.sleep(0)
        seen, name, room = self._seen, f"pull {event.client_id}", self._figures.room
        if event.phase == "end":
            self._player.act(Release(name))
            return
        if seen is None or seen.now.frame != seen.last:  # an earlier frame cannot be pulled at
            return
        if event.phase == "start":
            stiffness = EAGERNESS * self.strength * float(seen.built.body.mass.sum())
            self._player.act(self._figures.surface.grab(name, seen.x, room.leave(event.start_position), stiffness))
        x, y, z = room.leave(event.end_position).tolist()
        self._player.act(Move(name, (x, y, z)))
