"""A body as projective dynamics sees it: masses tied by constraints. Immutable; what moves is a state."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.arguments import as_floats, check_number, check_type
from supple.constraint.bending import Bending, flexural_rigidity
from supple.constraint.constraint import Constraint
from supple.constraint.corotational import CorotationalTets
from supple.constraint.gradients import spread_gradients, triangle_stencils
from supple.constraint.hyperelastic import Hyperelastic
from supple.constraint.triangle_strain import TriangleStrain
from supple.elastic import Body, Damping, Pins
from supple.errors import MaterialError, MeshError
from supple.material import Corotational
from supple.mesh import TriMesh
from supple.mesh.checks import read_instead

__all__ = ["ProjectiveBody", "Shell"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Shell:
    """What a thin surface is made of."""

    young: float = 1e6
    """Young's modulus [Pa]."""
    poisson: float = 0.3
    """Poisson's ratio, -1 < ν < 0.5."""
    thickness: float = 1e-3
    """[m]"""
    density: float = 1000.0
    """[kg/m³]"""
    limits: tuple[float, float] | None = None
    """Stretches between which the membrane is slack; None: it always resists."""

    def __post_init__(self) -> None:
        for name, unit in (("young", "Pa"), ("thickness", "m"), ("density", "kg/m³")):
            check_number(getattr(self, name), f"Shell({name})", above=0.0, unit=unit, error=MaterialError)
        remedy = "Use 0.3 for cloth or rubber."
        check_number(self.poisson, "Shell(poisson)", above=-1.0, below=0.5, remedy=remedy, error=MaterialError)

    def mass(self, mesh: TriMesh) -> FloatArray:
        """Lumped masses [kg], (n,)."""
        share = self.density * self.thickness * mesh.areas() / 3.0
        total = np.bincount(mesh.triangles.ravel(), np.repeat(share, 3), minlength=len(mesh.vertices))
        return np.asarray(total, np.float64)

    def constraints(self, mesh: TriMesh) -> tuple[Constraint, ...]:
        """Membrane and bending of a surface at rest."""
        strain = TriangleStrain.build(triangle_stencils(mesh), self.young, self.poisson, self.thickness, self.limits)
        bending = Bending.build(mesh, flexural_rigidity(self.young, self.poisson, self.thickness))
        return (strain, bending) if len(bending.stencils) else (strain,)


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

    def __post_init__(self) -> None:
        vertices = as_floats(self.vertices, "ProjectiveBody(vertices)", ("n", 3), unit="m")
        as_floats(self.mass, "ProjectiveBody(mass)", (len(vertices),), unit="kg", above=0.0)
        check_type(self.pins, "ProjectiveBody(pins)", Pins, "Pins", "Use Pins.of.")
        check_type(self.damping, "ProjectiveBody(damping)", Damping, "Damping(mass, stiffness)")
        self.pins.check(len(vertices), "ProjectiveBody(pins)")
        for number, one in enumerate(self.constraints):
            check_type(one, f"ProjectiveBody(constraints[{number}])", Constraint, "a constraint")

    @classmethod
    def from_body(cls, body: Body, skin: Shell | None = None, *, own_materials: bool = False) -> "ProjectiveBody":
        """A solid, and a shell over its surface if there is a skin.

        It is co-rotational with the Lamé constants of the body's materials, or has these `own_materials` themselves;
        then a solver should remember some iterations (`history`).
        """
        check_type(body, "ProjectiveBody.from_body(body)", Body, "a Body", "Use Body.build.")
        mesh, mass = body.mesh, body.mass
        surface = TriMesh(mesh.vertices, mesh.surface_triangles())
        constraints = _own_materials(body) if own_materials else _corotational(body)
        if skin is not None:
            constraints, mass = constraints + skin.constraints(surface), mass + skin.mass(surface)
        return cls(mesh.vertices, mass, constraints, surface, body.pins, body.damping, mesh.tets)

    @classmethod
    def shell(
        cls, mesh: TriMesh, shell: Shell, pins: Pins | None = None, damping: Damping | None = None
    ) -> "ProjectiveBody":
        """A surface that is all there is of the body."""
        check_type(mesh, "ProjectiveBody.shell(mesh)", TriMesh, "a TriMesh", read_instead(mesh))
        check_type(shell, "ProjectiveBody.shell(shell)", Shell, "a Shell, such as Shell(thickness=1e-3)")
        constraints, mass = shell.constraints(mesh), shell.mass(mesh)
        if not (mass > 0.0).all():
            lone = int(np.argmin(mass))
            raise MeshError(f"vertex {lone} belongs to no triangle and has no mass: clean the mesh first.")
        return cls(mesh.vertices, mass, constraints, mesh, pins or Pins.none(), damping or Damping(), mesh.triangles)

    def pinned(self, pins: Pins) -> "ProjectiveBody":
        """The same body held by other pins."""
        return replace(self, pins=pins)

    def tied(self, *constraints: Constraint) -> "ProjectiveBody":
        """The same body with more constraints."""
        return replace(self, constraints=self.constraints + constraints)

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


def _corotational(body: Body) -> tuple[Constraint, ...]:
    """The tets of a body in the order of its mesh, whose own rest shape may be another."""
    count = len(body.mesh.tets)
    vertices, inverse, volume = np.empty((count, 4), np.int32), np.empty((count, 3, 3)), np.empty(count)
    mu, lam = np.empty(count), np.empty(count)
    for part in body.parts:
        vertices[part.ids], inverse[part.ids] = part.tets.T, part.inverse.T.reshape(-1, 3, 3)
        volume[part.ids], mu[part.ids], lam[part.ids] = part.volume, part.material.mu, part.material.lam
    return (CorotationalTets.build(spread_gradients(vertices, inverse, volume), mu, lam),)


def _own_materials(body: Body) -> tuple[Constraint, ...]:
    """The tets of a body, material by material."""
    made: list[Constraint] = []
    for part in body.parts:
        stencils = spread_gradients(np.ascontiguousarray(part.tets.T), part.inverse.T.reshape(-1, 3, 3), part.volume)
        if isinstance(part.material, Corotational):
            made.append(CorotationalTets.build(stencils, part.material.mu, part.material.lam))
        else:
            made.append(Hyperelastic.build(stencils, part.material))
    return tuple(made)
