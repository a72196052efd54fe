"""A body as projective dynamics sees it: masses tied by constraints. Immutable; what moves is a state."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint.constraint import Constraint
from supple.elastic import Damping, Pins
from supple.mesh import TriMesh

__all__ = ["ProjectiveBody"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ProjectiveBody:
    """Vertices with mass, the constraints between them, and the surface that is drawn and touched."""

    vertices: FloatArray
    """Rest positions [m], (n, 3)."""
    mass: FloatArray
    """Lumped [kg], (n,)."""
    constraints: tuple[Constraint, ...]
    """One value a type."""
    surface: TriMesh
    """Over the same vertices; for shells the shell itself."""
    pins: Pins
    damping: Damping
    cells: NDArray[np.int32]
    """Tetrahedra (m, 4) or, for shells, triangles (m, 3): along these, distances through the body are measured."""

    def pinned(self, pins: Pins) -> "ProjectiveBody":
        """The same body held by other pins."""
        return replace(self, pins=pins)

    def size(self) -> float:
        """Longest side of the bounding box at rest [m]."""
        return float(np.ptp(self.vertices, axis=0).max())

    def stiffness(self) -> sp.csr_array:
        """The sum of λ SᵀS over all constraints [N/m], (n, n), the same for x, y and z."""
        total = sp.csr_array((len(self.vertices),) * 2)
        for constraint in self.constraints:
            total = total + constraint.stencils.stiffness(constraint.weight, len(self.vertices))
        return sp.csr_array(total)

    def energy(self, x: FloatArray) -> float:
        """Energy of all constraints [J] at positions x [m], (n, 3)."""
        return sum(constraint.energy(x) for constraint in self.constraints)

    def forces(self, x: FloatArray) -> FloatArray:
        """Forces of all constraints on the vertices [N], (n, 3)."""
        return sum((constraint.forces(x) for constraint in self.constraints), np.zeros_like(x))
