"""The default trainer: a random pool of candidates, sketched equations, early-stopped least squares, pruning.

Its cost does not depend on the number of candidates. Where the pool does not suffice, all candidates are priced once
and the best join it.
"""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.budget import affordable_candidates, is_spent, spend_fit
from supple.cubature.forward import choose_forward
from supple.cubature.problem import IntArray, Problem
from supple.cubature.prune import prune
from supple.cubature.rule import Rule
from supple.cubature.sketch import Sketch
from supple.cubature.support import Fit, Support, make_rule
from supple.linalg.nnls import nnls
from supple.linalg.ties import is_within, largest_first

__all__ = ["draw_candidates", "train_pool"]

_CANDIDATES = 1000, 20  # at least, and as a multiple of a sample's width
_MEASURED = 4, 16  # candidates whose columns are measured for each that is drawn, and in how many samples
_EQUATIONS = 4000  # of the sketch: ten times the largest rule met in practice
_EARLY = 0.6  # the forward search aims at this share of the tolerance, pruning spends the rest
_PRICED = 256  # candidates that join the pool in a round
_ROUNDS = 8


def draw_candidates(problem: Problem, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Candidates, half uniformly and half by the length of their columns, ascending.

    Of very many candidates only a random part is measured, and that in some samples only.
    """
    known = np.sort(rng.permutation(problem.candidates)[: _MEASURED[0] * count])
    if len(known) <= count:
        return known
    norms = problem.norms(known, np.sort(rng.permutation(problem.samples)[: _MEASURED[1]]))
    long = min(count // 2, int(np.count_nonzero(norms)))
    by_length = rng.choice(known, long, replace=False, p=norms / norms.sum()) if long else known[:0]
    rest = np.setdiff1d(known, by_length)
    return np.sort(np.concatenate([by_length, rng.choice(rest, count - len(by_length), replace=False)]))


def train_pool(
    problem: Problem,
    tolerance: float,
    rng: np.random.Generator,
    warm: Rule | None = None,
    *,
    rounds: int = _ROUNDS,
    drawn: int | None = None,
    together: float = 0.0,
    most: int | None = None,
) -> Rule:
    """A rule that reproduces the samples to the tolerance with as few candidates as the method finds, or nearly so
    where the pool does not suffice after some rounds.

    The pool begins with `drawn` candidates for each number in a sample's answer; `together` and `most` are as for
    `choose_forward`. A budget of work (cubature/budget.py) allows fewer candidates and ends the rounds.
    """
    rows = len(problem.target())
    count = max(_CANDIDATES[0], (_CANDIDATES[1] if drawn is None else drawn) * rows // problem.samples)
    first = np.zeros(0, np.int64) if warm is None else warm.members
    members = np.union1d(first, draw_candidates(problem, count, rng))
    pool = Support(problem, members, Sketch(rows, _EQUATIONS, rng))
    early = _EARLY
    for _ in range(rounds):
        enough = (early * tolerance) ** 2 * pool.square
        affordable = affordable_candidates(rows)
        most = affordable if most is None else min(most, most if affordable is None else affordable)
        choice = choose_forward(
            pool.gram, pool.right, pool.square - enough, _places(pool.members, first), together=together, most=most
        )
        support = Fit(problem, pool.members[choice.columns])
        support.fit()
        spend_fit(len(choice.columns), rows, len(pool.members))
        if is_within(support.error(), tolerance) or len(choice.columns) == most or is_spent():
            break
        if choice.explained >= pool.square - enough:
            early *= 0.7  # the sketch was content with less than all equations are
        elif len(pool.members) < problem.candidates:
            pool.add(_price(problem, support, pool.members))
        else:
            best = nnls(pool.gram, pool.right, pool.square).weights > 0.0
            support = Fit(problem, pool.members[best])  # all candidates were seen: what is possible at all
            support.fit()
            break
        first = support.members
    whole, before = support.members, support.error()
    support.keep(prune(support.gram, support.right, support.square, tolerance**2 * support.square))
    support.fit()
    if support.error() > max(tolerance, before):  # what is left of squares is round-off where columns nearly depend
        support = Fit(problem, whole)
        support.fit()
    return make_rule(support, "pool", tolerance)


def _places(members: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where among the members the wanted ones are."""
    order = np.argsort(members)
    return np.asarray(order[np.searchsorted(members, wanted, sorter=order)], np.int64)


def _price(problem: Problem, support: Fit, known: IntArray) -> NDArray[np.int64]:
    """The candidates outside the pool along which the residual falls fastest."""
    slope = problem.gradient(support.residual())
    slope[known] = -np.inf
    best = largest_first(slope, _PRICED)
    return np.sort(best[np.isfinite(slope[best])])
