"""Projective constraints: what ties the vertices of a body together in projective dynamics ([BEH18] section 3)."""

from supple.constraint.constraint import Constraint
from supple.constraint.projective_body import ProjectiveBody
from supple.constraint.stencils import Stencils

__all__ = ["Constraint", "ProjectiveBody", "Stencils"]
