"""From a scene and a tolerance to a model that meets it: cases, subspace, rule, and a check on cases held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.cubature.budget import Budget
from supple.errors import SceneError, TrainingError
from supple.method import RuledModel
from supple.scene.cases import Case, case_steps, draw_cases, draw_judges, is_driven, scene_steps
from supple.scene.pose_case import draw_pose_case
from supple.scene.progress import Listener, SilentListener
from supple.scene.snapshot_cache import SnapshotCache, record_cases
from supple.scene.stage import Stage
from supple.scene.statics_cache import StaticsRecorder
from supple.scene.training_basis import Span, soft_modes, span_motions
from supple.scene.training_bones import BoneGuide, DomainGuide
from supple.scene.training_motion import Guide, LocalMotion, Snapshots, gather_snapshots, see_locally
from supple.scene.training_pins import follow_pins
from supple.scene.training_report import announce, tell_cases, tell_search
from supple.scene.training_search import LOOSER, PROJECTION, TRIES, Attempt, Clock, Trainer, pick_attempt
from supple.subspace import bone_domains

__all__ = ["train_model"]


PRODUCTS = 1e12  #: that training of rules may form where training.budget is 1: README's scenes take a thousandth


def train_model(stage: Stage, *, cache: Path | None = None, listener: Listener | None = None) -> RuledModel:
    """A model of the scene's body that meets `method.tolerance` on held-out cases, or the best with a warning.

    Finished full-space runs are kept in the folder `cache`; what was done and achieved is told to the listener and
    stands in the model's facts.
    """
    _refuse_release(stage)
    listener, clock = listener or SilentListener(), Clock()
    lessons = _Lessons(stage, SnapshotCache(cache), clock, listener)
    table, method = stage.scene.training, stage.scene.method
    attempts: list[Attempt] = []
    span = lessons.extend(table.cases)
    while True:
        may_grow = lessons.drawn < table.most_cases
        if not may_grow or not span.is_thin(PROJECTION * method.accuracy, method.accuracy):
            attempts += lessons.search(span)
            is_over = not may_grow or lessons.budget.left == 0.0
            fixed = method.rank is not None and method.elements is not None
            if is_over or fixed or any(attempt.error <= method.accuracy for attempt in attempts):
                break
        listener.say(f"{len(lessons.cases)} training cases do not teach enough: more")
        span = lessons.extend(min(2 * lessons.drawn, table.most_cases))
    best = pick_attempt(attempts, method.accuracy)
    if not np.isfinite(best.error):
        raise TrainingError(
            f"none of the {len(attempts)} models tried could follow the held-out cases: raise training.cases, lower "
            'training.strength, or use method.name = "full".'
        )
    cases = tell_cases(stage, lessons.cases, lessons.heldout, lessons.train)
    facts = {**tell_search(stage, span, attempts, best, clock), **cases, "limited_by": lessons.tell_limit(best)}
    announce(best, facts, stage.scene, listener.say, span)
    return replace(best.model, error=best.error, facts=facts)


class _Lessons:
    """The motions that are learned from, of which there may be ever more, and those that judge."""

    def __init__(self, stage: Stage, cache: SnapshotCache, clock: Clock, listener: Listener) -> None:
        self._stage, self._cache, self._clock, self._listener = stage, cache, clock, listener
        with clock.phase("basis"):
            self._modes, self._guide = soft_modes(stage.body), _find_guide(stage, cache.folder, listener)
        period = 2.0 * np.pi / float(np.sqrt(self._modes.importance[0]))
        self._steps, self._heldout_steps = case_steps(stage, period)
        self._posed = draw_pose_case(stage)
        self.budget = Budget(stage.scene.training.budget * PRODUCTS)
        """Of the training of rules."""
        self._tell_plan()
        self.cases: list[Case] = []
        self.drawn = 0
        """Of the cases, those that vary the scene."""
        self.heldout: list[LocalMotion] = []
        self.train: Snapshots

    def _tell_plan(self) -> None:
        stage, say = self._stage, self._listener.say
        table, whole = stage.scene.training, scene_steps(stage, self._heldout_steps)
        if not is_driven(stage):
            say("nothing moves the body, so it is trained for gravity in random directions")
        say(
            f"training on {table.cases} cases of {self._steps} steps, judged by {table.heldout} of "
            f"{self._heldout_steps}, in full space"
        )
        steps = table.cases * self._steps + table.heldout * self._heldout_steps
        most = table.most_cases * self._steps + table.heldout * self._heldout_steps
        say(
            f"that is {steps} full steps, at most {most} in {table.most_cases} cases; models that are tried: at most "
            f"{TRIES + LOOSER} for a number of cases; rules: at most {self.budget.tell()}"
        )
        if self._heldout_steps < whole:
            say(f"judged on {self._heldout_steps} of {whole} steps of the scene: errors may grow after that")

    def extend(self, count: int) -> Span:
        """Learn from `count` cases in all; the subspaces they span."""
        stage = self._stage
        new = draw_cases(stage, self._steps, range(self.drawn, count))
        new += [] if self._posed is None or self.cases else [self._posed]
        self.drawn = count
        judges = [] if self.heldout else draw_judges(stage, self._heldout_steps)
        recorded = record_cases(stage, [*new, *judges], self._cache, self._listener)
        self._clock.add("simulate", sum(one.seconds for one in recorded))
        with self._clock.phase("basis"):
            lands = bool(stage.drive.obstacles) and not len(stage.body.pins.vertices)
            seen = (see_locally(recorded.pop(0), self._guide, lands=lands) for _ in range(len(recorded)))  # let go
            learned = gather_snapshots((next(seen) for _ in new), sum(case.steps + 1 for case in new))
            self.train = self.train.join(learned) if self.cases else learned
            self.cases += new
            self.heldout += seen
            method = stage.scene.method
            most = max(stage.scene.training.max_rank, method.rank or 0)
            return span_motions(stage.body, self._modes, self.train, self.heldout, method.accuracy, most)

    def search(self, span: Span) -> Sequence[Attempt]:
        """Models tried in these subspaces."""
        guide, say = self._guide, self._listener.say
        return Trainer(self._stage, span, guide, self.train, self.heldout, self._clock, say, self.budget).search()

    def tell_limit(self, best: Attempt) -> str | None:
        """What ended the training before the tolerance was met; None where it was met."""
        table = self._stage.scene.training
        if best.error <= self._stage.scene.method.accuracy:
            return None
        if self.budget.left == 0.0:
            return "training.budget"
        return "training.max_cases" if self.drawn >= table.most_cases else "search"


def _find_guide(stage: Stage, folder: Path | None, listener: Listener) -> Guide:
    """What carries the scene's body."""
    rigging = stage.drive.rigging
    if rigging is None:
        return follow_pins(stage)
    rig = rigging.skin
    forces, statics = stage.drive.forces(0.0), None
    if stage.contact is not None and stage.contact.rules and stage.scene.training.iterates:
        statics = StaticsRecorder(stage.body, rig, stage.contact, forces, folder, listener.say)
    learned = stage.contact, stage.scene.training.max_poses, forces, statics
    if stage.scene.training.domains == "none":
        return BoneGuide(stage.body, rig, *learned)
    return DomainGuide(stage.body, rig, *learned, bone_domains(stage.body, rig.skeleton, rig.influences))


def _refuse_release(stage: Stage) -> None:
    """Refuse pins that let go of vertices which the subspace is held at."""
    for number, part in enumerate(stage.drive.parts):
        if part.pin.from_ is None and part.pin.until is not None:
            raise SceneError(
                f"pin[{number}] lets go at {part.pin.until:g} s, which a subspace that is held there cannot: remove "
                'until, or use method.name = "full".'
            )
