"""The page's buttons that keep what was seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.view.player import Player, Shown
from supple.view.recording import EVENTS, FORMATS, save_events, save_take
from supple.view.take import Take

if TYPE_CHECKING:
    import viser

__all__ = ["Keeper"]


class Keeper:
    """A choice of formats and a button; the server chooses where, and says it."""

    def __init__(self, server: viser.ViserServer, player: Player, source: Path, folder: Path) -> None:
        self._server, self._player, self._source, self._folder = server, player, source, folder
        self._seen: Shown | None = None
        self._box = server.gui.add_folder("Keep", order=50, expand_by_default=False)
        with self._box:
            self._format: Any = server.gui.add_dropdown("Format", (EVENTS, *FORMATS))
            server.gui.add_button("Save", hint=f"Into {folder.resolve().name}/.").on_click(lambda _: self._ask())

    def update(self, shown: Shown) -> None:
        """The frame of which a picture is taken."""
        self._seen = shown

    def _ask(self) -> None:
        suffix, seen = str(self._format.value), self._seen
        if seen is not None:
            self._player.do(lambda take: self._save(take, suffix, seen), "saving ...")

    def _save(self, take: Take, suffix: str, seen: Shown) -> None:
        """Write the file, between two frames, and say where it lies."""
        if suffix == EVENTS:
            path, command = save_events(take, self._folder, self._source)
            said = f"Run them with  {command}"
        else:
            frame = seen.now.frame
            path, said = save_take(take, self._folder, self._source.stem, suffix, seen.field, frame), ""
        for client in self._server.get_clients().values():
            client.add_notification(f"Saved {path.name}", said, color="green", auto_close_seconds=None if said else 6.0)
