"""A live run of a scene: what was done to it, frame by frame, and what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from supple.scene.monitor import Placed, RunMonitor
from supple.scene.replay import EventLog
from supple.scene.simulate import Simulated, go_on, start_scene
from supple.scene.solvers import add_solver
from supple.scene.stage import Built
from supple.scene.versions import Remake, Versions
from supple.solve import Event, Grab, Move, Release, SetScene

__all__ = ["Take"]

MEMORY = 2**29  #: bytes of frames that are kept to go back to
STATE = 9 * 8  #: bytes of a vertex in a state: position, velocity, acceleration


class Take:
    """A run from the scene's beginning, as long as somebody goes on with it.

    Events act on the way to the next frame and are logged with the frame they follow, so that `supple run --replay`
    makes the same frames of the log.
    """

    def __init__(self, built: Built, remake: Remake = add_solver) -> None:
        self.log: EventLog = {}
        self.versions = Versions(built, self.log, remake)
        self.scene = self.versions.newest  #: with which it began
        self._monitor = RunMonitor(built, _place)
        self._held: dict[str, Grab] = {}
        kept = max(2, MEMORY // (STATE * len(built.mesh.vertices)))
        self._frames = deque([start_scene(built)], maxlen=kept)

    @property
    def built(self) -> Built:
        """The scene that goes on from the last frame."""
        return self.versions.newest

    @property
    def now(self) -> Simulated:
        """The last frame."""
        return self._frames[-1]

    @property
    def first(self) -> int:
        """Number of the earliest frame that is kept."""
        return self._frames[0].frame

    @property
    def begin(self) -> int:
        """Number of the frame with which the run began: 0, or the first of the pre-roll."""
        return -self.scene.scene.time.preroll

    def find(self, frame: int) -> Simulated:
        """The kept frame nearest to a number."""
        return self._frames[min(max(frame - self.first, 0), len(self._frames) - 1)]

    def __iter__(self) -> Iterator[Simulated]:
        return iter(tuple(self._frames))

    def act(self, event: Event) -> None:
        """Do something to the body before the next step; the last of several moves of one grab counts."""
        done = self.log.get(self.now.frame, ())
        if isinstance(event, Move):
            done = tuple(old for old in done if not (isinstance(old, Move) and old.name == event.name))
        self.log[self.now.frame] = (*done, event)
        match event:
            case Grab(name):
                self._held[name] = event
            case Move(name, target) if name in self._held:
                self._held[name] = replace(self._held[name], target=target)
            case Release(name):
                self._held.pop(name, None)

    def change(self, changes: dict[str, dict[str, Any]]) -> None:
        """Change keys of the scene before the next step; what cannot be made changes nothing."""
        before = self.log.get(self.now.frame, ())
        self.act(SetScene(changes))
        try:
            self.versions.at(self.now.frame + 1)
        except BaseException:
            self.log[self.now.frame] = before
            raise

    def held(self) -> dict[str, Grab]:
        """The points that are pulled at, by name, as the events so far leave them."""
        return dict(self._held)

    def advance(self) -> Simulated:
        """Simulate one more frame."""
        made = go_on(self.versions, self.now, self.log.get(self.now.frame, ()), self._monitor)
        self._frames[-1] = self.now._replace(placed=None)  # states are kept, and small
        self._frames.append(made)
        return made


def _place(built: Built, frame: int, state: Any) -> Placed:
    """All vertices: every frame is shown."""
    return Placed(built.solver.positions(state))
