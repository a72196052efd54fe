"""From a file on the command line to a page in a browser: what `supple view` does."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple._threads import available_threads, set_threads
from supple.errors import SceneError
from supple.io.cache import open_cache
from supple.scene.build import set_stage
from supple.scene.defaults import open_allowed
from supple.scene.doctor import diagnose
from supple.scene.kernels import announce_compilation
from supple.scene.launch import refuse_errors
from supple.scene.load import override
from supple.scene.method_table import MethodName
from supple.scene.prepare import prepare_scene
from supple.scene.progress import Listener, SilentListener
from supple.scene.stage import Built, Stage
from supple.view.bones import is_bone_file, open_bones
from supple.view.guard import Guard
from supple.view.page import Page
from supple.view.playback import Playback, Reel, RunReel
from supple.view.player import Player
from supple.view.server import open_server, require_viser, stop_server
from supple.view.stopping import Stop, listen_for_stop

if TYPE_CHECKING:
    import viser

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
    allow_code: bool = False  #: Python files that the scene names may be run
    overwrite: bool = False  #: models that supple did not write for this scene and method may be replaced
    threads: int | None = None  #: that simulate; where nothing is said, one core is left to the page


class Builder:
    """Makes the scene of a file, and its solver anew when it is changed."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def begin(self, say: Say) -> Built:
        """The scene as the file has it."""
        look = self._look
        scene, method = open_allowed(look.source, look.changes, look.allow_code, say), look.method
        return self(set_stage(scene if method is None else scene.under(method)), say)

    def __call__(self, stage: Stage, say: Say) -> Built:
        """A stage with its solver, which may have to be trained."""
        refuse_errors(diagnose(stage))
        with announce_compilation(say):
            return prepare_scene(stage, _Teller(say), self._look.source, overwrite=self._look.overwrite)


class _Teller(SilentListener):
    """Tells the page what a person at a terminal would read."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def say(self, text: str) -> None:
        self._say(text)


def view_file(look: Look, listener: Listener, say: Say, warn: Say) -> dict[str, Any]:
    """Show a scene, a mesh or a recording until somebody stops it with Ctrl-C; what was shown, by name."""
    require_viser()  # before a model is trained for nothing
    # Browser and server work, too, and threads that wait for each other on cores which others use wait long: drawn by
    # the second of two cores, a step of 8 ms took 700
    set_threads(look.threads or available_threads() - 1)
    look = _find_scene(look)
    if is_bone_file(look.source):
        bones = open_bones(look.source)
        return _play_back(look, bones, bones.describe(), say, warn)
    cache = None if look.source.suffix.lower() == ".toml" else open_cache(look.source)
    if cache is not None and cache.frames > 1:
        facts = f"{cache.frames} frames, {len(cache.triangles)} triangles"
        return _play_back(look, RunReel(cache), facts, say, warn)
    builder = Builder(look)
    built = builder.begin(listener.say)
    for line in built.describe():
        say(line)
    with _serving(look, say, warn) as (server, stop):
        player = Player(built, builder)
        page = Page(server, player, look.source, look.folder)
        page.start()
        if look.play:
            player.play()
        stop.run(player)
        page.finish()
    return {"file": str(look.source), "method": built.solver.name}


def _play_back(look: Look, reel: Reel, facts: str, say: Say, warn: Say) -> dict[str, Any]:
    """Show what was recorded."""
    say(f"{look.source}: {facts}")
    with _serving(look, say, warn) as (server, stop):
        playback = Playback(server, reel)
        if look.play:
            playback.toggle()
        stop.run(playback)
    return {"file": str(look.source), "frames": len(reel.times)}


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
def _serving(look: Look, say: Say, warn: Say) -> Iterator[tuple[viser.ViserServer, Stop]]:
    """A server while the block runs; its address is said, and opened where that was asked for."""
    guard = Guard(look.host, look.port)
    with listen_for_stop() as stop:
        server = open_server(guard, f"supple: {look.source.name}")
        try:
            if look.host not in LOOPBACK:
                warn(f"warning: the page can be reached from other machines by who has its address ({look.host}).")
            say(f"open  {guard.url}  (Ctrl-C stops)")
            if look.open:
                threading.Thread(target=webbrowser.open, args=[guard.url], daemon=True).start()
            yield server, stop
        finally:
            stop_server(server)
