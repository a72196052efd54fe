"""From a scene and a tolerance to a model that meets it: cases, subspace, rule, and a check on cases held out."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.errors import ConvergenceError, SceneError, SuppleWarning, TrainingError
from supple.method import ReducedModel
from supple.scene.build import Stage, reduced_solver
from supple.scene.cases import Case, case_steps, draw_cases, is_driven, play_case, scene_steps
from supple.scene.progress import Listener, SilentListener
from supple.scene.schema import Scene
from supple.scene.snapshot_cache import SnapshotCache, record_cases
from supple.scene.training_basis import Span, check_rank, soft_modes, span_motions
from supple.scene.training_motion import LocalMotion, Snapshots, follow_pins, gather_snapshots, see_locally
from supple.scene.training_rule import find_rule
from supple.subspace import Basis

__all__ = ["train_model"]

FloatArray = NDArray[np.float64]

TRIES, LOOSER = 6, 2  #: models to try until one is good enough, and to try with looser rules after that
PROJECTION = 0.25  #: share of the tolerance that the subspace may miss of held-out cases at first
FORCES = 1.0  #: tolerance of the rule at first, as a share of the whole
MARGIN, TIGHTER = 0.8, (0.25, 0.8)  #: both are refined by what the error exceeds the tolerance by, within these
STALLED = 0.9  #: share of the error that refinements must get below to count
CHANCE = 0.1  #: share of the first rule's tolerance that must have been tried before the search is given up
NEARLY = 1.15  #: errors up to this multiple of the least are as good, where none meets the tolerance
RULES = 10  #: tolerances to try for a rule of few enough elements


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A model that was tried."""

    model: ReducedModel
    projection: float  #: share of the held-out cases that its subspace misses
    aim: float  #: tolerance its rule was asked for
    error: float  #: against the full solver on the held-out cases; infinite when it failed


