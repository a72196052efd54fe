"""From shapes of a skinned body that were recorded in poses to a model of it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.cubature.train_skinned import train_particles, train_skinned_rule
from supple.elastic import Body
from supple.method.skinned.model import SkinnedModel
from supple.rig import SkinnedRig
from supple.subspace import Basis, diagonalise
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis

__all__ = ["train_skinned", "train_skinned_rules"]

FloatArray = NDArray[np.float64]


def train_skinned(
    body: Body,
    rig: SkinnedRig,
    poses: FloatArray,
    positions: ArrayLike,
    rng: np.random.Generator,
    *,
    rank: int | None = None,
    tolerance: float = 0.01,
) -> SkinnedModel:
    """The model of a body that was recorded at `positions` (k, n, 3) [m] in `poses` (k, p).

    The basis has the given rank, or the smallest that misses the share `tolerance` of the shapes; the rules are to be
    right to that share of the forces.
    """
    pulled = pull_back_all(rig, poses, positions)
    found = pulled_back_basis(pulled, body.mass, rank=rank, tolerance=None if rank else tolerance)
    basis = diagonalise(found, body)
    return train_skinned_rules(body, rig, basis, poses, basis.project_all(pulled), rng, tolerance=tolerance)


def train_skinned_rules(
    body: Body,
    rig: SkinnedRig,
    basis: Basis,
    poses: FloatArray,
    recorded: FloatArray,
    rng: np.random.Generator,
    *,
    tolerance: float = 0.01,
) -> SkinnedModel:
    """The model in a diagonalised basis of a body that was recorded at coordinates (r, k) in `poses` (k, p)."""
    rule = train_skinned_rule(body, rig, basis, poses, recorded, tolerance, rng)
    particles = train_particles(rig, basis, poses, recorded, tolerance, rng)
    reach = float(np.sqrt((basis.importance @ recorded**2).max()))
    facts = {
        "rank": basis.rank,
        "tolerance": tolerance,
        "snapshots": len(poses),
        "elements": rule.size,
        "elements_heldout_error": rule.heldout_error,
        "frequency_error": rule.frequency_error,
        "particles": particles.size,
        "particles_heldout_error": particles.heldout_error,
    }
    return SkinnedModel(basis, rule, particles, reach, np.asarray(poses, np.float64), facts=facts)
