"""Rules of a skinned body: elements for its elastic forces, vertices for gravity and the inertia of its frame."""

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.cubature.brace import brace
from supple.cubature.budget import is_spent
from supple.cubature.check import check_basis, frequency_errors
from supple.cubature.pool import train_pool
from supple.cubature.problem import Problem, fit_error
from supple.cubature.rule import Rule
from supple.cubature.samples import sample_count
from supple.cubature.skinned_problem import skinned_problem
from supple.cubature.skinned_samples import SkinnedSamples, draw_skinned
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.stiffness_problem import StiffnessProblem, rest_stiffness
from supple.cubature.support import Trainer
from supple.cubature.vertex_problem import draw_accelerations, vertex_problem
from supple.elastic import Body
from supple.errors import SuppleWarning, TrainingError
from supple.linalg.ties import first_smallest, is_within
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["train_particles", "train_skinned_domain", "train_skinned_rule"]

FloatArray = NDArray[np.float64]
_HELDOUT = 100  # samples
_STIFFNESS = 0.3  # weight of the rest stiffness beside the forces
_SOFT = 16  # coordinates whose rest stiffness is among the equations
_ROUNDS = 3  # of samples, each with twice those of the one before; then rules are fitted more closely
_TRIES = 7


def train_skinned_rule(
    body: Body,
    rig: SkinnedRig,
    basis: Basis,
    poses: FloatArray,
    recorded: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
    *,
    trainer: Trainer = train_pool,
) -> Rule:
    """A rule for the pulled-back elastic forces of a diagonalised basis, with its errors of held-out samples and of
    rest frequencies.

    `recorded` (r, k) are coordinates that were recorded in `poses` (k, p). While held-out samples are off, there come
    more, then closer fits; in the end the best rule comes with a warning that has the figures.
    """
    check_basis(body, basis)
    whole = np.diag(basis.importance)
    rule = _fit_elements(body, rig, basis, poses, recorded, whole, tolerance, rng, trainer)
    return replace(rule, frequency_error=float(np.abs(frequency_errors(body, basis, rule)).max()))


def train_skinned_domain(
    piece: Body,
    rig: SkinnedRig,
    basis: Basis,
    poses: FloatArray,
    recorded: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
    *,
    trainer: Trainer = train_pool,
) -> Rule:
    """A rule for one domain of a body; the basis comes from `DomainBases.diagonalised`, the rig moves the piece alone.

    Its rest frequencies are not looked at: alone, a domain has others than in the body.
    """
    every = np.arange(len(piece.mesh.tets))
    whole = rest_stiffness(piece, basis, every, np.ones(len(every)))
    return _fit_elements(piece, rig, basis, poses, recorded, whole, tolerance, rng, trainer)


def _fit_elements(
    body: Body,
    rig: SkinnedRig,
    basis: Basis,
    poses: FloatArray,
    recorded: FloatArray,
    stiffness: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
    trainer: Trainer,
) -> Rule:
    """A rule for pulled-back forces and the stiffness at rest (r, r) [1/s²], with its error of held-out samples."""
    soft = basis.truncated(_SOFT)
    still = StiffnessProblem(body, soft, stiffness[: soft.rank, : soft.rank])

    def draw(samples: SkinnedSamples) -> Problem:
        return skinned_problem(body, rig, basis, samples)

    def fit(forces: list[Problem], heldout: Problem, aim: float) -> Rule:
        weight = _STIFFNESS * sum(part.samples for part in forces) ** 0.5
        rule = trainer(StackedProblem([*forces, still], [*np.ones(len(forces)), weight]), aim, rng)
        rule = brace(body, basis, stiffness, rule)
        return replace(rule, heldout_error=fit_error(heldout, rule.members, rule.weights))

    return _improve(_sampler(basis, poses, recorded, draw, rng), fit, basis.rank, tolerance, "elements")


def train_particles(
    rig: SkinnedRig,
    basis: Basis,
    poses: FloatArray,
    recorded: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
    *,
    trainer: Trainer = train_pool,
) -> Rule:
    """A rule of vertices for gravity and the inertia of the moving frame, with its error of held-out samples."""

    def draw(samples: SkinnedSamples) -> Problem:
        return vertex_problem(basis, draw_accelerations(rig, basis, samples, rng))

    def fit(fields: list[Problem], heldout: Problem, aim: float) -> Rule:
        rule = trainer(StackedProblem(fields), aim, rng)
        return replace(rule, heldout_error=fit_error(heldout, rule.members, rule.weights))

    return _improve(_sampler(basis, poses, recorded, draw, rng), fit, basis.rank, tolerance, "vertices")


def _sampler(
    basis: Basis,
    poses: FloatArray,
    recorded: FloatArray,
    draw: Callable[[SkinnedSamples], Problem],
    rng: np.random.Generator,
) -> Callable[[int], Problem]:
    """Makes the problem of any number of samples that go as far as the recorded ones."""
    largest = max(float(np.linalg.norm(basis.lift(q), axis=1).max()) for q in recorded.T)
    if not largest > 0.0:
        raise TrainingError("the recorded shapes are those of the skinning alone: record the body in motion.")
    return lambda count: draw(draw_skinned(basis, poses, recorded, largest, count, rng))


def _improve(
    draw: Callable[[int], Problem],
    fit: Callable[[list[Problem], Problem, float], Rule],
    rank: int,
    tolerance: float,
    what: str,
) -> Rule:
    """The rule of as many samples, fitted as closely, as it takes to be right about others."""
    if not 0.0 < tolerance < 1.0:
        raise TrainingError(f"a tolerance of {tolerance:g} is no relative error: give one between 0 and 1.")
    heldout, parts, tries, aim = draw(_HELDOUT), [draw(sample_count(rank))], [], tolerance
    for _ in range(_TRIES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # held-out samples judge
            rule = fit(parts, heldout, aim)
        off = rule.heldout_error or 0.0
        if is_within(off, tolerance):
            return rule
        tries.append((off, rule))
        if is_spent():
            break
        if len(parts) < _ROUNDS:
            parts.append(draw(sum(part.samples for part in parts)))
        else:
            aim *= max(tolerance / off, 0.5)
    off, best = tries[first_smallest([off for off, _ in tries])]
    warnings.warn(
        f"no rule met {100 * tolerance:.3g} %: the best, of {best.size} {what}, has an error of {100 * off:.3g} % on "
        "held-out samples; ask for a larger tolerance, or record more poses.",
        SuppleWarning,
        stacklevel=3,
    )
    return best
