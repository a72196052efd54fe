"""Plays a scene live: commands come in from anywhere, frames go out, one thread simulates."""

from __future__ import annotations

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleError, SuppleWarning
from supple.scene.load import override
from supple.scene.simulate import Simulated
from supple.scene.solvers import add_solver
from supple.scene.stage import Built, Stage
from supple.solve import Event, SetGravity, SetStiffness, SetThrottle
from supple.view.fields import ERROR, find_values, list_fields
from supple.view.mailbox import Mailbox
from supple.view.reference import Reference
from supple.view.take import Take

__all__ = ["Player", "Shown"]

FloatArray = NDArray[np.float64]
STANDING = (SetStiffness, SetGravity, SetThrottle)  #: settings that outlive a reset
WATCHED = 12  #: frames from which the speed of play is told


@dataclass(frozen=True, eq=False)
class Shown:
    """What there is to see."""

    take: Take
    built: Built
    """What made the frame."""
    following: Built
    """What goes on from the last one."""
    now: Simulated
    x: FloatArray
    """Positions of all vertices [m], (n, 3)."""
    last: int
    """Number of the last frame that was simulated; `now` may be an earlier one."""
    playing: bool
    speed: float | None
    """Simulated time over real time of the last frames; None when it stands."""
    doing: str = ""
    """What takes longer than a step, such as training."""
    error: str = ""
    """Why it stands, if it was not asked to."""
    warned: tuple[str, ...] = ()
    """What the solver has warned of since the player began."""
    field: str = ""
    values: FloatArray | None = None
    """The field that was asked for at every vertex, (n,)."""


class Remakes(Protocol):
    """Finds the solver of a scene that was changed; tells what it is doing."""

    def __call__(self, stage: Stage, say: Callable[[str], None]) -> Built: ...


