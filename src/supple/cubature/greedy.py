"""Greedy training with sub-training sets (An, Kim, James 2008): a baseline."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.problem import Problem
from supple.cubature.rule import Rule
from supple.cubature.support import Support, make_rule
from supple.linalg.nnls import nnls
from supple.linalg.ties import first_largest

__all__ = ["train_greedy"]

_LOOKED_AT = 1000  # candidates a pick
_SHARE = 10  # a sub-training set is this part of the samples
_PATIENCE = 100  # picks in vain


def train_greedy(problem: Problem, tolerance: float, rng: np.random.Generator, warm: Rule | None = None) -> Rule:
    """A rule grown candidate by candidate, each the one best aligned with the residual among some random ones.

    Picks come in rounds of half a sample's width: within a round a random tenth of the samples is looked at; after it,
    the weights are fitted to all. A tenth may be content where all are not, so after a round in vain all of them count.
    """
    support = Support(problem, np.zeros(0, np.int64) if warm is None else warm.members)
    support.fit()
    round_size = max(1, len(support.target) // problem.samples // 2)
    idle = 0
    while support.error() > tolerance and idle < _PATIENCE:
        some = problem.samples if idle else -(-problem.samples // _SHARE)
        samples = np.sort(rng.permutation(problem.samples)[:some])
        before = support.members
        support.add(_pick(support, samples, round_size, rng))
        support.fit()
        idle = 0 if np.setdiff1d(support.members, before).size else idle + round_size
    return make_rule(support, "greedy", tolerance)


def _pick(
    support: Support,
    samples: NDArray[np.intp],
    count: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Candidates to add, chosen by the given samples alone."""
    problem = support.problem
    target = problem.target(samples)
    columns = problem.columns(support.members, samples)
    residual = target - support.weights @ columns
    able = np.ones(problem.candidates, bool)
    able[support.members] = False
    picked: list[int] = []
    for _ in range(count):
        looked_at = rng.permutation(np.flatnonzero(able))[:_LOOKED_AT]
        if not len(looked_at):
            break
        lines = problem.columns(looked_at, samples)
        score = lines @ residual / np.maximum(np.linalg.norm(lines, axis=1), np.finfo(float).tiny)
        best = first_largest(score)
        picked.append(int(looked_at[best]))
        able[looked_at[best]] = False
        columns = np.concatenate([columns, lines[best : best + 1]])
        weights = nnls(columns @ columns.T, columns @ target, float(target @ target)).weights
        residual = target - weights @ columns
    return np.array(picked, np.int64)
