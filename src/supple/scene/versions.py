"""A scene as the events of a log change it on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from supple.method import TrainedModel
from supple.scene.change import carry, change_scene, keeps_model, restage
from supple.scene.replay import EventLog
from supple.scene.solvers import add_solver
from supple.scene.stage import Built, Stage
from supple.scene.steer import Steering
from supple.solve import Event, SetScene

__all__ = ["Remake", "Versions", "steer"]

Remake = Callable[[Stage], Built]


def steer(built: Built, events: EventLog) -> Built:
    """The scene with rig and colliders moved by events, too; the log may grow while it runs."""
    return replace(built, drive=replace(built.drive, steering=Steering(events, built.scene.time.fps)))


class Versions:
    """What each frame is made by, as a function of the log alone, which may grow at its end meanwhile.

    A change that follows frame k counts from the step to frame k + 1 on.
    """

    def __init__(self, built: Built, log: EventLog, remake: Remake = add_solver) -> None:
        """`remake` finds the solver of a changed scene, and trains it where that must be."""
        self._log, self._remake = log, remake
        self._made: list[tuple[int, Built]] = [(-built.scene.time.preroll - 1, steer(built, log))]
        self._read = -built.scene.time.preroll, 0  # the frame and its changes up to which the log is known

    @property
    def newest(self) -> Built:
        """The scene after all changes that were made so far."""
        return self._made[-1][1]

    def __iter__(self) -> Iterator[tuple[int, Built]]:
        """Frames after which the scene changed, the first before them all, and what it then was."""
        return iter(self._made)

    def at(self, frame: int) -> Built:
        """The scene that made a frame."""
        self._read_until(frame)
        return next(built for since, built in reversed(self._made) if since < frame)

    def enter(self, frame: int, state: Any) -> tuple[Built, Any, tuple[Event, ...]]:
        """What goes on from a frame, that frame's state in it, and what it must be told."""
        old, new = self.at(frame), self.at(frame + 1)
        return (new, state, ()) if new is old else (new, *carry(old, new, state))

    def _read_until(self, frame: int) -> None:
        """Make what the log asks for up to the step to a frame."""
        begin, done = self._read
        for number in range(begin, frame):
            changes = [event for event in self._log.get(number, ()) if isinstance(event, SetScene)]
            for event in changes[done:]:
                self._made.append((number, self._make(event)))
                done += 1
                self._read = number, done
            done = 0
            self._read = number, len(changes)

    def _make(self, event: SetScene) -> Built:
        """The newest scene with one more change."""
        scene = change_scene(self.newest.scene, event.changes)
        stage, model = restage(self.newest, scene), self._recall(scene)
        return steer(self._remake(stage) if model is None else add_solver(stage, model), self._log)

    def _recall(self, scene: Any) -> TrainedModel | None:
        """The model of an earlier version that serves this one, too."""
        fitting = (built.model for _, built in reversed(self._made) if keeps_model(built.scene, scene))
        return next(fitting, None)
