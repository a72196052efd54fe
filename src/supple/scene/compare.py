"""Methods side by side on one scene: what each costs, and how far each is from the full solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from supple.errors import ConvergenceError, SceneError
from supple.method.measure import Errors, Measure
from supple.method.projective.stopping import CONVERGENCE, MOST
from supple.scene.compare_run import Track, run_track, time_first_frames
from supple.scene.kernels import announce_compilation
from supple.scene.progress import Listener, SilentListener
from supple.scene.solvers import add_solver
from supple.scene.stage import Built, Stage

__all__ = [
    "Comparison",
    "Contestant",
    "Entry",
    "compare_methods",
    "longest_side",
    "pick_full_solver",
    "pick_reference",
    "under_full",
]

FURTHER = 10  #: times as far as a method converge the projective steps that it is held against
TRIAL_FRAMES = 3  #: of each linear solver, after one that warms it up


@dataclass(frozen=True, eq=False)
class Contestant:
    """A solver to hold against the full one, or the full one itself."""

    label: str
    built: Built
    file: Path | None = None  #: of its model

    @property
    def facts(self) -> Mapping[str, Any]:
        """What training chose, achieved and cost; nothing for a method without a model."""
        return {} if self.built.model is None else self.built.model.facts


@dataclass(frozen=True, eq=False)
class Entry:
    """A contestant, how it ran, and its errors against the full solver (None when no frame was reached)."""

    contestant: Contestant
    track: Track
    errors: Errors | None
    of_flesh: float | None = None
    """Error of the run relative to what flesh moves beside its bones; None without a rig."""

    @property
    def tolerance(self) -> float | None:
        """The accuracy that its model was asked for, as far as the model tells."""
        asked = self.contestant.facts.get("tolerance")
        return None if asked is None else float(asked)

    @property
    def offline_s(self) -> float | None:
        """What its model cost to make [s], as far as the model tells."""
        seconds = self.contestant.facts.get("seconds")
        total = sum(seconds.values()) if isinstance(seconds, Mapping) else seconds
        return None if total is None else float(total)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The full solver's run, and every contestant's."""

    reference: Contestant
    trials: Mapping[str, float]  #: milliseconds a frame of each full solver tried, over the first frames
    track: Track
    entries: tuple[Entry, ...]

    @property
    def newton_tolerance(self) -> float:
        """Residual to which full steps are solved."""
        return self.reference.built.scene.method.residual

    def speedup(self, entry: Entry) -> float | None:
        """How many times less a frame costs online than in full space; None when no frame was reached."""
        spent = entry.track.ms_per_frame
        if not spent > 0.0:
            return None
        reached = len(entry.track.rows)  # frames that both have
        return float(self.track.frame_ms[:reached].mean()) / spent

    def break_even(self, entry: Entry) -> int | None:
        """Frames after which the offline cost is won back; None when it is unknown or never is."""
        saved = 1e-3 * (self.track.ms_per_frame - entry.track.ms_per_frame)
        if entry.offline_s is None or not saved > 0.0 or entry.track.failure is not None:
            return None
        return int(np.ceil(entry.offline_s / saved))

    @property
    def kinetic_at_half(self) -> float | None:
        """Kinetic energy at half time as a share of its peak; None for statics."""
        return self._kinetic(slice(len(self.track.rows) // 2, len(self.track.rows) // 2 + 1))

    @property
    def kinetic_later(self) -> float | None:
        """Largest kinetic energy of the second half as a share of its peak: half time may be a turning point."""
        return self._kinetic(slice(len(self.track.rows) // 2, None))

    def _kinetic(self, chosen: slice) -> float | None:
        energies = np.array([row.kinetic_energy for row in self.track.rows])
        is_static = self.reference.built.scene.time.integrator == "static"
        return None if is_static or not energies.max() > 0.0 else float(energies[chosen].max() / energies.max())


def compare_methods(
    reference: Contestant,
    contestants: Sequence[Contestant],
    *,
    trials: Mapping[str, float] | None = None,
    listener: Listener | None = None,
) -> Comparison:
    """Run the reference, then each contestant, one after the other with warm kernels; errors over the same frames.

    A contestant that fails keeps its frames and says why; a reference that fails ends the comparison.
    """
    listener = listener or SilentListener()
    with announce_compilation(listener.say):
        listener.say(f"{reference.label} ...")
        track = _run_warm(reference.built, listener)
        if track.failure is not None:
            raise ConvergenceError(f"the full solver has no result to compare with: {track.failure}")
        entries = []
        for contestant in contestants:
            listener.say(f"{contestant.label} ...")
            run = _run_warm(contestant.built, listener)
            errors, of_flesh = _measure(contestant.built, run, track), _measure_flesh(contestant.built, run, track)
            entries.append(Entry(contestant, run, errors, of_flesh))
    return Comparison(reference, dict(trials or {}), track, tuple(entries))


def _run_warm(built: Built, listener: Listener) -> Track:
    """The solver's run, after one frame that compiles kernels and fills caches."""
    with suppress(ConvergenceError):  # the run itself will tell
        time_first_frames(built, 1)
    return run_track(built, listener)


def _measure(built: Built, track: Track, reference: Track) -> Errors | None:
    """The errors of the frames that were reached."""
    if not track.rows:
        return None
    measure = Measure(reference.start, built.body.mass, longest_side(built))
    for number in range(len(track.frames)):
        measure.add(track.frames[number], reference.frames[number])
    return measure.finish()


def _measure_flesh(built: Built, track: Track, reference: Track) -> float | None:
    """The error of the frames that were reached, as training has it: relative to what flesh moves beside bones."""
    rigging, rest = built.drive.rigging, built.mesh.vertices
    if rigging is None or not track.rows:
        return None
    measure = Measure(rest, built.body.mass, longest_side(built))
    for row, x, wanted in zip(track.rows, track.frames, reference.frames, strict=False):
        pose = rigging.course.pose(row.time)
        if rigging.rest == "posed":
            there = rest - rigging.rig.positions(pose)
            measure.add(there + x, there + wanted)
        else:
            measure.add(rigging.skin.pull_back(pose, x), rigging.skin.pull_back(pose, wanted))
    return measure.finish().relative


def longest_side(built: Built) -> float:
    """Longest side of the box around the body at rest [m]."""
    low, high = built.mesh.bounds()
    return float((high - low).max())


def pick_reference(stage: Stage, listener: Listener) -> tuple[Contestant, dict[str, float]]:
    """What a method is held against, and the milliseconds a frame of each full solver tried.

    That is the full solver, with the same materials. It knows no shells, skins, springs and the like: bodies that have
    them are held against projective dynamics in full space that is converged ten times as far.
    """
    scene = stage.scene
    for name, one in stage.members.items():
        if one.scene.own_ties():
            raise SceneError(
                f'body "{name}" has {one.scene.own_ties()[0]}, which the full solver does not know: remove it.'
            )
    if not scene.own_ties():
        return pick_full_solver(stage, listener)
    table = scene.under("projective").method
    most = FURTHER * max(table.max_iterations or MOST, table.iterations or 0)
    exact = {"convergence": (table.convergence or CONVERGENCE) / FURTHER, "max_iterations": most}
    table = table.model_copy(update=exact)
    built = add_solver(replace(stage, scene=scene.model_copy(update={"method": table})))
    return Contestant(f"projective (converged {FURTHER} times as far)", built), {}


def pick_full_solver(stage: Stage, listener: Listener) -> tuple[Contestant, dict[str, float]]:
    """The full solver with the faster of direct and iterative linear solvers, and the milliseconds a frame of each.

    This is a measurement, so here the clock may choose; a scene that names its linear solver is tried with that only.
    """
    named = stage.scene.method.linear_solver
    trials: dict[str, float] = {}
    best: Contestant | None = None
    with announce_compilation(listener.say):
        for name in ("direct", "pcg") if named == "auto" else (named,):
            built = under_full(stage, name)
            time_first_frames(built, 1)
            spent = time_first_frames(built, TRIAL_FRAMES)
            listener.say(f"full solver, {name}: {mean(spent):.1f} ms per frame over the first {len(spent)}")
            if best is None or mean(spent) < min(trials.values()):
                best = Contestant(f"full ({name})", built)
            trials[name] = mean(spent)
    assert best is not None
    return best, trials


def under_full(stage: Stage, linear_solver: str) -> Built:
    """The scene under the full solver, to the Newton tolerance that its own method has."""
    scene = stage.scene.under("full")
    method = scene.method.model_copy(update={"linear_solver": linear_solver})
    return add_solver(replace(stage, scene=scene.model_copy(update={"method": method})))
