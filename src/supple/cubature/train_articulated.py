"""Rules of a skinned body in domains: elements and vertices of each, and all of them as rules of the cut body."""

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.cubature.domain_rules import join_rules, tied_frequency_errors
from supple.cubature.rule import Rule
from supple.cubature.skinned_elements import restrict_rig
from supple.cubature.train_skinned import train_particles, train_skinned_domain
from supple.errors import SuppleWarning
from supple.rig import SkinnedRig
from supple.subspace.domain_bases import DomainBases
from supple.subspace.domains import Domains
from supple.subspace.interface import Interface

__all__ = ["train_articulated_rules"]

FloatArray = NDArray[np.float64]
_NOTHING = Rule(np.zeros(0, np.int64), np.zeros(0), 0.0)


def train_articulated_rules(
    bases: DomainBases,
    interface: Interface,
    rig: SkinnedRig,
    poses: FloatArray,
    recorded: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> tuple[Rule, Rule]:
    """A rule of elements and one of vertices, both of the cut body, for bases from `DomainBases.diagonalised`.

    `recorded` (r, k) are coordinates of all domains that were recorded in `poses` (k, p). Domains whose rules missed
    the tolerance are named in one warning.
    """
    domains = bases.domains
    elements, vertices = [], []
    for domain, ((basis, own, at), child) in enumerate(zip(bases.each(), rng.spawn(len(domains)), strict=True)):
        if not basis.rank:
            elements.append(_NOTHING)
            vertices.append(_NOTHING)
            continue
        near = restrict_rig(rig, domains.vertex_of[own])
        given = basis, poses, recorded[at], tolerance, child
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # all domains are told of together
            elements.append(train_skinned_domain(domains.piece(domain), near, *given))
            vertices.append(train_particles(near, *given))
    pitch = float(np.abs(tied_frequency_errors(bases, interface, elements)).max())
    _tell_missed(domains, elements, vertices, tolerance)
    return replace(join_rules(domains, elements), frequency_error=pitch), _join_vertices(domains, vertices)


def _join_vertices(domains: Domains, rules: list[Rule]) -> Rule:
    """One rule of the cut body from rules of its domains' vertices, with the largest of their errors."""
    members = np.concatenate([domains.start[domain] + rule.members for domain, rule in enumerate(rules)])
    return Rule(
        members.astype(np.int64),
        np.concatenate([rule.weights for rule in rules]),
        max(rule.training_error for rule in rules),
        max((rule.heldout_error for rule in rules if rule.heldout_error is not None), default=None),
        trainer=", ".join(dict.fromkeys(rule.trainer for rule in rules if rule.trainer)),
    )


def _tell_missed(domains: Domains, elements: list[Rule], vertices: list[Rule], tolerance: float) -> None:
    """Warn of domains whose rules are not as right as was asked for."""
    pairs = zip(elements, vertices, strict=True)
    off = [max(one.heldout_error or 0.0, other.heldout_error or 0.0) for one, other in pairs]
    missed = [
        f"'{name}' ({100 * error:.3g} %)" for name, error in zip(domains.names, off, strict=True) if error > tolerance
    ]
    if missed:
        warnings.warn(
            f"the rules of {', '.join(missed)} miss the {100 * tolerance:.3g} % that were asked for on held-out "
            "samples: ask for a larger tolerance, or record more poses.",
            SuppleWarning,
            stacklevel=3,
        )
