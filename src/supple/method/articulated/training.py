"""From shapes of a skinned body that were recorded in poses to a model of it in domains."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.cubature.train_articulated import train_articulated_rules
from supple.elastic import Body
from supple.method.articulated.model import ArticulatedModel
from supple.rig import SkinnedRig
from supple.subspace import DomainBases, Domains, Interface, bone_domains
from supple.subspace.interface import FITTING
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis

__all__ = ["make_articulated", "train_articulated"]

FloatArray = NDArray[np.float64]


def train_articulated(
    body: Body,
    rig: SkinnedRig,
    poses: FloatArray,
    positions: ArrayLike,
    rng: np.random.Generator,
    *,
    rank: int | None = None,
    tolerance: float = 0.01,
    domains: Domains | None = None,
    stiffness: float | None = None,
) -> ArticulatedModel:
    """The model of a body that was recorded at `positions` (k, n, 3) [m] in `poses` (k, p).

    Bases of domains are parts of one of the whole body that has the given rank, or the smallest that misses the share
    `tolerance` of the shapes; the rules are to be right to that share of the forces. `domains` are those of the bones
    by default, `stiffness` [N/m] of the springs between them is `FITTING` times E ℓ (`Interface.of`).
    """
    pulled = pull_back_all(rig, poses, positions)
    domains = domains or bone_domains(body, rig.skeleton, rig.influences)
    interface = Interface.of(domains, stiffness, bond=FITTING)
    whole = pulled_back_basis(pulled, body.mass, rank=rank, tolerance=None if rank else tolerance)
    bases = DomainBases.cut(domains, whole, whole.project_all(pulled)).diagonalised(interface)
    return make_articulated(bases, interface, rig, poses, bases.project_all(pulled), rng, tolerance=tolerance)


def make_articulated(
    bases: DomainBases,
    interface: Interface,
    rig: SkinnedRig,
    poses: FloatArray,
    recorded: FloatArray,
    rng: np.random.Generator,
    *,
    tolerance: float = 0.01,
) -> ArticulatedModel:
    """The model in diagonalised bases of a body that was recorded at coordinates (r, k) in `poses` (k, p)."""
    rule, particles = train_articulated_rules(bases, interface, rig, poses, recorded, tolerance, rng)
    reach = float(np.sqrt((bases.importance @ recorded**2).max()))
    facts = {
        "rank": bases.rank,
        "tolerance": tolerance,
        "snapshots": len(poses),
        "elements": rule.size,
        "elements_heldout_error": rule.heldout_error,
        "frequency_error": rule.frequency_error,
    }
    model = ArticulatedModel(bases, interface, rule, particles, reach, np.asarray(poses, np.float64))
    return replace(model, facts={**facts, **model.tell()})
