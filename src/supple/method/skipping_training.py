"""What is trained when full steps have taught enough: a subspace of their window, and a rule for the forces in it."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.cubature.pool import train_pool
from supple.errors import SuppleWarning
from supple.method.skipping_carried import Carrier
from supple.method.skipping_model import Kept
from supple.subspace import Basis
from supple.subspace.responses import even_responses, extend
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.window import Window

__all__ = ["Lesson", "train"]

FloatArray = NDArray[np.float64]
# Error of a rule's forces (in the energy norm) beside the tolerance: where all elements correct it, where they do not,
# and in statics, which forgets errors; and at least
_CORRECTED, _MOVING, _STATIC, _LEAST = 0.3, 0.03, 0.1, 3e-5
_ROUNDS = 2  # of its training
_TOGETHER = 0.06  # share of a rule whose elements enter at a time
_OFFERED = 12000  # elements that a rule is chosen from, twenty times as many as it has
_EVERY = 600  # elements up to which all are taken: a rule has nearly as many, and its training costs 100 full steps
_SHAPES = 6  # about which responses are found
_FACTORED = 60_000  # unknowns up to which their matrices are factorised within a few full steps


class Lesson(NamedTuple):
    """What full steps have taught, and what is asked for."""

    window: Window
    rest: RestStiffness
    rank: int
    """Of the window's principal components."""
    most: int
    """Columns of all kinds."""
    tolerance: float
    """Of a step."""
    corrected: bool
    """Whether steps end where all elements have them, whatever the rule lacks."""
    warm: Rule | None
    """The last rule."""


def train(lesson: Lesson, carrier: Carrier) -> Kept:
    """A subspace and a rule for its forces."""
    basis = lesson.window.principal(lesson.rank)
    if lesson.corrected and len(lesson.rest.mass) <= _FACTORED and basis.rank < lesson.most:
        shapes = (lesson.window.fields[k] for k in lesson.window.spread(_SHAPES))
        basis = extend(basis, even_responses(lesson.rest.body, shapes), lesson.most)
    basis, count = _by_frequency(basis, lesson.rest), len(carrier.body.mesh.tets)
    if count <= _EVERY:
        return Kept(basis, Rule(np.arange(count), np.ones(count), 0.0, trainer="all"), tried=True)
    rng, warm = np.random.default_rng(0), lesson.warm
    offered = np.sort(rng.permutation(count)[:_OFFERED])
    if warm is not None:
        offered = np.union1d(offered, warm.members)
        warm = replace(warm, members=np.searchsorted(offered, warm.members))
    share = _STATIC if carrier.is_static else _CORRECTED if lesson.corrected else _MOVING
    problem = carrier.problem(basis, lesson.window, offered)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # a replayed step judges the rule
        tolerance = max(share * lesson.tolerance, _LEAST)
        rule = train_pool(problem, tolerance, rng, warm, rounds=_ROUNDS, together=_TOGETHER)
    return Kept(basis, replace(rule, members=offered[rule.members]), tried=True)


def _by_frequency(basis: Basis, rest: RestStiffness) -> Basis:
    """The same subspace in coordinates that rest stiffness does not couple, softest first."""
    columns = rest.gather(basis.columns)
    values, turn = np.linalg.eigh(columns.T @ (rest.matrix @ columns))
    return basis.rotated(turn, np.maximum(values, 1e-12 * values[-1]))
