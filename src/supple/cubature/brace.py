"""Elements that hold motions which a rule hardly resists, though the body does.

Samples excite stiff motions little, and one of many that a rule misses altogether is a small part of all errors; but
contact pushes where it will, and what nothing holds goes astray.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.rule import Rule
from supple.cubature.stiffness_problem import RestFactors, rest_stiffness
from supple.elastic import Body
from supple.linalg.ties import is_within, largest_first, settled_turn
from supple.subspace import Basis

__all__ = ["brace"]

FloatArray = NDArray[np.float64]
_MISSED = 0.5  # share of a motion's stiffness at rest that a rule may leave out
_LEFT = 0.25  # share that a motion lacks once it has been braced
_STAND_IN = 0.25  # share of a motion's energy whose elements, the most strained, stand for all of it
_MOST = 4  # braces for every coordinate


def brace(body: Body, basis: Basis, stiffness: FloatArray, rule: Rule) -> Rule:
    """The rule with elements more, so that it has at least half of the stiffness at rest that any motion has.

    `stiffness` (r, r) [1/s²] is that of all elements; motions count by the importance of a diagonalised basis.
    """
    scale = 1.0 / np.sqrt(basis.importance)
    lacking = stiffness - rest_stiffness(body, basis, rule.members, rule.weights)
    for _ in range(_MOST * basis.rank):
        missed, motions = np.linalg.eigh(scale[:, None] * lacking * scale)
        if is_within(missed[-1], _MISSED):
            break
        motions = motions @ settled_turn(missed, motions)
        energy = _strain(body, basis.columns @ (scale * motions[:, -1]))
        order = largest_first(energy)
        stand_in = np.searchsorted(np.cumsum(energy[order]), _STAND_IN * energy.sum()) + 1
        members = np.sort(order[:stand_in])
        weights = np.full(stand_in, (missed[-1] - _LEFT) / energy[members].sum())
        lacking -= rest_stiffness(body, basis, members, weights)
        rule = _add(rule, members, weights)
    return rule


def _strain(body: Body, field: FloatArray) -> FloatArray:
    """Twice the energy of every element at rest in displacements (3 n,), (m,)."""
    factors = RestFactors(body, field[:, None])
    energy = np.empty(factors.elements.count)
    for some in blocks(len(energy), 4096):
        energy[some] = (factors.of(some) ** 2).sum(axis=(1, 2))
    return energy


def _add(rule: Rule, members: NDArray[np.int64], weights: FloatArray) -> Rule:
    """The rule with weighted elements more, ascending; those that it has already get the sum of both weights."""
    both, where = np.unique(np.concatenate([rule.members, members]), return_inverse=True)
    total = np.bincount(where, np.concatenate([rule.weights, weights])).astype(np.float64)
    return replace(rule, members=both, weights=total)
