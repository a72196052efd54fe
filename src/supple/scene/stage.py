"""A scene as objects: the stage that every method plays on, and the stage with its solver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.material import Material
from supple.mesh import MeshQuality, Sheet, TetMesh, TriMesh, assess_quality
from supple.method import Solver, TrainedModel
from supple.scene.contact import describe_contact, describe_holding
from supple.scene.drive import Drive
from supple.scene.marks import Marks
from supple.scene.material import describe_material
from supple.scene.paint import describe_grading, grade_tets
from supple.scene.pose_stiffness import describe_stiffness
from supple.scene.schema import Scene
from supple.scene.source import Source
from supple.scene.units import UNITS_RULE

__all__ = ["Built", "Stage"]

PLANE_EXTENT = 4.0  #: body sizes to which an endless collider is drawn


@dataclass(frozen=True)
class Stage:
    """A scene and everything made from it but its solver; all in SI units."""

    scene: Scene
    source: Source
    materials: Mapping[str, Material]
    body: Body
    drive: Drive
    velocity: NDArray[np.float64]
    """Velocity [m/s] of every vertex at the start, shape (n, 3)."""
    contact: ContactSettings | None
    """How things touch; None where nothing does."""
    tied: ProjectiveBody | None
    """The body as constraints, for methods that project them."""
    marks: Marks
    """What selections may name."""
    members: Mapping[str, Stage] = field(default_factory=dict, kw_only=True)
    """Of several bodies, each as it would be alone; empty where there is one."""

    @property
    def mesh(self) -> TetMesh:
        """The tetrahedra, or the sheet, that are simulated."""
        return self.body.mesh

    def spans(self) -> dict[str, slice]:
        """Of several bodies the vertices of each, among those of all."""
        ends = np.cumsum([0, *(len(one.mesh.vertices) for one in self.members.values())]).tolist()
        return {name: slice(*pair) for name, pair in zip(self.members, pairwise(ends), strict=True)}

    def collider_surfaces(self) -> dict[str, TriMesh]:
        """Surfaces [m] of the colliders by name, before they are placed; a plane is cut to a few body sizes."""
        extent = PLANE_EXTENT * self.mesh.size()
        return {
            _plain_name(number, obstacle.table.name): obstacle.solid.surface(extent)
            for number, obstacle in enumerate(self.drive.obstacles)
        }

    def contact_key(self) -> str:
        """The settings of contact as text, for fingerprints; empty where nothing touches."""
        table = self.scene.touching()
        return "" if table is None else table.model_dump_json()

    @cached_property
    def quality(self) -> MeshQuality:
        """How well shaped the tetrahedra are."""
        return assess_quality(self.mesh)

    def describe(self) -> list[str]:
        """What will run, line by line: mesh, materials, contact, time, units."""
        scene, time = self.scene, self.scene.time
        bodies = [f"{name}: {line}" for name, one in self.members.items() for line in one._describe_body()]
        return [
            *(bodies or self._describe_body()),
            f"time: {time.frames} x {1e3 / time.fps:.4g} ms ({time.fps:g} frames per second), "
            f"steps of {1e3 * time.step:.4g} ms" + (f", {time.preroll} frames of pre-roll" if time.preroll else ""),
            f'units: "{scene.units}" ({scene.metres:g} m), {scene.up_axis} up. {UNITS_RULE}',
        ]

    def summary(self) -> list[str]:
        """What will run in two lines: the body, or the bodies, with materials; time and units."""
        scene, time = self.scene, self.scene.time
        bodies = [f"{name}: {_count_cells(one.mesh)}" for name, one in self.members.items()]
        materials = ", ".join(describe_material(material) for material in dict.fromkeys(self.materials.values()))
        colliders = len(self.drive.obstacles)
        return [
            (f"{len(bodies)} bodies: {', '.join(bodies)}" if bodies else f"{self._describe_size()}; {materials}")
            + (f"; {colliders} collider{'s' * (colliders > 1)}" if colliders else ""),
            f"time: {time.frames} frames of {1e3 / time.fps:.4g} ms ({time.fps:g} fps), "
            f"steps of {1e3 * time.step:.4g} ms; units: {scene.units}, {scene.up_axis} up",
        ]

    def _describe_body(self) -> list[str]:
        """Mesh, materials and contact."""
        scene, drive, contact = self.scene, self.drive, self.contact
        return [
            *self.source.notes,
            self._describe_size(),
            *(f"{name}: {describe_material(material)}" for name, material in self.materials.items()),
            *([describe_grading(*grade_tets(painted, self.marks))] if (painted := scene.material.painted) else []),
            *([] if drive.rigging is None else drive.rigging.describe()),
            *([] if self.body.stiffening is None else [describe_stiffness(self.body.stiffening)]),
            *([] if contact is None else [self._describe_contact(contact)]),
        ]

    def _describe_size(self) -> str:
        """How many cells and vertices there are, how large and how heavy the body is."""
        extents = " x ".join(f"{extent:.3g}" for extent in np.subtract(*reversed(self.mesh.bounds())))
        return (
            f"body: {_count_cells(self.mesh)}, {len(self.mesh.vertices)} vertices "
            f"({len(self.body.pins.vertices)} pinned), {extents} m, {self.body.mass.sum():.3g} kg"
        )

    def _describe_contact(self, contact: ContactSettings) -> str:
        drive = self.drive
        if self.tied is not None:
            return describe_holding(contact, len(drive.obstacles), "at sampled vertices")
        if self.scene.method.name == "posespace":
            return describe_holding(contact, len(drive.obstacles), "as far as the subspace can")
        return describe_contact(contact, self.body, drive.gravity, len(drive.obstacles))


@dataclass(frozen=True)
class Built(Stage):
    """A scene ready to run."""

    solver: Solver[Any]
    model: TrainedModel | None = None
    """What the solver was trained to be, for a method that is trained."""
    said: tuple[str, ...] = ()
    """What preparing the solver found out."""

    def describe(self) -> list[str]:
        """What will run, line by line: mesh, materials, time, units, solver."""
        return [*super().describe(), *self.said, *self.solver.describe()]


def _count_cells(mesh: TetMesh) -> str:
    return f"a shell of {len(mesh.triangles)} triangles" if isinstance(mesh, Sheet) else f"{len(mesh.tets)} tetrahedra"


def _plain_name(number: int, name: str | None) -> str:
    """A name that every format takes, no other collider's."""
    plain = re.sub(r"\W", "_", name or "collider", flags=re.ASCII)
    return f"{plain}_{number}"
