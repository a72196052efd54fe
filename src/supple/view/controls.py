"""The page's buttons for time: play, pause, step, reset, scrub; and what is going on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supple.view.player import Player, Shown

if TYPE_CHECKING:
    import viser

__all__ = ["Controls"]

KEYS = "Space plays and pauses, R resets, the arrows go frame by frame. Drag the body to pull at it."


class Controls:
    """Buttons, keys, the frame slider and the line of words above them."""

    def __init__(self, server: viser.ViserServer, player: Player) -> None:
        gui = self._gui = server.gui
        self._server, self._player = server, player
        self._words = gui.add_markdown("")
        self._play: Any = gui.add_button("Play", hint=KEYS)
        self._play.on_click(lambda _: player.toggle())
        buttons = gui.add_button_group("Frame", ("Back", "Step", "Reset"))
        buttons.on_click(lambda event: self._press(event.target.value))
        self._frame: Any = gui.add_slider("Scrub", 0, 1, 1, 0)
        self._frame.on_update(self._scrub)
        hurry = gui.add_checkbox("As fast as it goes", False, hint="Else at most in real time.")
        hurry.on_update(lambda event: player.hurry(event.target.value))
        self._error, self._warned = "", 0
        for label, key, work in (
            ("Play or pause", "space", player.toggle),
            ("Reset", "R", player.reset),
            ("Next frame", "arrowright", lambda: player.shift(1)),
            ("Frame before", "arrowleft", lambda: player.shift(-1)),
        ):
            self._add_key(label, key, work)

    def update(self, shown: Shown) -> None:
        """Say how the frame was made, and set buttons and slider."""
        self._words.content = describe_shown(shown)
        label = "Pause" if shown.playing else "Play"
        if self._play.label != label:
            self._play.label = label
        first, last = shown.take.first, max(shown.last, shown.take.first + 1)
        if (self._frame.min, self._frame.max) != (first, last):
            self._frame.min, self._frame.max = first, last
        self._frame.value = min(max(shown.now.frame, first), last)
        if shown.error and shown.error != self._error:
            self._notify("It stands", shown.error, "red")
        for text in shown.warned[self._warned :]:
            self._notify("Warning", text, "yellow")
        self._error, self._warned = shown.error, len(shown.warned)

    def _notify(self, title: str, text: str, colour: Any) -> None:
        for client in self._server.get_clients().values():
            client.add_notification(title, text, color=colour)

    def _press(self, button: str) -> None:
        {"Back": lambda: self._player.shift(-1), "Step": self._player.step, "Reset": self._player.reset}[button]()

    def _scrub(self, event: Any) -> None:
        if event.client is not None:  # a person, not an update of ours
            self._player.seek(int(event.target.value))

    def _add_key(self, label: str, key: Any, work: Any) -> None:
        self._gui.add_command(label, hotkey=key).on_trigger(lambda _: work())


def describe_shown(shown: Shown) -> str:
    """A frame in words: when it is, what it cost, whether time keeps up."""
    scene, row = shown.built.scene, shown.now.row
    lines = [f"**frame {shown.now.frame}** of {shown.last} · {shown.now.frame / scene.time.fps:.2f} s"]
    method, next_one = shown.built.solver.name, shown.following.solver.name
    on = "" if method == next_one else f", goes on with {next_one}"
    lines.append(f"{method}, steps of {1e3 * scene.time.step:.3g} ms{on}")
    if row is not None:
        iterations = row.newton_iterations + row.local_global_iterations
        lines.append(f"{row.ms:.1f} ms a frame, {iterations} iterations, {row.kind}")
        if row.change is not None and not row.converged:
            lines.append(f"not converged: {100 * row.change:.2g} % of the way was left")
        if row.contacts:
            lines.append(f"{row.contacts} contacts up to {1e3 * row.contact_depth:.3g} mm deep")
    if shown.speed is not None:
        lines.append(f"{shown.speed:.2f} x real time")
    elif not shown.playing:
        lines.append("paused")
    if shown.doing:
        lines.append(f"*{shown.doing}*")
    if shown.error:
        lines.append(f"**{shown.error}**")
    return "  \n".join(lines)
