"""Rules of single domains of a cut body, trained each on its own elements, and all of them as one rule of the body."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from supple.cubature.element_problem import ElementProblem
from supple.cubature.pool import train_pool
from supple.cubature.poses import Poses
from supple.cubature.problem import fit_error
from supple.cubature.rule import Rule
from supple.cubature.samples import mix_coordinates, sample_count
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.stiffness_problem import rest_stiffness
from supple.cubature.support import Trainer
from supple.elastic import Body
from supple.errors import SuppleWarning, TrainingError
from supple.linalg.ties import first_smallest, is_within
from supple.subspace import Basis
from supple.subspace.domain_bases import DomainBases
from supple.subspace.domains import Domains
from supple.subspace.interface import Interface
from supple.subspace.recorded import check_recorded

__all__ = ["join_rules", "tied_frequency_errors", "train_domain_rules"]

FloatArray = NDArray[np.float64]
_HELDOUT = 100  # samples
_ROUNDS = 3  # of twice the samples
_TIGHTER = 1.0, 0.5, 0.25  # shares of the tolerance that are tried until the frequencies are right
_EVERY = 4  # recorded displacements are held out by turns


def join_rules(domains: Domains, rules: Sequence[Rule]) -> Rule:
    """One rule of the cut body from rules of its domains' pieces, with the largest of their errors."""
    if len(rules) != len(domains):
        raise TrainingError(f"{len(rules)} rules do not serve {len(domains)} domains: give one for each of them.")
    members = np.concatenate([domains.tets(domain)[rule.members] for domain, rule in enumerate(rules)])
    order = np.argsort(members)
    weights = np.concatenate([rule.weights for rule in rules])[order]
    heldout = [rule.heldout_error for rule in rules if rule.heldout_error is not None]
    return Rule(
        members[order].astype(np.int64),
        weights,
        max(rule.training_error for rule in rules),
        max(heldout) if heldout else None,
        trainer=", ".join(dict.fromkeys(rule.trainer for rule in rules if rule.trainer)),
    )


def train_domain_rules(
    bases: DomainBases,
    interface: Interface,
    displacements: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
    *,
    trainer: Trainer = train_pool,
) -> Rule:
    """One rule of the cut body from `displacements` (k, n, 3) [m] of the whole one; bases must be diagonalised.

    Half of a domain's samples are recorded, half drawn up to the largest recorded. Accepted by each domain's held-out
    samples and the first rest frequencies of the domains tied together; otherwise the best comes with a warning.
    """
    if not 0.0 < tolerance < 1.0:
        raise TrainingError(f"a tolerance of {tolerance:g} is no relative error: give one between 0 and 1.")
    domains, tries = bases.domains, []
    check_recorded(displacements, len(domains.whole.mass))
    _check_diagonal(bases)
    for share in _TIGHTER:
        rules = []
        for domain, (basis, child) in enumerate(zip(bases.bases, rng.spawn(len(domains)), strict=True)):
            recorded = displacements[:, domains.vertex_of[domains.vertices(domain)]]
            rules.append(_train_one(domains.piece(domain), basis, recorded, share * tolerance, child, trainer))
        pitch = float(np.abs(tied_frequency_errors(bases, interface, rules)).max())
        rule = replace(join_rules(domains, rules), frequency_error=pitch)
        excess = max(rule.heldout_error or 0.0, pitch) / tolerance
        if is_within(excess, 1.0):
            return rule
        tries.append((excess, rule))
    _, best = tries[first_smallest([excess for excess, _ in tries])]
    warnings.warn(
        f"no rules of {len(domains)} domains met {100 * tolerance:.3g} %: the best, of {best.size} elements, have "
        f"errors of {100 * (best.heldout_error or 0.0):.3g} % on held-out samples and of "
        f"{100 * (best.frequency_error or 0.0):.3g} % in the first frequencies; ask for a larger tolerance or record "
        "more.",
        SuppleWarning,
        stacklevel=2,
    )
    return best


def _train_one(
    piece: Body, basis: Basis, recorded: FloatArray, tolerance: float, rng: np.random.Generator, trainer: Trainer
) -> Rule:
    """A rule for one domain; of no element where the domain does not move."""
    if not basis.rank:
        return Rule(np.zeros(0, np.int64), np.zeros(0), 0.0)
    reach = float(np.linalg.norm(recorded, axis=2).max())
    aside = np.arange(len(recorded)) % _EVERY == _EVERY - 1
    q = basis.project_all(recorded)

    def pose(count: int, chosen: NDArray[np.bool_]) -> ElementProblem:
        coordinates = mix_coordinates(basis, reach, count, rng, q[:, chosen] if chosen.any() else None)
        return ElementProblem(piece, basis, Poses(piece, basis, coordinates))

    heldout, problems = pose(_HELDOUT, aside), [pose(sample_count(basis.rank), ~aside)]
    for _ in range(_ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # held-out samples judge
            rule = trainer(problems[0] if len(problems) == 1 else StackedProblem(problems), tolerance, rng)
        rule = replace(rule, heldout_error=fit_error(heldout, rule.members, rule.weights))
        if is_within(rule.heldout_error or 0.0, tolerance):
            break
        problems.append(pose(sum(problem.samples for problem in problems), ~aside))
    return rule


def tied_frequency_errors(
    bases: DomainBases, interface: Interface, rules: Sequence[Rule], count: int = 10
) -> FloatArray:
    """Relative errors of the first rest frequencies of the domains tied together, under their rules, (count,)."""
    springs = interface.reduce(bases.bases)
    values, exact = (
        np.linalg.eigvalsh(scipy.linalg.block_diag(*_rest_stiffnesses(bases, one)) + springs) for one in (rules, None)
    )
    moves = exact > 1e-10 * exact[-1]  # the others are rigid motions
    return np.asarray(np.sqrt(np.maximum(values[moves][:count], 0.0) / exact[moves][:count]) - 1.0)


def _rest_stiffnesses(bases: DomainBases, rules: Sequence[Rule] | None) -> list[FloatArray]:
    """Stiffness at rest [1/s²] of every domain that moves, by its rule or by all its elements."""
    found = []
    for domain, basis in enumerate(bases.bases):
        if basis.rank:
            piece = bases.domains.piece(domain)
            every = np.arange(len(piece.mesh.tets))
            rule = Rule(every, np.ones(len(every)), 0.0) if rules is None else rules[domain]
            found.append(rest_stiffness(piece, basis, rule.members, rule.weights))
    return found


def _check_diagonal(bases: DomainBases) -> None:
    """Refuse bases of which training would scale forces by anything but their stiffness."""
    for K, basis in zip(_rest_stiffnesses(bases, None), (one for one in bases.bases if one.rank), strict=True):
        beside = np.abs(K - np.diag(np.diag(K))).max()
        if beside > 1e-6 * np.abs(K).max() or (np.diag(K) > 1.0001 * basis.importance).any():
            raise TrainingError(
                f"the stiffness of a domain's basis ({basis.source}) is not the diagonal that its importance says: "
                "pass the bases through diagonalised() first."
            )
