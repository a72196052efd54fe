"""The search for a subspace and a rule that meet a tolerance on given motions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.cubature.budget import Budget, limit_work
from supple.errors import ConvergenceError, SuppleWarning, TrainingError
from supple.linalg.work_clock import work_clock
from supple.method import RuledModel
from supple.scene.cases import play_case
from supple.scene.solvers import reduced_solver
from supple.scene.stage import Stage
from supple.scene.training_basis import Span, check_rank
from supple.scene.training_motion import Guide, LocalMotion, Snapshots
from supple.subspace import Basis

__all__ = ["LOOSER", "PROJECTION", "STALLED", "TRIES", "Attempt", "Clock", "Trainer", "pick_attempt"]

FloatArray = NDArray[np.float64]

TRIES, LOOSER = 6, 2  #: models to try until one is good enough, and to try with looser rules after that
PROJECTION = 0.25  #: share of the tolerance that the subspace may miss of held-out cases at first
EXCESS = 4.0  #: what it may be too stiff by, as a multiple of what it may miss
FORCES = 1.0  #: tolerance of the rule at first, as a share of the whole
MARGIN, TIGHTER = 0.8, (0.25, 0.8)  #: both are refined by what the error exceeds the tolerance by, within these
STALLED = 0.9  #: share of the error that refinements must get below to count
CHANCE = 0.1  #: share of the first rule's tolerance that must have been tried before the search is given up
NEARLY = 1.15  #: errors up to this multiple of the least are as good, where none meets the tolerance
RULES = 10  #: tolerances to try for a rule of few enough elements


@dataclass(frozen=True, eq=False)
class Attempt:
    """A model that was tried."""

    model: RuledModel
    rank: int  #: of the subspace of the whole body that it has, or that its domains' are parts of
    projection: float  #: share of the held-out cases that its subspace misses
    aim: float  #: tolerance its rule was asked for
    error: float  #: against the full solver on the held-out cases; infinite when it failed


@dataclass
class Clock:
    """Seconds by phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        begin = work_clock()
        yield
        self.add(name, work_clock() - begin)

    def add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


@dataclass(frozen=True, eq=False)
class Trainer:
    """Tries ranks and rules on the motions at hand."""

    stage: Stage
    span: Span
    guide: Guide
    train: Snapshots
    heldout: Sequence[LocalMotion]
    clock: Clock
    say: Callable[[str], None]
    budget: Budget  #: of the rules

    def search(self) -> list[Attempt]:
        """Attempts, the last of which meets the tolerance at the least cost found; or else as many as are allowed.

        Subspace and rule are refined together until the held-out cases agree, then the rule gives back what it can.
        """
        method = self.stage.scene.method
        if method.rank is not None:
            check_rank(method.rank, self.span)
        miss, aim = PROJECTION * method.accuracy, FORCES * method.accuracy
        attempts: list[Attempt] = []
        while len(attempts) < TRIES:
            attempts.append(self._try(method.rank or self.span.rank_for(miss, EXCESS * miss), aim))
            if attempts[-1].error <= method.accuracy:
                return attempts + (self._give_back(attempts[-1]) if len(attempts) > 1 else [])
            is_fixed = method.rank is not None and method.elements is not None
            if is_fixed or _has_stalled(attempts) or self.budget.left == 0.0:
                break
            share = float(np.clip(MARGIN * method.accuracy / attempts[-1].error, *TIGHTER))
            if len(attempts) > 1 and not _has_gained(attempts, 1):
                share = TIGHTER[0]  # small refinements did nothing: near the tolerance they would use up all tries
            miss, aim = share * miss, share * aim
        return attempts

    def _give_back(self, met: Attempt) -> list[Attempt]:
        """Attempts with ever looser rules in the same subspace, up to the first that is not good enough."""
        attempts: list[Attempt] = []
        accuracy = self.stage.scene.method.accuracy
        while len(attempts) < LOOSER and self.budget.left > 0.0 and 2.0 * met.aim <= FORCES * accuracy:
            attempts.append(self._try(met.rank, 2.0 * met.aim))
            if attempts[-1].error > accuracy:
                break
            met = attempts[-1]
        return attempts

    def _try(self, rank: int, aim: float) -> Attempt:
        """A model of this rank with a rule to this tolerance, and its error."""
        with self.clock.phase("basis"):
            basis, coordinates = self.span.basis(rank)
        with self.clock.phase("rule"), limit_work(self.budget):
            model = self._make_model(basis, coordinates, aim)
        with self.clock.phase("check"):
            error = max(self._error(model, motion) for motion in self.heldout)
        projection = float(self.span.missed[rank - 1])
        self.say(
            f"rank {rank}, {model.rule.size} elements: error {100 * error:.3g} % on held-out cases "
            f"(the subspace misses {100 * projection:.3g} %)"
        )
        return Attempt(model, rank, projection, aim, error)

    def _make_model(self, basis: Basis, q: FloatArray, aim: float) -> RuledModel:
        """A model with a rule to this tolerance, or to the first looser one that is small enough."""
        most, seed = self.stage.scene.method.elements, self.stage.scene.training.seed
        for _ in range(RULES):
            rng = np.random.default_rng([seed, 2])
            model = self.guide.make_model(basis, self.train, q, min(aim, 0.5), rng)
            if most is None or model.rule.size <= most:
                return model
            aim *= 1.5
        raise TrainingError(f"method.elements = {most} are too few for a subspace of rank {basis.rank}: raise them.")

    def _error(self, model: RuledModel, motion: LocalMotion) -> float:
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


def _has_gained(attempts: Sequence[Attempt], last: int) -> bool:
    """Whether the last few attempts brought anything over those before."""
    errors = [attempt.error for attempt in attempts]
    return min(errors[-last:]) <= STALLED * min(errors[:-last])


def _has_stalled(attempts: Sequence[Attempt]) -> bool:
    """Whether two real refinements brought nothing: what limits is neither rank nor rule."""
    had_chance = len(attempts) > 2 and attempts[-1].aim <= CHANCE * attempts[0].aim
    return had_chance and not _has_gained(attempts, 2)


def pick_attempt(attempts: Sequence[Attempt], tolerance: float) -> Attempt:
    """The attempt with the least work a step among those that meet the tolerance, or that come about as near as any."""
    least = min(attempt.error for attempt in attempts)
    enough = tolerance if least <= tolerance else NEARLY * least
    good = [attempt for attempt in attempts if attempt.error <= enough]
    return min(good, key=lambda attempt: attempt.model.rule.size * attempt.model.basis.rank**2)
