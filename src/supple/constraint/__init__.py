"""Projective constraints: what ties the vertices of a body together in projective dynamics ([BEH18] section 3)."""

from supple.constraint.bending import Bending
from supple.constraint.constraint import Constraint
from supple.constraint.corotational import CorotationalTets
from supple.constraint.examples import ExampleShapes
from supple.constraint.gradients import tet_stencils, triangle_stencils
from supple.constraint.hyperelastic import Hyperelastic
from supple.constraint.positions import Positions
from supple.constraint.projective_body import ProjectiveBody, Shell
from supple.constraint.springs import Springs
from supple.constraint.stencils import Stencils
from supple.constraint.tet_strain import TetStrain
from supple.constraint.tet_volume import TetVolume
from supple.constraint.triangle_strain import TriangleStrain

__all__ = [
    "Bending",
    "Constraint",
    "CorotationalTets",
    "ExampleShapes",
    "Hyperelastic",
    "Positions",
    "ProjectiveBody",
    "Shell",
    "Springs",
    "Stencils",
    "TetStrain",
    "TetVolume",
    "TriangleStrain",
    "tet_stencils",
    "triangle_stencils",
]
