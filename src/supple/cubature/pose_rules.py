"""Rules for forces in subspaces that change with the pose: one set of members, weights for every pose ([XB16] 5.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.cubature.pool import train_pool
from supple.cubature.pose_elements import train_pose_elements
from supple.cubature.pose_vertices import train_pose_vertices
from supple.cubature.posed_space import PosedSpaces
from supple.cubature.support import Trainer
from supple.elastic import Body
from supple.errors import TrainingError
from supple.rig import Rig
from supple.subspace import PoseBases

__all__ = ["PoseRules", "train_pose_rules"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseRules:
    """Elements for elastic forces and vertices for inertial ones.

    Weights of a pose are a mean of those of the examples by shares of which none is negative and that sum to 1.
    """

    elements: NDArray[np.int64]
    """(c,)"""
    weights: FloatArray
    """Of the elements in every pose, (m, c), times their volume there; none negative."""
    inertia_vertices: NDArray[np.int64]
    """(i,)"""
    inertia_weights: FloatArray
    """Of the vertices in every pose, (m, i), times their mass; none negative."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Relative errors in the worst pose by name: "training", "heldout" and "between" of "elastic_" and "inertia_"
    forces, "frequencies" of the first ten at rest."""


def train_pose_rules(
    body: Body,
    rig: Rig,
    bases: PoseBases,
    tolerance: float,
    rng: np.random.Generator,
    *,
    reach: float | None = None,
    trainer: Trainer = train_pool,
) -> PoseRules:
    """Rules whose forces are within the tolerance at the poses of the bases and between them, in the energy norm.

    `reach` [m] is the largest displacement from the rig to train for; by default one that several times the body's
    weight would cause.
    """
    if bases.columns.shape[1] != 3 * len(body.mass):
        raise TrainingError(
            f"the bases of poses have {bases.columns.shape[1] // 3} vertices where the body has {len(body.mass)}: make "
            "some from this mesh."
        )
    spaces = PosedSpaces.of(body, rig, bases)
    elastic, pitch, off = train_pose_elements(spaces, tolerance, rng, reach=reach, trainer=trainer)
    inertia, late = train_pose_vertices(body, rig, spaces, tolerance, rng, trainer=trainer)
    errors = {
        **{f"elastic_{name}": value for name, value in vars(off).items()},
        "frequencies": pitch,
        **{f"inertia_{name}": value for name, value in vars(late).items()},
    }
    return PoseRules(elastic.members, elastic.weights, inertia.members, inertia.weights, errors)