@dataclass
class _Clock:
    """Seconds by phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def train_model(stage: Stage, *, cache: Path | None = None, listener: Listener | None = None) -> ReducedModel:
    """A model of the scene's body that meets `method.tolerance` on held-out cases, or the best with a warning.

    Finished full-space runs are kept in the folder `cache`; what was done and achieved is told to the listener and
    stands in the model's facts.
    """
    _refuse_release(stage)
    listener, clock = listener or SilentListener(), _Clock()
    with clock.phase("basis"):
        modes = soft_modes(stage.body)
    steps, heldout_steps = case_steps(stage, 2.0 * np.pi / float(np.sqrt(modes.importance[0])))
    if not is_driven(stage):
        listener.say("nothing moves the body, so it is trained for gravity in random directions")
    cases, judges = draw_cases(stage, steps, heldout_steps)
    listener.say(
        f"training on {len(cases)} cases of {steps} steps, judged by {len(judges)} of {heldout_steps}, in full space"
    )
    whole = scene_steps(stage, heldout_steps)
    if heldout_steps < whole:
        listener.say(f"judged on {heldout_steps} of {whole} steps of the scene: errors may grow after that")
    recorded = record_cases(stage, [*cases, *judges], SnapshotCache(cache), listener)
    clock.seconds["simulate"] = sum(one.seconds for one in recorded)
    with clock.phase("basis"):
        frame = follow_pins(stage)
        seen = (see_locally(recorded.pop(0), frame) for _ in range(len(recorded)))  # positions are let go one by one
        train = gather_snapshots(itertools.islice(seen, len(cases)), sum(case.steps + 1 for case in cases))
        heldout = list(seen)
        method = stage.scene.method
        most = max(stage.scene.training.max_rank, method.rank or 0)
        span = span_motions(stage.body, modes, train, heldout, method.accuracy, most)
    trainer = _Trainer(stage, span, frame.carried, train, heldout, clock, listener.say)
    attempts = trainer.search()
    best = _pick(attempts, method.accuracy)
    if not np.isfinite(best.error):
        raise TrainingError(
            f"none of the {len(attempts)} models tried could follow the held-out cases: raise training.cases, lower "
            'training.strength, or use method.name = "full".'
        )
    facts = {**_tell(stage, span, attempts, best, clock), **_tell_cases(stage, cases, heldout, train)}
    _announce(best, facts, stage.scene, listener.say, span)
    return replace(best.model, error=best.error, facts=facts)


def _refuse_release(stage: Stage) -> None:
    """Refuse pins that let go of vertices which the subspace is held at."""
    for number, part in enumerate(stage.drive.parts):
        if part.pin.from_ is None and part.pin.until is not None:
            raise SceneError(
                f"pin[{number}] lets go at {part.pin.until:g} s, which a subspace that is held there cannot: remove "
                'until, or use method.name = "full".'
            )


@dataclass(frozen=True, eq=False)
class _Trainer:
    """Tries ranks and rules on the motions at hand."""

    stage: Stage
    span: Span
    carried: FloatArray
    train: Snapshots
    heldout: Sequence[LocalMotion]
    clock: _Clock
    say: Callable[[str], None]

    def search(self) -> list[_Attempt]:
        """Attempts, the last of which meets the tolerance at the least cost found; or else as many as are allowed.

        Subspace and rule are refined together until the held-out cases agree, then the rule gives back what it can.
        """
        method = self.stage.scene.method
        if method.rank is not None:
            check_rank(method.rank, self.span)
        miss, aim = PROJECTION * method.accuracy, FORCES * method.accuracy
        attempts: list[_Attempt] = []
        while len(attempts) < TRIES:
            attempts.append(self._try(method.rank or self.span.rank_for(miss), aim))
            if attempts[-1].error <= method.accuracy:
                return attempts + (self._give_back(attempts[-1]) if len(attempts) > 1 else [])
            if (method.rank is not None and method.elements is not None) or _has_stalled(attempts):
                break
            share = float(np.clip(MARGIN * method.accuracy / attempts[-1].error, *TIGHTER))
            if len(attempts) > 1 and not _has_gained(attempts, 1):
                share = TIGHTER[0]  # small refinements did nothing: near the tolerance they would use up all tries
            miss, aim = share * miss, share * aim
        return attempts

    def _give_back(self, met: _Attempt) -> list[_Attempt]:
        """Attempts with ever looser rules in the same subspace, up to the first that is not good enough."""
        attempts: list[_Attempt] = []
        while len(attempts) < LOOSER and 2.0 * met.aim <= FORCES * self.stage.scene.method.accuracy:
            attempts.append(self._try(met.model.basis.rank, 2.0 * met.aim))
            if attempts[-1].error > self.stage.scene.method.accuracy:
                break
            met = attempts[-1]
        return attempts

    def _try(self, rank: int, aim: float) -> _Attempt:
        """A model of this rank with a rule to this tolerance, and its error."""
        with self.clock.phase("basis"):
            basis, coordinates = self.span.basis(rank)
            reach = float(np.sqrt((coordinates**2 @ basis.importance).max()))
        with self.clock.phase("rule"):
            rule = self._make_rule(basis, coordinates, aim)
        model = ReducedModel(basis, rule, self.carried, reach)
        with self.clock.phase("check"):
            error = max(self._error(model, motion) for motion in self.heldout)
        projection = float(self.span.missed[rank - 1])
        self.say(
            f"rank {rank}, {rule.size} elements: error {100 * error:.3g} % on held-out cases "
            f"(the subspace misses {100 * projection:.3g} %)"
        )
        return _Attempt(model, projection, aim, error)

    def _make_rule(self, basis: Basis, q: FloatArray, aim: float) -> Rule:
        """A rule to this tolerance, or to the first looser one that is small enough."""
        most, seed = self.stage.scene.method.elements, self.stage.scene.training.seed
        for _ in range(RULES):
            rng = np.random.default_rng([seed, 2])
            rule = find_rule(self.stage.body, basis, self.carried, self.train, q, min(aim, 0.5), rng)
            if most is None or rule.size <= most:
                return rule
            aim *= 1.5
        raise TrainingError(f"method.elements = {most} are too few for a subspace of rank {basis.rank}: raise them.")

    def _error(self, model: ReducedModel, motion: LocalMotion) -> float:
        """How far the model's run of a case is from the full one; infinite when it fails."""
        body = self.stage.body
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SuppleWarning)  # a case may go beyond the trained ones: it is measured
                played = [x for x, _ in play_case(motion.case, reduced_solver(self.stage, model))]
        except ConvergenceError:
            return float("inf")
        error = motion.error(played, body.mesh.vertices, body.mass, body.mesh.size())
        return error if np.isfinite(error) else float("inf")


def _has_gained(attempts: Sequence[_Attempt], last: int) -> bool:
    """Whether the last few attempts brought anything over those before."""
    errors = [attempt.error for attempt in attempts]
    return min(errors[-last:]) <= STALLED * min(errors[:-last])


