"""Non-negative hard thresholding pursuit (von Tycowicz, Schulz, Seidel, Hildebrandt 2013): a baseline."""

import numpy as np

from supple.cubature.problem import Problem
from supple.cubature.rule import Rule
from supple.cubature.support import Support, make_rule
from supple.linalg.ties import largest_first

__all__ = ["train_pursuit"]

_LOOKED_AT = 5  # candidates an iteration, as a multiple of the rule's size
_ITERATIONS = 10
_PROGRESS = 0.98  # an iteration that leaves more of the error than this is the last at its size


def train_pursuit(problem: Problem, tolerance: float, rng: np.random.Generator, warm: Rule | None = None) -> Rule:
    """A rule of a fixed size improved by projected gradient steps; the size grows until the tolerance is met.

    The gradient is taken on the rule and on random candidates: over all of them, thousands of nearly parallel columns
    make the exact step so small that the rule would never change.
    """
    size = max(10, len(problem.target()) // problem.samples // 2) if warm is None else max(warm.size, 1)
    start = rng.permutation(problem.candidates)[:size] if warm is None else warm.members
    support = Support(problem, start)
    support.fit()
    while True:
        support = _pursue(support, size, tolerance, rng)
        error = support.error()
        if error <= tolerance or size >= problem.candidates:
            return make_rule(support, "pursuit", tolerance)
        size = min(problem.candidates, int(np.ceil(size * np.clip((error / tolerance) ** 0.6, 1.1, 2.0))))


def _pursue(support: Support, size: int, tolerance: float, rng: np.random.Generator) -> Support:
    """The best support of at most `size` candidates that the iteration meets."""
    best, error = support, support.error() if len(support.members) else np.inf
    for _ in range(_ITERATIONS):
        support = _step(support, size, rng)
        new = support.error()
        stuck = new > _PROGRESS * error
        if new < error:
            best, error = support, new
        if error <= tolerance or (stuck and len(best.members) >= 0.9 * size):
            break
    return best


def _step(support: Support, size: int, rng: np.random.Generator) -> Support:
    """One exact step along the gradient, cut to the `size` largest weights, which are then fitted."""
    problem = support.problem
    others = np.setdiff1d(np.arange(problem.candidates), support.members, assume_unique=True)
    drawn = rng.permutation(others)[: max(0, _LOOKED_AT * size - len(support.members))]
    lines = np.concatenate([support.columns, problem.columns(drawn)])
    members = np.concatenate([support.members, drawn])
    weights = np.concatenate([support.weights, np.zeros(len(drawn))])
    descent = lines @ support.residual()
    descent[(weights == 0.0) & (descent < 0.0)] = 0.0
    change = descent @ lines
    length = float(change @ change)
    if length > 0.0:
        weights = weights + float(descent @ descent) / length * descent
    largest = largest_first(weights, size)
    new = Support(problem, np.sort(members[largest[weights[largest] > 0.0]]))
    new.fit()
    return new
