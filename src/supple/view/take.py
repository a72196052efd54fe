"""A live run of a scene: what was done to it, frame by frame, and what came of it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from supple.io.files import writing
from supple.scene.build import Built
from supple.scene.crossing import make_check
from supple.scene.simulate import Simulated, advance, start_scene, steer
from supple.solve import Event, Grab, Move, event_to_dict

__all__ = ["Take"]

MEMORY = 2**29  #: bytes of frames that are kept to go back to
STATE = 9 * 8  #: bytes of a vertex in a state: position, velocity, acceleration


class Take:
    """A run from the scene's beginning, as long as somebody goes on with it.

    Events act on the way to the next frame and are logged with the frame they follow, so that `supple run --replay`
    makes the same frames of the log.
    """

    def __init__(self, built: Built) -> None:
        self.log: dict[int, tuple[Event, ...]] = {}
        self.scene, self.built = built, steer(built, self.log)
        self._check = make_check(built)
        kept = max(2, MEMORY // (STATE * len(built.mesh.vertices)))
        self._frames = deque([start_scene(built)], maxlen=kept)

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
        return -self.built.scene.time.preroll

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

    def held(self) -> dict[str, Grab]:
        """The points that are pulled at, by name, as the events so far leave them."""
        grabs = {grab.name: grab for grab in self.now.state.live.grabs}
        for event in self.log.get(self.now.frame, ()):
            if isinstance(event, Grab):
                grabs[event.name] = event
            elif getattr(event, "name", None) in grabs:
                old = grabs.pop(event.name)  # type: ignore[union-attr]
                if isinstance(event, Move):
                    grabs[event.name] = Grab(old.name, old.vertices, old.weights, event.target, old.stiffness)
        return grabs

    def advance(self) -> Simulated:
        """Simulate one more frame."""
        self._frames.append(advance(self.built, self.now, self.log.get(self.now.frame, ()), self._check))
        return self.now

    def save_log(self, path: Path) -> None:
        """Write the events so far, one a line, as `--replay` reads them."""
        entries = ((frame, event) for frame, events in sorted(self.log.items()) for event in events)
        lines = [json.dumps({"frame": frame, "event": event_to_dict(event)}) + "\n" for frame, event in entries]
        with writing(path):
            path.write_text("".join(lines), encoding="utf-8")
