"""What is trained when full steps have taught enough: a rule for the forces in the subspace of their window."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.cubature.pool import train_pool
from supple.cubature.problem import NoForceError
from supple.errors import SuppleWarning
from supple.linalg.ties import settled_turn
from supple.method.skipping.carried import Carrier
from supple.method.skipping.model import Kept
from supple.subspace import Basis
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.window import Window

__all__ = ["Lesson", "train"]

FloatArray = NDArray[np.float64]
# Error of a rule's forces (in the energy norm) beside the tolerance: where all elements correct it, where they do not,
# and in statics, which forgets errors; and at least
_CORRECTED, _MOVING, _STATIC, _LEAST = 0.3, 0.03, 0.1, 3e-5
_ROUNDS = 2  # of its training
_TOGETHER = 0.06  # share of a rule whose elements enter at a time
_ELEMENTS, _DRAWN = 6, 10  # of a rule at most, and of its first candidates, where all correct it, times the rank
_OFFERED = 12000  # elements that a rule is chosen from, twenty times as many as it has
_EVERY = 600  # elements up to which all are taken: a rule has nearly as many, and its training costs 100 full steps


class Lesson(NamedTuple):
    """What full steps have taught, and what is asked for."""

    window: Window
    basis: Basis
    rest: RestStiffness
    tolerance: float
    """Of a step."""
    corrected: bool
    """Whether steps end where all elements have them, whatever the rule lacks."""
    warm: Rule | None
    """The last rule."""


def train(lesson: Lesson, carrier: Carrier) -> Kept | None:
    """A basis in coordinates of its own, and a rule for the forces on these; None where no step has deformed the body
    yet, as in free fall."""
    basis, count = _by_frequency(lesson.basis, lesson.rest), len(carrier.body.mesh.tets)
    if count <= _EVERY:
        return Kept(basis, Rule(np.arange(count), np.ones(count), 0.0, trainer="all"), tried=True)
    rng, warm = np.random.default_rng(0), lesson.warm
    offered = np.sort(rng.permutation(count)[:_OFFERED])
    if warm is not None:
        offered = np.union1d(offered, warm.members)
        warm = replace(warm, members=np.searchsorted(offered, warm.members))
    share = _STATIC if carrier.is_static else _CORRECTED if lesson.corrected else _MOVING
    try:
        problem = carrier.problem(basis, lesson.window, offered)
    except NoForceError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # a replayed step judges the rule
        tolerance = max(share * lesson.tolerance, _LEAST)
        coarse = {"drawn": _DRAWN, "most": _ELEMENTS * basis.rank} if lesson.corrected else {}
        rule = train_pool(problem, tolerance, rng, warm, rounds=_ROUNDS, together=_TOGETHER, **coarse)
    return Kept(basis, replace(rule, members=offered[rule.members]), tried=True)


def _by_frequency(basis: Basis, rest: RestStiffness) -> Basis:
    """The same subspace in coordinates that rest stiffness does not couple, softest first."""
    columns = rest.gather(basis.columns)
    values, turn = np.linalg.eigh(columns.T @ (rest.matrix @ columns))
    turn = turn @ settled_turn(values, columns @ turn, rest.mass)
    return basis.rotated(turn, np.maximum(values, 1e-12 * values[-1]))
