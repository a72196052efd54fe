"""All projections of one type of constraint from those of a few elements: Eqs. (8) and (9) of [BEH18]."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import Constraint, Stencils
from supple.errors import SceneError
from supple.linalg.jit import njit
from supple.subspace.position_space import PositionSpace
from supple.subspace.projection_space import ProjectionSpace
from supple.subspace.reduced_stencils import ReducedStencils, reduce_stencils, reduced_stiffness

__all__ = ["ProjectionFit", "fit_projections", "sample_elements"]

FloatArray = NDArray[np.float64]
SPARE_ROWS = 20
SAMPLES_PER_FUNCTION = 10  # with five the fit amplifies what it has not seen, and bodies shake themselves to pieces


@dataclass(frozen=True, eq=False)
class ProjectionFit:
    """Coefficients c = fit p of the sampled projections p, and what they add to the right-hand side: pull c."""

    constraint: Constraint
    space: ProjectionSpace
    members: NDArray[np.int64]
    """Sampled elements, (s,)."""
    seen: ReducedStencils
    """S U of them; guided ones have two more rows, edges of the triangle whose normal they look at."""
    fit: FloatArray
    """(m, s) for the scalar functions of each row, else (m, p s), all elements of a row after each other."""
    pull: FloatArray
    """UᵀSᵀV, (c, p m) or (c, m) [J or J/m]."""
    stiffness: sp.csr_array
    """The sum of λ UᵀSᵀS U over all elements [N/m], (c, c)."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is fitted."""
        return self.space.rank == len(self.constraint.stencils) == len(self.members)

    def describe(self) -> str:
        """What is evaluated, in a user's words."""
        count, kind = len(self.constraint.stencils), self.constraint.kind
        if self.is_complete:
            return f"all {count:,} {kind} constraints evaluated"
        return (
            f"{len(self.members):,} of {count:,} {kind} constraints evaluated, the others by "
            f"{3 * self.pull.shape[1]:,} coordinates of their projections"
        )


def fit_projections(
    constraint: Constraint, space: ProjectionSpace, positions: PositionSpace, members: NDArray[np.integer]
) -> ProjectionFit:
    """The least-squares fit from the projections of `members`.

    Columns of the space that so few elements could not tell apart are dropped, the least important first.
    """
    sampled = np.unique(np.asarray(members, np.int64))
    rows = len(sampled) if space.is_scalar else constraint.stencils.rows * len(sampled)
    if len(sampled) < len(constraint.stencils):
        most = min(rows - SPARE_ROWS, rows // SAMPLES_PER_FUNCTION)
        if most < space.kept:
            raise SceneError(
                f"{len(sampled)} samples of {len(constraint.stencils)} {constraint.kind} constraints are too few: ask "
                f"for at least {max(SPARE_ROWS + space.kept, SAMPLES_PER_FUNCTION * space.kept)}."
            )
        space = space.truncated(min(space.rank, most))
    V = space.rows(sampled)
    if not space.is_scalar:  # rows of one element after each other: regroup by row
        V = V.reshape(len(sampled), constraint.stencils.rows, -1).transpose(1, 0, 2).reshape(len(V), -1)
    seen = reduce_stencils(_looked_at(constraint, sampled), np.arange(len(sampled)), positions)
    fit = np.asarray(np.linalg.pinv(V), np.float64)
    pull = space.gather(constraint, positions)
    stiffness = reduced_stiffness(constraint.stencils, constraint.weight, positions)
    return ProjectionFit(constraint, space, sampled, seen, fit, pull, stiffness)


def _looked_at(constraint: Constraint, members: NDArray[np.int64]) -> Stencils:
    """The stencils of chosen elements, with all that their projections look at."""
    own = constraint.stencils
    operator = own.operator[members]
    if constraint.guided:
        edges = np.zeros((len(members), 2, operator.shape[2]))
        edges[:, :, 0], edges[:, 0, 1], edges[:, 1, 2] = -1.0, 1.0, 1.0
        operator = np.concatenate([operator, edges], axis=1)
    return Stencils(own.vertices[members], operator, own.measure[members])


def sample_elements(vertices: NDArray[np.integer], constraint: Constraint, count: int) -> NDArray[np.int64]:
    """`count` elements of the constraint, one at each of the vertices in their order, then another at each, and so on;
    fewer where there are no more. In ascending order."""
    stencils = constraint.stencils
    if count >= len(stencils):
        return np.arange(len(stencils))
    turn = np.full(max(int(stencils.vertices.max()), int(np.max(vertices))) + 1, -1, np.int64)
    turn[vertices] = np.arange(len(vertices))
    used = np.abs(stencils.operator).max(axis=1) > 0.0
    taken, found = np.zeros(len(stencils), np.bool_), np.zeros(0, np.int64)
    while len(found) < count:
        chosen = _next_elements(turn, stencils.vertices, used, taken, len(vertices))
        if not (chosen >= 0).any():
            break
        found = np.concatenate([found, chosen[chosen >= 0]])
    return np.sort(found[:count])


@njit(cache=True)
def _next_elements(turn, vertices, used, taken, count):
    """For each wanted vertex the first element around it that none has taken, or -1."""
    chosen = np.full(count, -1, np.int64)
    for e in range(len(vertices)):
        for a in range(vertices.shape[1]):
            at = turn[vertices[e, a]]
            if at >= 0 and chosen[at] < 0 and used[e, a] and not taken[e]:
                chosen[at] = e
                taken[e] = True
    return chosen
