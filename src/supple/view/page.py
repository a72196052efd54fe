"""The page: what it shows of a player, and what its visitors ask of it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from supple.view.controls import Controls
from supple.view.figures import Figures
from supple.view.keeper import Keeper
from supple.view.overlays import Overlays
from supple.view.paint import Paint
from supple.view.player import Player, Shown
from supple.view.posing import PosePanel
from supple.view.pull import Puller
from supple.view.room import Room
from supple.view.settings import BodySettings, MethodSettings
from supple.view.shove import Shover
from supple.view.timing import Timing

if TYPE_CHECKING:
    import viser

__all__ = ["Page"]

RATE = 60.0  #: updates a second at most


class Part(Protocol):
    """A part of the page that follows the frames."""

    def update(self, shown: Shown) -> None: ...


class PassingPart(Part, Protocol):
    """One that goes with its method."""

    def remove(self) -> None: ...


class Page:
    """Follows a player in a thread of its own: the newest frame is sent, those between are not."""

    def __init__(self, server: viser.ViserServer, player: Player, source: Path, folder: Path) -> None:
        """`source` is the scene's file, `folder` where the page may keep what was seen."""
        self._server, self._player = server, player
        self._lasting: tuple[Part, ...] = (Controls(server, player), Keeper(server, player, source, folder))
        self._parts: tuple[PassingPart, ...] = ()  # that a method has
        self._figures: Figures | None = None
        self._method = ""
        self.room: Room | None = None  #: in which the body is shown
        server.on_client_connect(lambda _: self._count())
        server.on_client_disconnect(lambda _: self._count())
        self._thread = threading.Thread(target=self._follow, name="page", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def finish(self) -> None:
        """Wait until it follows no more: a thread that compiles as the interpreter ends aborts the process."""
        self._thread.join()

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
        if self._figures is None:
            self._figures, *others = self._furnish(shown)
            self.room = self._figures.room
            self._lasting = (self._figures, *others, *self._lasting)
        method = shown.following.scene.method.name
        if method != self._method:
            for passing in self._parts:
                passing.remove()
            self._parts = self._equip(shown, self._figures)
            self._method = method
        for part in (*self._lasting, *self._parts):
            part.update(shown)

    def _furnish(self, shown: Shown) -> tuple[Figures, *tuple[Part, ...]]:
        """What shows the scene under every method."""
        server, player, built = self._server, self._player, shown.built
        figures = Figures(server, built)
        puller, rigging = Puller(player, figures), built.drive.rigging
        return (
            figures,
            puller,
            Shover(player, figures, built),
            BodySettings(server, player, built, puller),
            *(() if rigging is None else (PosePanel(server, player, rigging, figures.room),)),
        )

    def _equip(self, shown: Shown, figures: Figures) -> tuple[PassingPart, ...]:
        """What one method has to show and to set."""
        server, player = self._server, self._player
        return (
            MethodSettings(server, player, shown, open_folder=bool(self._method)),
            Paint(server, player, figures, shown),
            Overlays(server, player, figures.room, shown.following),
            Timing(server),
        )
