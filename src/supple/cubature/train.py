"""From a body, a basis and a tolerance to a rule that was checked: samples, training, checks, and better tries."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.cubature.check import check_diagonal, check_rule, frequency_errors
from supple.cubature.element_problem import ElementProblem
from supple.cubature.pool import train_pool
from supple.cubature.problem import Problem
from supple.cubature.rule import Rule
from supple.cubature.samples import draw_fields, mix_fields, sample_count
from supple.cubature.snapshots import Snapshots
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.stiffness_problem import StiffnessProblem
from supple.cubature.support import Trainer
from supple.elastic import Body
from supple.errors import SuppleWarning, TrainingError
from supple.subspace import Basis

__all__ = ["train_rule"]

FloatArray = NDArray[np.float64]
_REACH = 0.35  # largest displacement by default, as a share of the body's size
_SLACK = 1.5  # what held-out samples may lie above the tolerance
_OFF_PITCH = 0.01  # and the first frequencies beside their values
_PITCHES = 5
_STIFFNESS = 0.3  # weight of the rest stiffness beside the forces
_TIGHTER = 0.7  # a refused rule is trained again to this share of its tolerance
_TRIES = 6
_HELDOUT = 150  # samples
_MOST = 4  # samples to go up to, as a multiple of what the rank needs


def train_rule(
    body: Body,
    basis: Basis,
    tolerance: float,
    rng: np.random.Generator,
    snapshots: FloatArray | None = None,
    *,
    reach: float | None = None,
    samples: int | None = None,
    trainer: Trainer = train_pool,
    warm: Rule | None = None,
) -> Rule:
    """A rule for the elastic forces of a diagonalised basis, accepted by held-out samples and rest frequencies.

    `snapshots` (k, n, 3) are recorded displacements [m], half of the samples when there are; `reach` [m] is the
    largest displacement to train for (that of the snapshots, else a third of the body's size). A rule that the checks
    refuse is trained again more tightly, with more samples, with the rest stiffness among the equations; if none is
    accepted, the best comes with a warning that has the figures.
    """
    if not 0.0 < tolerance < 1.0:
        raise TrainingError(f"a tolerance of {tolerance:g} is no relative error: give one between 0 and 1.")
    check_diagonal(body, basis)
    reach = _expect_reach(body, snapshots) if reach is None else reach
    count = sample_count(basis.rank) if samples is None else samples
    enough = _MOST * max(count, sample_count(basis.rank))
    recorded, unseen = (None, None) if snapshots is None else _set_aside(snapshots, rng)
    seen = Snapshots.record(body, mix_fields(basis, reach, count, rng, recorded))
    heldout = ElementProblem(body, basis, Snapshots.record(body, mix_fields(basis, reach, _HELDOUT, rng, unseen)))
    aim, with_stiffness, best, least = tolerance, False, None, np.inf
    for _ in range(_TRIES):
        problem = _make_problem(body, basis, seen, with_stiffness)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # the checks judge, with more figures
            rule = check_rule(trainer(problem, aim, rng, warm), body, basis, heldout)
        heldout_excess, pitch_excess = _judge(body, basis, rule, tolerance)
        if max(heldout_excess, pitch_excess) <= 1.0:
            return rule
        if best is None or max(heldout_excess, pitch_excess) < least:
            best, least = rule, max(heldout_excess, pitch_excess)
        if rule.training_error < heldout_excess * tolerance and heldout_excess > 1.0 and seen.count < enough:
            # It fits its samples, but they are too few
            seen = seen.joined(Snapshots.record(body, draw_fields(basis, reach, seen.count, rng)))
        elif pitch_excess > 1.0 and aim < 0.5 * tolerance and not with_stiffness:
            with_stiffness = True
        else:
            aim *= _TIGHTER
    assert best is not None
    _warn(best, tolerance, seen.count)
    return best


def _expect_reach(body: Body, snapshots: FloatArray | None) -> float:
    """The largest displacement recorded [m], or the share of the body's size that a lively motion has."""
    seen = 0.0 if snapshots is None else float(np.linalg.norm(snapshots, axis=2).max(initial=0.0))
    return seen if seen > 0.0 else _REACH * body.mesh.size()


def _set_aside(snapshots: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Recorded displacements to train on, and a quarter of them to check with."""
    order = rng.permutation(len(snapshots))
    aside = len(order) // 4
    return snapshots[order[aside:]], snapshots[order[:aside]]


def _make_problem(body: Body, basis: Basis, seen: Snapshots, with_stiffness: bool) -> Problem:
    """The training problem of forces, with the rest stiffness beside them where it is wanted."""
    forces = ElementProblem(body, basis, seen)
    if not with_stiffness:
        return forces
    return StackedProblem([forces, StiffnessProblem(body, basis)], [1.0, _STIFFNESS * forces.samples**0.5])


def _judge(body: Body, basis: Basis, rule: Rule, tolerance: float) -> tuple[float, float]:
    """Held-out error and the error of the first frequencies, each as a multiple of what is allowed."""
    assert rule.heldout_error is not None
    off = np.abs(frequency_errors(body, basis, rule, _PITCHES)).max()
    return rule.heldout_error / (_SLACK * tolerance), float(off) / _OFF_PITCH


def _warn(rule: Rule, tolerance: float, samples: int) -> None:
    heldout, pitch = 100 * (rule.heldout_error or 0.0), 100 * (rule.frequency_error or 0.0)
    warnings.warn(
        f"no rule met {100 * tolerance:.3g} %: the best, of {rule.size} elements trained on {samples} samples, has "
        f"errors of {heldout:.3g} % on held-out samples and of {pitch:.3g} % in the first ten frequencies; ask for a "
        "larger tolerance, a smaller displacement or more samples.",
        SuppleWarning,
        stacklevel=3,
    )
