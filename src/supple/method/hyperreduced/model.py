"""What preparation leaves for the hyper-reduced solver: spaces of positions and projections, and sums over a body."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp

from supple.constraint import Constraint, ProjectiveBody
from supple.errors import SceneError
from supple.mesh.farthest import Spread, spread_points
from supple.mesh.geodesic import Geodesics
from supple.method.hyperreduced.parts import ConstantParts
from supple.subspace.position_space import PositionSpace
from supple.subspace.projection_fit import ProjectionFit, fit_projections, sample_elements
from supple.subspace.projection_space import complete_space, projection_space
from supple.subspace.rotation_clusters import (
    RotationClusters,
    can_cluster,
    cluster_elements,
    cluster_projections,
)
from supple.subspace.skinning_space import handle_weights, skinning_space

__all__ = ["HyperReducedModel", "Projections", "SpaceSizes", "prepare_spaces"]

Projections = ProjectionFit | RotationClusters
_DENSE = 2.0  # values of clusters over columns of positions: beyond, iterations in positions cost less
_FEW = 60  # constraints of a type: so few, or no more than functions, are all evaluated and none is fitted


@dataclass(frozen=True)
class SpaceSizes:
    """How large the spaces shall be."""

    handles: int = 120
    """Of the position space: four columns each, twelve degrees of freedom."""
    radius: float = 1.5
    """Of handles, times the distance within which they cover the body: 1.1 is the quickest to evaluate, 2 smoother."""
    projection: Literal["clusters", "fit"] = "clusters"
    """How few projections stand for all: elements in clusters that turn together (subspace/rotation_clusters.py), where
    the constraint allows it, or the fit of [BEH18] to sampled elements."""
    clusters: int = 200
    """Of each type of constraint."""
    strained: float | None = None
    """How much of what elements deviate from the mean of their cluster counts as strain: more makes bodies stiffer.
    Without a number, as much as in soft bends of the body."""
    functions: int = 60
    """Weight functions of a projection space that is fitted."""
    function_radius: float = 1.5
    """Likewise."""
    rank: int | None = None
    """Columns kept of a projection space: without a number two thirds of the functions, half of [BEH18]'s columns."""
    samples: int = 1000
    """Constraints of each type that are evaluated for a fit."""
    seed: int | None = None
    """Draws the first handle; without one it is the vertex of smallest x."""

    def __post_init__(self) -> None:
        for name in ("handles", "clusters", "functions", "samples"):
            if getattr(self, name) < 1:
                raise SceneError(f"{name} = {getattr(self, name)} makes no sense: ask for at least 1.")


@dataclass(frozen=True, eq=False)
class HyperReducedModel:
    """A body in small spaces: x = U q, projections p = V c fitted to sampled constraints."""

    positions: PositionSpace
    fits: tuple[Projections, ...]
    """One for each type of constraint."""
    mass: sp.csr_array
    """UᵀMU [kg], (c, c)."""
    stiffness: sp.csr_array
    """The constant matrix of all constraints, Σ λ UᵀSᵀS U where nothing is clustered [N/m], (c, c)."""

    @classmethod
    def build(cls, positions: PositionSpace, fits: tuple[Projections, ...]) -> "HyperReducedModel":
        """The model of given spaces."""
        total = sp.csr_array((positions.columns,) * 2)
        for fit in fits:
            total = total + fit.stiffness
        return cls(positions, fits, positions.gram, sp.csr_array(total))

    @cached_property
    def alone(self) -> RotationClusters | None:
        """Clusters of tets as the only constraint, if these are few enough for iterations without positions."""
        only = self.fits[0]
        if len(self.fits) > 1 or not isinstance(only, RotationClusters) or only.constraint.stencils.rows != 3:
            return None
        return only if 3 * len(only.constraint.stencils) <= _DENSE * self.positions.columns else None

    @cached_property
    def parts(self) -> ConstantParts:
        """Mass and stiffness as a step of any length weighs them."""
        return ConstantParts.build(self.mass, self.stiffness, self.positions)

    def describe(self) -> list[str]:
        """What was chosen, in a user's words."""
        lines = [f"{3 * self.positions.columns:,} position coordinates ({self.positions.source})"]
        return lines + [fit.describe() for fit in self.fits]


def prepare_spaces(body: ProjectiveBody, sizes: SpaceSizes | None = None) -> HyperReducedModel:
    """Spaces of skinning for a body: sections 4 and 5 of [BEH18], no training."""
    sizes = sizes or SpaceSizes()
    if not body.constraints:
        raise SceneError("the body has no constraint that holds it together: give it a material.")
    graph = Geodesics.along(body.vertices, body.cells)
    everywhere = spread_points(graph, max(sizes.handles, sizes.samples, sizes.clusters), seed=sizes.seed)
    positions = skinning_space(graph, body.mass, everywhere, sizes.handles, multiplier=sizes.radius)
    fits = tuple(_fit(constraint, body, graph, everywhere, positions, sizes) for constraint in body.constraints)
    return HyperReducedModel.build(positions, fits)


def _fit(
    constraint: Constraint,
    body: ProjectiveBody,
    graph: Geodesics,
    everywhere: Spread,
    positions: PositionSpace,
    sizes: SpaceSizes,
) -> Projections:
    count = len(constraint.stencils)
    if count <= max(_FEW, sizes.functions):
        return fit_projections(constraint, complete_space(constraint), positions, np.arange(count))
    own = np.unique(constraint.stencils.vertices)
    spread = everywhere
    if len(own) < len(body.vertices):
        spread = spread_points(graph, max(sizes.functions, sizes.samples, sizes.clusters), seed=sizes.seed, among=own)
    if sizes.projection == "clusters" and can_cluster(constraint):
        cluster = np.arange(count)
        if sizes.clusters < count:
            cluster = cluster_elements(graph, spread.vertices[: sizes.clusters], constraint)
        return cluster_projections(constraint, positions, body.vertices, cluster, sizes.strained)
    weights = handle_weights(graph, spread, sizes.functions, sizes.function_radius, own)
    space = projection_space(constraint, body.vertices, weights.weights, sizes.rank)
    return fit_projections(constraint, space, positions, sample_elements(spread.vertices, constraint, sizes.samples))
