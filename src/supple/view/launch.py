"""From a file on the command line to a page in a browser: what `supple view` does."""

from __future__ import annotations

import signal
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from supple.errors import SceneError
from supple.io.cache import open_cache
from supple.scene.build import Built, set_stage
from supple.scene.defaults import open_scene
from supple.scene.doctor import diagnose
from supple.scene.kernels import announce_compilation
from supple.scene.launch import refuse_errors
from supple.scene.load import override, parse_scene
from supple.scene.prepare import prepare_scene
from supple.scene.progress import Listener, SilentListener
from supple.scene.schema import MethodName
from supple.view.guard import Guard
from supple.view.page import Page
from supple.view.playback import Playback
from supple.view.player import Player
from supple.view.server import open_server, require_viser, stop_server

__all__ = ["Builder", "Look", "view_file"]

Say = Callable[[str], None]
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Look:
    """What is asked for besides what the scene says."""

    source: Path
    changes: Mapping[str, Any]
    method: MethodName | None = None
    host: str = "127.0.0.1"
    port: int = 0
    open: bool = True  #: the page in the user's browser
    play: bool = True
    folder: Path = Path()  #: where recordings go


class Builder:
    """Makes the scene of a file with changes upon changes."""

    def __init__(self, look: Look) -> None:
        self._source, self._method = look.source, look.method
        self._changes, self._settings = dict(look.changes), dict[str, Any]()

    def __call__(self, changes: Mapping[str, Any], say: Say) -> Built:
        """The scene with these changes, too; they are kept only if it can be made.

        Settings of a method are forgotten with it: its tolerance means another thing elsewhere.
        """
        asked = dict(changes.get("method", {}))
        method = asked.pop("name", self._method)
        settings = {**(self._settings if method == self._method else {}), **asked}
        merged = override(self._changes, {key: table for key, table in changes.items() if key != "method"})
        scene = open_scene(self._source, merged)
        scene = scene.under(method or scene.method.name)
        if settings:
            scene = parse_scene(override(scene.keys(), {"method": settings}), source=str(self._source))
        stage = set_stage(scene)
        refuse_errors(diagnose(stage))
        with announce_compilation(say):
            built = prepare_scene(stage, _Teller(say), self._source)
        self._changes, self._method, self._settings = merged, method, settings
        return built


class _Teller(SilentListener):
    """Tells the page what a person at a terminal would read."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def say(self, text: str) -> None:
        self._say(text)


def view_file(look: Look, listener: Listener, say: Say, warn: Say) -> dict[str, Any]:
    """Show a scene, a mesh or a recording until somebody stops it with Ctrl-C; what was shown, by name."""
    require_viser()  # before a model is trained for nothing
    look = _find_scene(look)
    cache = None if look.source.suffix.lower() == ".toml" else open_cache(look.source)
    if cache is not None and cache.frames > 1:
        say(f"{look.source}: {cache.frames} frames, {len(cache.triangles)} triangles")
        with _serving(look, say, warn) as server:
            playback = Playback(server, cache)
            if look.play:
                playback.toggle()
            _run(playback)
        return {"file": str(look.source), "frames": cache.frames}
    builder = Builder(look)
    built = builder({}, listener.say)
    for line in built.describe():
        say(line)
    with _serving(look, say, warn) as server:
        player = Player(built, builder)
        Page(server, player, look.source, look.folder).start()
        if look.play:
            player.play()
        _run(player)
    return {"file": str(look.source), "method": built.solver.name}


def _find_scene(look: Look) -> Look:
    """The scene beside a trained model, which has no shape of its own, stepped with that model."""
    name = look.source.name.removesuffix(".model.npz")
    if name == look.source.name:
        return look
    scene = look.source.with_name(f"{name}.toml")
    if not scene.exists():
        raise SceneError(f"{look.source} holds no shape to show, and {scene.name} is not beside it: give its scene.")
    return replace(
        look, source=scene, changes=override(look.changes, {"method": {"model": str(look.source.resolve())}})
    )


@contextmanager
def _serving(look: Look, say: Say, warn: Say) -> Iterator[Any]:
    """A server while the block runs; its address is said, and opened where that was asked for."""
    guard = Guard(look.host, look.port)
    server = open_server(guard, f"supple: {look.source.name}")
    try:
        if look.host not in LOOPBACK:
            warn(f"warning: the page can be reached from other machines by who has its address ({look.host}).")
        say(f"open  {guard.url}  (Ctrl-C stops)")
        if look.open:
            threading.Thread(target=webbrowser.open, args=[guard.url], daemon=True).start()
        yield server
    except KeyboardInterrupt:
        pass  # before the work began: that is how one leaves
    finally:
        stop_server(server)


class _Runs(Protocol):
    def run(self) -> None: ...

    def close(self) -> None: ...


def _run(player: _Runs) -> None:
    """Work here, in the main thread, until it is interrupted."""
    before = {number: signal.signal(number, lambda *_: player.close()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        player.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
