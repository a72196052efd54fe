"""Moving colliders with the mouse."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.scene.stage import Built
from supple.solve import MoveCollider
from supple.view.figures import Figures
from supple.view.player import Player, Shown

__all__ = ["Shover"]


class Shover:
    """Turns drags on colliders into events: shapes by a plain drag, endless planes with Ctrl held, too."""

    def __init__(self, player: Player, figures: Figures, built: Built) -> None:
        self._player, self._room = player, figures.room
        self._take: object = None
        self._shifts = np.zeros((len(figures.solids), 3))
        self._begin: dict[int, Any] = {}
        for number, (node, obstacle) in enumerate(zip(figures.solids, built.drive.obstacles, strict=True)):
            plane = obstacle.table.shape == "plane"
            node.on_drag("left", modifier="cmd/ctrl" if plane else None)(self._drag(number))

    def update(self, shown: Shown) -> None:
        """In a new take all stand where the scene has them."""
        if self._take is not shown.take:
            self._take = shown.take
            self._shifts[:] = 0.0

    def _drag(self, number: int) -> Any:
        async def drag(event: Any) -> None:
            pointer = self._room.leave(event.end_position)
            if event.phase == "start":
                self._begin[number] = self._shifts[number] - self._room.leave(event.start_position)
            if number in self._begin:
                self._shifts[number] = self._begin[number] + pointer
                x, y, z = self._shifts[number].tolist()
                self._player.act(MoveCollider(number, (x, y, z)))

        return drag
