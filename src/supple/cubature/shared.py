"""One set of candidates for several poses, with weights for each: Eqs. (17)-(20) of [XB16]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.cubature.pool import train_pool
from supple.cubature.problem import Problem, fit_error
from supple.cubature.rule import Rule
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.support import Support, Trainer

__all__ = ["SharedRule", "train_shared"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SharedRule:
    """The same candidates at every pose, each pose with its own weights."""

    members: NDArray[np.int64]
    """Numbers of the candidates, ascending, (c,)."""
    weights: FloatArray
    """Non-negative, (poses, c)."""
    training_errors: FloatArray
    """Relative error on the samples of each pose, (poses,)."""

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.members)

    def at_pose(self, pose: int) -> Rule:
        """The rule of one of the trained poses."""
        return Rule(self.members, self.weights[pose], float(self.training_errors[pose]), trainer="shared")

    def blend(self, shares: FloatArray) -> FloatArray:
        """Weights (c,) between the poses for their shares (poses,), Eq. (20); what a negative share pulls below zero
        is zero, so that the stiffness stays definite."""
        return np.maximum(shares @ self.weights, 0.0)


def train_shared(
    problems: Sequence[Problem],
    tolerance: float,
    rng: np.random.Generator,
    *,
    trainer: Trainer = train_pool,
    everything: Problem | None = None,
) -> SharedRule:
    """A rule for several poses: the set from the samples of all (Eq. 17), then weights pose by pose (Eq. 19).

    `everything` chooses the set instead of all problems, where poses share samples.
    """
    members = trainer(StackedProblem(problems) if everything is None else everything, tolerance, rng).members
    weights = np.zeros((len(problems), len(members)))
    for pose, problem in enumerate(problems):
        support = Support(problem, members)
        support.fit()
        weights[pose, np.searchsorted(members, support.members)] = support.weights
    errors = [fit_error(problem, members, own) for problem, own in zip(problems, weights, strict=True)]
    return SharedRule(members, weights, np.array(errors))
