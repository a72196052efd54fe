"""From a body, a basis and a tolerance to a rule that was checked: samples, training, checks, and better tries."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.budget import is_spent
from supple.cubature.check import check_basis, check_rule, frequency_errors, pitch_excess
from supple.cubature.element_problem import ElementProblem
from supple.cubature.pool import train_pool
from supple.cubature.poses import Poses
from supple.cubature.problem import Problem
from supple.cubature.rule import Rule
from supple.cubature.samples import draw_coordinates, mix_coordinates, sample_count
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.stiffness_problem import StiffnessProblem
from supple.cubature.support import Trainer
from supple.elastic import Body
from supple.errors import SuppleWarning, TrainingError
from supple.linalg.ties import first_smallest, is_within
from supple.subspace import Basis
from supple.subspace.recorded import check_recorded

__all__ = ["train_rule"]

FloatArray = NDArray[np.float64]
_REACH = 0.35  # largest displacement by default, as a share of the body's size
_SOFT = 16  # coordinates whose stiffness decides them: a mode above that comes out too soft falls among them
_STIFFNESS = 0.3  # weight of the rest stiffness beside the forces
_TIGHTER = 0.4, 0.85  # a refused rule is trained again to a share of its tolerance between these
_ANOTHER = 0.98  # share of its own training error below which a rule is another
_TRIES = 10
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
    refuse is trained again with more samples, with the rest stiffness among the equations, more tightly; if none is
    accepted, the best comes with a warning that has the figures.
    """
    if not 0.0 < tolerance < 1.0:
        raise TrainingError(f"a tolerance of {tolerance:g} is no relative error: give one between 0 and 1.")
    check_basis(body, basis)
    recorded = None if snapshots is None else _project(basis, snapshots)
    reach = _expect_reach(body, basis, recorded) if reach is None else reach
    count = sample_count(basis.rank) if samples is None else samples
    enough = _MOST * max(count, sample_count(basis.rank))
    kept, aside = (None, None) if recorded is None else _set_aside(recorded, rng)

    def pose(coordinates: FloatArray) -> ElementProblem:
        return ElementProblem(body, basis, Poses(body, basis, coordinates))

    forces = [pose(mix_coordinates(basis, reach, count, rng, kept))]
    heldout = pose(mix_coordinates(basis, reach, _HELDOUT, rng, aside))
    stiffness: StiffnessProblem | None = None
    aim, tries = tolerance, []
    for _ in range(_TRIES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # the checks judge, with more figures
            rule = trainer(_stack(forces, stiffness), aim, rng, warm)
        rule = check_rule(rule, body, basis, heldout)
        heldout_excess, off_pitch = _judge(body, basis, rule, tolerance)
        excess = max(heldout_excess, off_pitch)
        if is_within(excess, 1.0):
            return rule
        drawn = sum(part.samples for part in forces)
        tries.append((excess, drawn, rule))
        if is_spent():
            break
        if rule.training_error < heldout_excess * tolerance and heldout_excess > 1.0 and drawn < enough:
            # It fits its samples, but they are too few
            forces.append(pose(draw_coordinates(basis, reach, drawn, rng)))
        elif off_pitch > 1.0 and stiffness is None:
            stiffness = StiffnessProblem(body, basis.truncated(_SOFT))
        else:
            # Errors of frequencies fall faster than the tolerance; a rule closer than asked for would be found again
            aim = min(aim * float(np.clip(excess**-0.7, *_TIGHTER)), _ANOTHER * rule.training_error)
    _, drawn, best = tries[first_smallest([excess for excess, _, _ in tries])]
    _warn(best, tolerance, drawn)
    return best


def _project(basis: Basis, snapshots: FloatArray) -> FloatArray:
    """Recorded displacements (k, n, 3) as the subspace sees them, (r, k)."""
    check_recorded(snapshots, len(basis.mass))
    return basis.project_all(snapshots)


def _expect_reach(body: Body, basis: Basis, recorded: FloatArray | None) -> float:
    """The largest displacement recorded in the subspace [m], or the share of the body's size of a lively motion."""
    if recorded is None:
        return _REACH * body.mesh.size()
    largest = 0.0
    for block in blocks(recorded.shape[1]):
        fields = (basis.columns @ recorded[:, block]).reshape(len(basis.mass), 3, -1)
        largest = max(largest, float(np.linalg.norm(fields, axis=1).max()))
    return largest


def _set_aside(recorded: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Recorded coordinates (r, k) to train on, and a quarter of them to check with."""
    order = rng.permutation(recorded.shape[1])
    aside = len(order) // 4
    return recorded[:, order[aside:]], recorded[:, order[:aside]]


def _stack(forces: list[ElementProblem], stiffness: StiffnessProblem | None) -> Problem:
    """The training problem of forces, with the rest stiffness beside them where it is wanted."""
    weight = _STIFFNESS * sum(part.samples for part in forces) ** 0.5
    if stiffness is not None:
        return StackedProblem([*forces, stiffness], [*np.ones(len(forces)), weight])
    return forces[0] if len(forces) == 1 else StackedProblem(forces)


def _judge(body: Body, basis: Basis, rule: Rule, tolerance: float) -> tuple[float, float]:
    """Held-out error and the error of the first frequencies, each as a multiple of what is allowed."""
    assert rule.heldout_error is not None
    return rule.heldout_error / tolerance, pitch_excess(frequency_errors(body, basis, rule), tolerance)


def _warn(rule: Rule, tolerance: float, samples: int) -> None:
    heldout, pitch = 100 * (rule.heldout_error or 0.0), 100 * (rule.frequency_error or 0.0)
    warnings.warn(
        f"no rule met {100 * tolerance:.3g} %: the best, of {rule.size} elements trained on {samples} samples, has "
        f"errors of {heldout:.3g} % on held-out samples and of {pitch:.3g} % in the first ten frequencies; ask for a "
        "larger tolerance, a smaller displacement or more samples.",
        SuppleWarning,
        stacklevel=3,
    )
