"""A soft body: mesh, materials, mass, damping, pins. Immutable; what moves is a state."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.arguments import as_floats, check_number, check_type
from supple.elastic.elements import Elements
from supple.elastic.pins import Pins
from supple.elastic.rest_shape import FLAT, volume_ratios
from supple.errors import MaterialError, MeshError
from supple.material import Material
from supple.mesh.checks import read_instead
from supple.mesh.tetmesh import TetMesh

__all__ = ["Body", "Damping", "Stiffening", "elastic_energy", "elastic_gradient"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Damping:
    """Rayleigh damping: C = mass M + stiffness K."""

    mass: float = 0.0
    """[1/s]"""
    stiffness: float = 0.0
    """[s]"""

    def __post_init__(self) -> None:
        check_number(self.mass, "Damping(mass)", least=0.0, unit="1/s")
        check_number(self.stiffness, "Damping(stiffness)", least=0.0, unit="s")


class Stiffening(Protocol):
    """How much stiffer than its materials a body is in the poses of a rig, tet by tet."""

    poses: FloatArray
    """In which it is known, (k, p)."""
    neutral: FloatArray
    """Factors in the neutral pose, (m,)."""

    def at(self, pose: FloatArray) -> FloatArray:
        """Factors in a pose, (m,)."""

    def digest(self) -> str:
        """Fingerprint of all factors."""


def elastic_energy(parts: tuple[Elements, ...], x: FloatArray) -> float:
    """Elastic energy [J] of elements at positions x [m]."""
    total = 0.0
    for part in parts:
        sums = np.zeros(len(part.clusters.start) - 1)
        part.kernels.energy(x, part.tets, part.inverse, part.volume, part.moduli, part.clusters.start, sums)
        total += float(sums.sum())
    return total


def elastic_gradient(parts: tuple[Elements, ...], x: FloatArray) -> FloatArray:
    """Derivative of the elastic energy by the positions [N], shape (n, 3)."""
    out = np.zeros_like(x)
    for part in parts:
        part.kernels.gradient(
            x, part.tets, part.inverse, part.volume, part.moduli, part.clusters.start, part.clusters.colour, out
        )
    return out


@dataclass(frozen=True, eq=False)
class Body:
    """A mesh made of materials."""

    mesh: TetMesh
    parts: tuple[Elements, ...]
    """The elements, one value per material."""
    mass: FloatArray
    """Lumped mass of every vertex [kg], (n,)."""
    pins: Pins
    damping: Damping
    stiffening: Stiffening | None = None
    """How stiff it is in other poses than the neutral one, where that is not all the same."""

    def __post_init__(self) -> None:
        check_type(self.mesh, "Body(mesh)", TetMesh, "a TetMesh", read_instead(self.mesh))
        check_type(self.pins, "Body(pins)", Pins, "Pins", "Use Pins.of.")
        check_type(self.damping, "Body(damping)", Damping, "Damping(mass, stiffness)")
        self.pins.check(len(self.mesh.vertices), "Body(pins)")

    @classmethod
    def build(
        cls,
        mesh: TetMesh,
        material: Material | Mapping[int, Material],
        pins: Pins | None = None,
        damping: Damping | None = None,
    ) -> "Body":
        """A body of one material, or of one for each region number of the mesh."""
        check_type(mesh, "Body(mesh)", TetMesh, "a TetMesh", read_instead(mesh))
        for one in material.values() if isinstance(material, Mapping) else (material,):
            check_type(one, "Body(material)", Material, "one such as StableNeoHookean()")
        by_region = {int(r): material for r in np.unique(mesh.regions)} if isinstance(material, Material) else material
        missing = sorted(set(np.unique(mesh.regions).tolist()) - set(by_region))
        if missing:
            raise MaterialError(f"region {missing[0]} of the mesh has no material: name one for it.")
        parts = []
        for one in dict.fromkeys(by_region.values()):  # regions of equal material become one part
            regions = [r for r, other in by_region.items() if other == one]
            ids = np.flatnonzero(np.isin(mesh.regions, regions))
            if len(ids):
                parts.append(Elements.build(mesh.vertices, mesh.tets, one, ids))
        mass = _lump(parts, len(mesh.vertices))
        if not mass.all():
            lone = np.flatnonzero(mass == 0.0)
            found = f"{len(lone):,} of its vertices (first {lone[0]})"
            raise MeshError(f"Body(mesh): {found} {'is' if len(lone) == 1 else 'are'} in no tet. Use TetMesh.clean.")
        held, damped = Pins.none() if pins is None else pins, Damping() if damping is None else damping
        return cls(mesh, tuple(parts), mass, held, damped)

    def pinned(self, pins: Pins) -> "Body":
        """The same body held by other pins."""
        return replace(self, pins=pins)

    def graded(self, stiffness: FloatArray, density: FloatArray) -> "Body":
        """The same body, every tet so many times as stiff and as dense as its material, (m,) each."""
        stiffness, density = (
            as_floats(factors, f"Body.graded({name})", (len(self.mesh.tets),), above=0.0, error=MaterialError)
            for name, factors in (("stiffness", stiffness), ("density", density))
        )
        parts = tuple(part.with_density(density[part.ids]) for part in self._scaled(stiffness))
        return replace(self, parts=parts, mass=_lump(parts, len(self.mesh.vertices)))

    def grading(self) -> FloatArray:
        """How many times as stiff as its material each tet is, whatever the pose, (m,)."""
        out = np.ones(len(self.mesh.tets))
        for part in self.parts:
            out[part.ids] = part.stiffness
        return out if self.stiffening is None else out / self.stiffening.neutral

    def stiffened(self, stiffening: Stiffening) -> "Body":
        """The same body, as stiff as it is in the neutral pose, that stiffens in others."""
        if stiffening.neutral.shape != (len(self.mesh.tets),):
            raise MaterialError(
                f"stiffness of {stiffening.neutral.size:,} tets does not fit {len(self.mesh.tets):,}: give one each."
            )
        return replace(self, parts=self._scaled(stiffening.neutral), stiffening=stiffening)

    def posed(
        self, positions: FloatArray, name: str = "the posed rest shape", pose: FloatArray | None = None
    ) -> "Body":
        """The same mesh, mass, damping and pins with elements at rest at `positions` [m], (n, 3), called `name`.

        A body that stiffens must know of which `pose` they are, (p,).
        """
        positions = self._places(positions)
        rest = replace(self, parts=tuple(part.with_rest(positions, name) for part in self.parts), stiffening=None)
        if self.stiffening is None:
            return rest
        if pose is None:
            raise MaterialError(f"{name} of a body that stiffens with the pose of its rig has no pose: give one.")
        return replace(rest, parts=rest._scaled(self.stiffening.at(pose) / self.stiffening.neutral))

    def _scaled(self, factors: FloatArray) -> tuple[Elements, ...]:
        return tuple(part.with_stiffness(factors[part.ids]) for part in self.parts)

    def _places(self, x: FloatArray) -> FloatArray:
        """The positions x [m] as loops take them: those of another mesh would be read past their end."""
        if isinstance(x, np.ndarray) and x.shape == self.mesh.vertices.shape and x.dtype == np.float64:
            return x
        return as_floats(x, "Body(x)", self.mesh.vertices.shape, unit="m", finite=False)

    def energy(self, x: FloatArray) -> float:
        """Elastic energy [J] at positions x [m]."""
        return elastic_energy(self.parts, self._places(x))

    def forces(self, x: FloatArray) -> FloatArray:
        """Elastic forces on the vertices [N], shape (n, 3)."""
        return -elastic_gradient(self.parts, self._places(x))

    def jacobians(self, x: FloatArray) -> FloatArray:
        """Volume ratio J of every tet, (m,); negative where it is inverted."""
        out = np.empty(len(self.mesh.tets))
        for part in self.parts:
            out[part.ids] = volume_ratios(x, part.tets, part.inverse)
        return out

    def can_rest(self, x: FloatArray) -> bool:
        """Whether every tet keeps its volume the right way round with vertices at x [m], as a rest shape must."""
        return bool((self.jacobians(x) > FLAT).all())

    def von_mises(self, x: FloatArray) -> FloatArray:
        """Von Mises norm of the Cauchy stress in every tet [Pa], (m,)."""
        out = np.empty(len(self.mesh.tets))
        for part in self.parts:
            F = part.deformation(x)
            J = np.linalg.det(F)
            J = np.where(np.abs(J) < 1e-6, 1e-6, J)
            cauchy = part.material.stress(F) @ F.transpose(0, 2, 1) / J[:, None, None]
            deviator = cauchy - np.trace(cauchy, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
            out[part.ids] = part.stiffness * np.sqrt(1.5 * np.einsum("nij,nij->n", deviator, deviator))
        return out

    def made_of(self) -> bytes:
        """What tells the materials of one body from those of another."""
        pieces = [repr(part.material).encode() + part.ids.tobytes() for part in self.parts]
        grading = self.grading()
        return b"".join(pieces) + (grading.tobytes() if (grading != 1.0).any() else b"")

    def hash(self) -> str:
        """Fingerprint of mesh, materials, damping and pins."""
        digest = hashlib.sha256()
        for array in (self.mesh.vertices, self.mesh.tets, self.mass, self.pins.vertices, self.pins.held):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(self.made_of() + repr(self.damping).encode())
        if self.stiffening is not None:
            digest.update(self.stiffening.digest().encode())
        return digest.hexdigest()


def _lump(parts: Iterable[Elements], count: int) -> FloatArray:
    """The mass of every one of `count` vertices [kg]: a quarter of that of each tet around it."""
    mass = np.zeros(count)
    for part in parts:
        for corner in part.tets:
            mass += np.bincount(corner, part.mass / 4.0, minlength=count)
    return mass
