"""Rules over poses, trained until they are right about other samples and other poses.

Training poses are the examples and the middles between them. The weights of an example are fitted to its own samples
and to those of the middles beside it: weights between examples are a mean of theirs, and then no worse.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from supple.cubature.pool import train_pool
from supple.cubature.posed_space import PosedSpace, PosedSpaces
from supple.cubature.problem import Problem, fit_error
from supple.cubature.shared import SharedRule, train_shared
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.support import Trainer
from supple.errors import SuppleWarning, TrainingError
from supple.linalg.ties import first_smallest, is_within

__all__ = ["Lessons", "PoseErrors", "train_lessons"]

_SAMPLES = 40, 0.5  # in a pose, at least, and as a multiple of the rank
_HELDOUT = 50  # samples of every pose to check with
_ROUNDS = 4  # of samples, each as many as all before
_BLIND = 1.2  # times the training error: with a larger one on other samples, a rule has seen too few
_BESIDE = 0.1  # a middle belongs to the examples that have this share of it
_EXTRA = 0.3, 1.0  # weight of the other equations beside the forces at first, and where it need not grow on
_TIGHTER = 0.4, 0.92  # a refused rule is trained again to a share of its tolerance between these
_ANOTHER = 0.98  # share of its own training error below which a rule is another
_TRIES = 10


@dataclass(frozen=True, eq=False)
class Lessons:
    """What a rule over poses is trained and checked with."""

    spaces: PosedSpaces
    draw: Callable[[PosedSpace, int], Problem]
    """The forces of so many samples in a pose."""
    extra: Callable[[PosedSpace], Problem] | None = None
    """Other equations of a pose, which come in when the rule does not `suit`."""
    suit: Callable[[SharedRule], float] = field(default=lambda rule: 0.0)
    """By how much a rule is off in what else is asked of it, as a multiple of what is allowed."""
    aim: float = 1.0
    """Share of the tolerance to which samples are fitted at first."""


@dataclass(frozen=True)
class PoseErrors:
    """Relative errors of forces in the energy norm, in the worst of the poses."""

    training: float
    heldout: float
    """Of samples in the example poses that training did not see."""
    between: float
    """Of samples in poses between them that training did not see either."""


def train_lessons(
    lessons: Lessons, tolerance: float, rng: np.random.Generator, what: str, *, trainer: Trainer = train_pool
) -> tuple[SharedRule, PoseErrors]:
    """A rule of as many samples, fitted as closely, as it takes; the best comes with a warning if none is accepted."""
    if not 0.0 < tolerance < 1.0:
        raise TrainingError(f"a tolerance of {tolerance:g} is no relative error: give one between 0 and 1.")
    spaces = lessons.spaces
    trained = [*spaces.examples, *spaces.middles]
    count = max(_SAMPLES[0], int(_SAMPLES[1] * trained[0].basis.rank))
    parts = [[lessons.draw(space, count)] for space in trained]
    heldout, others = ([lessons.draw(one, _HELDOUT) for one in some] for some in (spaces.examples, spaces.others))
    extras: list[Problem] = []
    aim, weight, tries = lessons.aim * tolerance, _EXTRA[0], []
    for _ in range(_TRIES):
        rule = _fit(spaces, _stack(parts, extras, weight), aim, rng, trainer)
        errors = PoseErrors(
            float(rule.training_errors.max()),
            _worst(rule, spaces.examples, heldout),
            _worst(rule, spaces.others, others),
        )
        unfit = lessons.suit(rule)
        off = max(errors.heldout, errors.between) / tolerance
        excess = max(off, unfit)
        if is_within(excess, 1.0):
            return rule, errors
        tries.append((excess, rule, errors))
        if errors.heldout > max(tolerance, _BLIND * errors.training) and len(parts[0]) < _ROUNDS:
            # It fits its samples, but they are too few
            for space, own in zip(trained, parts, strict=True):
                own.append(lessons.draw(space, sum(part.samples for part in own)))
        elif unfit > 1.0 and lessons.extra is not None and not extras:
            extras = [lessons.extra(space) for space in trained]
        elif off <= 1.0 and extras and weight < _EXTRA[1]:
            weight *= 2.0
        else:
            # A rule that is closer than it was asked to be would only be found again
            aim = min(aim * float(np.clip(excess**-0.7, *_TIGHTER)), _ANOTHER * errors.training)
    _, rule, errors = tries[first_smallest([excess for excess, _, _ in tries])]
    warnings.warn(
        f"no rule met {100 * tolerance:.3g} % in all poses: the best, of {rule.size} {what}, has errors of "
        f"{100 * errors.heldout:.3g} % in the examples and of {100 * errors.between:.3g} % between them; ask for a "
        "larger tolerance, or give more poses.",
        SuppleWarning,
        stacklevel=3,
    )
    return rule, errors


def _stack(parts: list[list[Problem]], extras: list[Problem], weight: float) -> list[Problem]:
    """One problem for each pose."""
    if not extras:
        return [own[0] if len(own) == 1 else StackedProblem(own) for own in parts]
    weights = [[*np.ones(len(own)), weight * sum(part.samples for part in own) ** 0.5] for own in parts]
    return [StackedProblem([*own, one], w) for own, one, w in zip(parts, extras, weights, strict=True)]


def _fit(
    spaces: PosedSpaces, problems: list[Problem], aim: float, rng: np.random.Generator, trainer: Trainer
) -> SharedRule:
    """The set that suits all poses, with weights of each example that suit the middles beside it, too."""
    middles = list(zip(spaces.middles, problems[len(spaces.examples) :], strict=True))
    own = [
        StackedProblem([problem, *(other for space, other in middles if space.shares[pose] > _BESIDE)])
        for pose, problem in enumerate(problems[: len(spaces.examples)])
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # the checks judge
        return train_shared(own, aim, rng, trainer=trainer, everything=StackedProblem(problems))


def _worst(rule: SharedRule, spaces: list[PosedSpace], problems: list[Problem]) -> float:
    pairs = zip(spaces, problems, strict=True)
    return max((fit_error(one, rule.members, rule.blend(space.shares)) for space, one in pairs), default=0.0)
