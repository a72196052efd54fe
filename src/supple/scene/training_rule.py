"""Rules for the elastic forces of training motions, also where fields carried by pins strain the body."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.cubature import (
    ElementProblem,
    Poses,
    Rule,
    StackedProblem,
    check_rule,
    draw_coordinates,
    sample_count,
    train_pool,
    train_rule,
)
from supple.cubature.budget import is_spent
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.scene.training_motion import Snapshots
from supple.subspace import Basis

__all__ = ["find_rule"]

FloatArray = NDArray[np.float64]
HELDOUT = 150  #: samples
ROUNDS = 3  #: of ever more samples


def find_rule(
    body: Body,
    basis: Basis,
    carried: FloatArray,
    snapshots: Snapshots,
    q: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> Rule:
    """A rule for the forces UᵀF at the shapes of training motions and about them; no warning, its figures tell.

    `q`, (t, r): the snapshots in the basis.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        if carried.shape[1]:
            return _train_about(body, basis, carried, snapshots, q, tolerance, rng)
        return train_rule(body, basis, tolerance, rng, snapshots.u)


def _train_about(
    body: Body,
    basis: Basis,
    carried: FloatArray,
    snapshots: Snapshots,
    q: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> Rule:
    """A rule for shapes S p + U (q + δ): those of the motions with random displacements δ about them.

    In a shape that rests, forces add up to almost nothing; what a step needs is how they grow around it.
    """
    wide = Basis(
        np.column_stack([basis.columns, carried]),
        basis.mass,
        "displacements and carried fields",
        np.append(basis.importance, np.zeros(carried.shape[1])),
    )
    reach = float(np.linalg.norm(snapshots.u, axis=2).max())

    def pose(count: int) -> ElementProblem:
        chosen = rng.integers(len(q), size=count)
        moved = q[chosen].T + draw_coordinates(basis, reach, count, rng)
        return ElementProblem(body, basis, Poses(body, wide, np.concatenate([moved, snapshots.p[chosen].T])))

    forces, heldout = [pose(sample_count(basis.rank))], pose(HELDOUT)
    for _ in range(ROUNDS):
        problem = forces[0] if len(forces) == 1 else StackedProblem(forces)
        rule = check_rule(train_pool(problem, tolerance, rng), body, basis, heldout)
        if (rule.heldout_error or 0.0) <= tolerance or is_spent():
            break
        forces.append(pose(sum(part.samples for part in forces)))
    return rule