def _has_stalled(attempts: Sequence[_Attempt]) -> bool:
    """Whether two real refinements brought nothing: what limits is neither rank nor rule."""
    had_chance = len(attempts) > 2 and attempts[-1].aim <= CHANCE * attempts[0].aim
    return had_chance and not _has_gained(attempts, 2)


def _pick(attempts: Sequence[_Attempt], tolerance: float) -> _Attempt:
    """The attempt with the least work a step among those that meet the tolerance, or that come about as near as any."""
    least = min(attempt.error for attempt in attempts)
    enough = tolerance if least <= tolerance else NEARLY * least
    good = [attempt for attempt in attempts if attempt.error <= enough]
    return min(good, key=lambda attempt: attempt.model.rule.size * attempt.model.basis.rank**2)


def _tell(
    stage: Stage,
    span: Span,
    attempts: Sequence[_Attempt],
    best: _Attempt,
    clock: _Clock,
) -> dict[str, Any]:
    """What was asked, chosen and achieved."""
    rule = best.model.rule
    sizes = sorted({attempt.model.rule.size: attempt.model.rule for attempt in attempts}.items())
    return {
        "tolerance": stage.scene.method.accuracy,
        "met": best.error <= stage.scene.method.accuracy,
        "error": best.error,
        "projection_error": best.projection,
        "rank": best.model.basis.rank,
        "elements": rule.size,
        "rule_training_error": rule.training_error,
        "rule_heldout_error": rule.heldout_error,
        "frequency_error": rule.frequency_error,
        "carried_fields": best.model.carried.shape[1],
        "attempts": {
            "rank": [attempt.model.basis.rank for attempt in attempts],
            "elements": [attempt.model.rule.size for attempt in attempts],
            "error": [attempt.error if np.isfinite(attempt.error) else None for attempt in attempts],
        },
        "seconds": dict(clock.seconds),
        "singular_values": span.singular.tolist(),
        "error_by_rank": span.missed.tolist(),
        "error_by_size": {
            "elements": [size for size, _ in sizes],
            "error": [made.heldout_error for _, made in sizes],
        },
    }


def _tell_cases(
    stage: Stage, cases: Sequence[Case], heldout: Sequence[LocalMotion], train: Snapshots
) -> dict[str, Any]:
    """What was trained on and judged by."""
    judges = [motion.case for motion in heldout]
    largest = max(train.largest, *(motion.largest for motion in heldout))
    return {
        "cases": len(cases),
        "heldout": len(judges),
        "steps": cases[0].steps,
        "heldout_steps": judges[0].steps,
        "scene_steps": scene_steps(stage, judges[0].steps),
        "step_s": stage.scene.time.step,
        "integrator": stage.scene.time.integrator,
        "newton_tolerance": stage.scene.method.residual,
        "seed": stage.scene.training.seed,
        "largest_displacement": largest / stage.mesh.size(),
        "loads": [entry for case in (*cases, *judges) for entry in case.drive.directions()],
    }


def _announce(best: _Attempt, facts: dict[str, Any], scene: Scene, say: Callable[[str], None], span: Span) -> None:
    """Tell what was achieved, and warn where that is not what was asked for."""
    tolerance, error = facts["tolerance"], facts["error"]
    seconds = sum(facts["seconds"].values())
    say(
        f"chose rank {facts['rank']} with {facts['elements']} elements: error {100 * error:.3g} % where "
        f"{100 * tolerance:.3g} % was asked for, {seconds:.1f} s offline"
    )
    if not facts["met"]:
        warnings.warn(
            f"the error on held-out cases is {100 * error:.3g} % where {100 * tolerance:.3g} % was asked for, and "
            f"{_find_remedy(best, scene, span)}.",
            SuppleWarning,
            stacklevel=3,
        )


def _find_remedy(best: _Attempt, scene: Scene, span: Span) -> str:
    """What limits the error of a model, and the keys that would lower it."""
    method, rank = scene.method, best.model.basis.rank
    more = f"training.cases (now {scene.training.cases})"
    if best.projection > 0.5 * best.error:
        why = f"the subspace misses {100 * best.projection:.3g} % of them: raise "
        if method.rank is not None and rank < len(span.singular) and span.missed[-1] < STALLED * best.projection:
            return f"{why}method.rank (now {rank}) or {more}"
        full = method.rank is None and rank == len(span.singular) == scene.training.max_rank
        return f"{why}{more}" + (f" or training.max_rank (now {rank})" if full else "")
    elements = "" if method.elements is None else f", method.elements (now {method.elements})"
    return f"the rule or the steps limit it: raise {more}{elements}, or use a shorter time step"
