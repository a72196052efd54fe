"""The page: what it shows of a player, and what its visitors ask of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from supple.view.controls import Controls
from supple.view.figures import Figures
from supple.view.player import Player, Shown
from supple.view.pull import Puller

if TYPE_CHECKING:
    import viser

__all__ = ["Page"]

RATE = 60.0  #: updates a second at most


class Part(Protocol):
    """A part of the page that follows the frames."""

    def update(self, shown: Shown) -> None: ...


class Page:
    """Follows a player in a thread of its own: the newest frame is sent, those between are not."""

    def __init__(self, server: viser.ViserServer, player: Player) -> None:
        self._server, self._player = server, player
        self._controls = Controls(server, player)
        self._parts: tuple[Part, ...] = ()
        self._built: object = None
        server.on_client_connect(lambda _: self._count())
        server.on_client_disconnect(lambda _: self._count())
        self._thread = threading.Thread(target=self._follow, name="page", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def _count(self) -> None:
        self._player.watch(len(self._server.get_clients()))

    def _follow(self) -> None:
        pause = threading.Event()
        while not self._player.shown.closed:
            shown = self._player.shown.fetch()
            if shown is not None:
                self._show(shown)
            pause.wait(1.0 / RATE)  # what comes meanwhile replaces what waits

    def _show(self, shown: Shown) -> None:
        if self._built is not shown.take.built:
            self._built = shown.take.built
            self._parts = self._furnish(shown)
        for part in self._parts:
            part.update(shown)

    def _furnish(self, shown: Shown) -> tuple[Part, ...]:
        """The parts that show this scene."""
        figures = Figures(self._server, shown.take.built)
        return figures, Puller(self._player, figures), self._controls
