"""Importance sampling: candidates drawn by the length of their columns, then weighted; the plainest baseline."""

import numpy as np

from supple.cubature.problem import Problem
from supple.cubature.rule import Rule
from supple.cubature.support import Support, make_rule

__all__ = ["train_importance"]

_GROWTH = 1.25
_MOST = 20  # candidates, as a multiple of a sample's width


def train_importance(problem: Problem, tolerance: float, rng: np.random.Generator, warm: Rule | None = None) -> Rule:
    """A rule of candidates that chance chose, as many as the tolerance takes."""
    width = len(problem.target()) // problem.samples
    norms = problem.norms()
    chance = norms / norms.sum()
    active = int(np.count_nonzero(chance))
    order = rng.choice(len(chance), min(active, _MOST * width), replace=False, p=chance)
    if warm is not None:
        order = np.concatenate([warm.members, order[~np.isin(order, warm.members)]])
    drawn = min(len(order), width if warm is None else warm.size)
    support = Support(problem, order[:drawn])
    support.fit()
    while support.error() > tolerance and drawn < len(order):
        more = min(len(order), int(np.ceil(_GROWTH * drawn)))
        support.add(order[drawn:more])
        support.fit()
        drawn = more
    return make_rule(support, "importance", tolerance)