class Player:
    """A take that is played, paused, stepped, pulled at and begun anew.

    All methods but `run` return at once and may be called by any thread; `run` does the work where it is called. It
    rests while nobody watches.
    """

    def __init__(self, built: Built, remake: Remakes | None = None, *, hurry: bool = False) -> None:
        """`hurry`: simulate as fast as it goes, not at most in real time."""
        self.shown: Mailbox[Shown] = Mailbox()
        self._remake, self._hurry = remake, hurry
        self._asked: deque[Callable[[], None]] = deque()
        self._wake = threading.Condition()
        self._take = Take(built, self._make)
        self._seen = self._take.now.frame
        self._changes: dict[str, Any] = {}
        self._standing: dict[type[Event], Event] = {}
        self._playing, self._steps, self._watchers, self._closed = False, 0, 0, False
        self._error = self._doing = self._field = ""
        self._warned: list[str] = []
        self._reference: Reference | None = None
        self._due, self._ends = 0.0, deque[float](maxlen=WATCHED)

    def play(self) -> None:
        """Go on from the last frame."""
        self._ask(lambda: self._set_playing(True))

    def pause(self) -> None:
        """Stand still after the frame at hand."""
        self._ask(lambda: self._set_playing(False))

    def toggle(self) -> None:
        """Play when it stands, stand when it plays."""
        self._ask(lambda: self._set_playing(not self._playing))

    def step(self) -> None:
        """Simulate one frame and stand."""
        self._ask(self._do_step)

    def seek(self, frame: int) -> None:
        """Stand and show a frame that was simulated before."""
        self._ask(lambda: self._do_seek(frame))

    def shift(self, frames: int) -> None:
        """Show so many frames later or earlier; at the end, one later is a step."""
        self._ask(lambda: self._do_shift(frames))

    def reset(self) -> None:
        """Begin anew with the same scene; settings stay, all else that was done is forgotten."""
        self._ask(lambda: self._begin(self._take.built))

    def hurry(self, on: bool) -> None:
        """Simulate as fast as it goes, or at most in real time."""
        self._ask(lambda: setattr(self, "_hurry", on))

    def act(self, event: Event) -> None:
        """Do something to the body before the next frame."""
        self._ask(lambda: self._do_act(event))

    def change(self, changes: Mapping[str, Any]) -> None:
        """Go on with keys of the scene changed, such as its method; what was asked for meanwhile is done at once."""

        def note() -> None:
            self._changes = override(self._changes, changes)

        self._ask(note)
        self._ask(self._do_change)

    def do(self, work: Callable[[Take], None], doing: str) -> None:
        """Have something done with the take between frames, where nothing moves."""
        self._ask(lambda: self._do_work(work, doing))

    def refresh(self) -> None:
        """Show the same again."""
        self._ask(lambda: None)

    def watch(self, watchers: int) -> None:
        """Work as long as somebody watches."""
        self._ask(lambda: setattr(self, "_watchers", watchers))

    def colour(self, field: str) -> None:
        """Show a field, too; none if it is empty."""
        self._ask(lambda: setattr(self, "_field", field))

    def close(self) -> None:
        """End `run` after the frame at hand."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def run(self) -> None:
        """Simulate until it is closed."""
        self._tell()
        try:
            while self._wait():
                self._guarded(self._obey)
                if self._is_due():
                    self._guarded(self._advance)
                self._guarded(self._tell)
        finally:
            self.shown.close()

    def _ask(self, command: Callable[[], None]) -> None:
        with self._wake:
            self._asked.append(command)
            self._wake.notify_all()

    def _wait(self) -> bool:
        """Rest until there is something to do; whether to go on."""
        with self._wake:
            while not (self._closed or self._asked or self._is_due()):
                self._wake.wait(self._due - time.monotonic() if self._is_wanted() else None)
            return not self._closed

    def _is_wanted(self) -> bool:
        return self._watchers > 0 and (self._playing or self._steps > 0)

    def _is_due(self) -> bool:
        return self._is_wanted() and (self._hurry or self._steps > 0 or time.monotonic() >= self._due)

    def _obey(self) -> None:
        while self._asked:
            self._asked.popleft()()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do something; what goes wrong is shown, and the player stands. What is warned of is shown, too, once."""
        try:
            with warnings.catch_warnings(record=True) as caught:
                work()
            for warning in caught:
                self._pass_on(warning)
        except SuppleError as error:
            self._stand(str(error))
        except Exception as error:  # the page must outlive it, and say it
            self._stand(f"{type(error).__name__}: {error}; a fault of supple: please report it.")

    def _pass_on(self, warning: warnings.WarningMessage) -> None:
        """What was warned of to the page, if that is for users, and to the terminal."""
        text = str(warning.message)
        if text in self._warned:
            return
        if issubclass(warning.category, SuppleWarning):
            self._warned.append(text)
        warnings.warn(text, warning.category, stacklevel=2)

    def _stand(self, error: str) -> None:
        self._error, self._doing = error, ""
        if self._field == ERROR:
            self._field = ""  # the full solver may be what failed
        self._playing, self._steps = False, 0

    def _advance(self) -> None:
        """One frame, and when the next one is due."""
        now = time.monotonic()
        duration = 1.0 / self._take.built.scene.time.fps
        self._due = max(self._due + duration, now)
        self._steps = max(0, self._steps - 1)
        self._take.advance()
        self._seen, self._error = self._take.now.frame, ""
        self._ends.append(time.monotonic())

    def _set_playing(self, playing: bool) -> None:
        self._playing, self._steps = playing, 0
        self._ends.clear()
        if playing:
            self._seen = self._take.now.frame

    def _do_step(self) -> None:
        steps = self._steps  # asked for and not yet done
        self._set_playing(False)
        self._steps = steps + 1

    def _do_seek(self, frame: int) -> None:
        self._set_playing(False)
        self._seen = self._take.find(frame).frame

    def _do_shift(self, frames: int) -> None:
        if frames > 0 and self._seen >= self._take.now.frame:
            self._do_step()
        else:
            self._do_seek(self._seen + frames)

    def _do_act(self, event: Event) -> None:
        if isinstance(event, STANDING):
            self._standing[type(event)] = event
        self._take.act(event)

    def _begin(self, built: Built) -> None:
        """A new take, with the settings that stand."""
        self._take = Take(built, self._make)
        for event in self._standing.values():
            self._take.act(event)
        self._seen, self._error = self._take.now.frame, ""
        self._ends.clear()

    def _do_change(self) -> None:
        """All changes that were asked for, as one."""
        if any(command == self._do_change for command in self._asked):
            return  # more of them come
        changes, self._changes = self._changes, {}
        self._say("preparing ...")
        self._take.change(changes)
        self._doing = self._error = ""
        if self._field not in list_fields(self._take.built):
            self._field = ""
        self._ends.clear()

    def _make(self, stage: Stage) -> Built:
        return add_solver(stage) if self._remake is None else self._remake(stage, self._say)

    def _do_work(self, work: Callable[[Take], None], doing: str) -> None:
        self._say(doing)
        work(self._take)
        self._doing = ""

    def _say(self, text: str) -> None:
        """Tell what is being done while it takes long."""
        self._doing = text
        self._tell()

    def _find_values(self, now: Simulated, x: FloatArray) -> FloatArray | None:
        """The field that was asked for; the error against the full solver has that run along."""
        if self._field != ERROR:
            return find_values(self._field, self._take.versions.at(now.frame), now, x) if self._field else None
        if self._doing:
            return None
        if self._reference is None or self._reference.take is not self._take:
            self._reference = Reference(self._take)
        full = self._reference.positions(now.frame, self._say)
        self._doing = ""
        return None if full is None else np.asarray(np.linalg.norm(x - full, axis=1))

    def _speed(self) -> float | None:
        if not self._playing or len(self._ends) < 2:
            return None
        spent = self._ends[-1] - self._ends[0]
        return (len(self._ends) - 1) / self._take.built.scene.time.fps / spent if spent > 0.0 else None

    def _tell(self) -> None:
        """Leave what there is to see for whoever shows it."""
        take = self._take
        now = take.find(self._seen) if self._seen >= take.first else take.now
        self._seen = now.frame
        built = take.versions.at(now.frame)
        x = built.solver.positions(now.state) if now.placed is None else now.placed.x
        values = self._find_values(now, x)
        words = self._doing, self._error, tuple(self._warned), self._field
        self.shown.put(
            Shown(take, built, take.built, now, x, take.now.frame, self._playing, self._speed(), *words, values)
        )
