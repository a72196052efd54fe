"""The reduced solver of a skinned body in domains, one a bone: [TMDK15] 4.1.

A basis for a whole figure must hold every combination of what its limbs do; bases of single bones need not. Positions
are x = φ(p, X + U q) in each domain, springs pull the copies of vertices at borders together. All copies of a vertex
are skinned alike, so the springs' Hessian is one constant matrix in every pose, Eqs. (19) and (20) there.
"""

from typing import Any

from supple.elastic import Body
from supple.method.articulated.model import ArticulatedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.rig import SkinnedRig

__all__ = ["ArticulatedSolver"]


class ArticulatedSolver(SkinnedSolver):
    """Static, implicit Euler or Newmark steps of a body that bones move, in a subspace for each of its domains."""

    name = "articulated"

    def __init__(self, body: Body, rig: SkinnedRig, model: ArticulatedModel, **settings: Any) -> None:
        """As `SkinnedSolver`; the state is the same, with the coordinates of all domains side by side."""
        super().__init__(body, rig, model, **settings)
