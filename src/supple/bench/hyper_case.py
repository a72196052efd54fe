"""Bodies and motions of the hyper-reduced benchmarks, in the proportions of the authors' demo.

There a body of stiffness 5.1e-4, mass 2 and height 2.93 falls at 1e-4 in steps of 16 units of time. What does not
depend on units is kept: 2μ = 0.87 ρ g L and a step of 0.0935 √(L/g) for a body whose longest side is L, here 1 m.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody, Shell
from supple.contact.collider import Collider
from supple.contact.plane import Plane
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.io.load import load_mesh
from supple.material import Corotational
from supple.mesh import TetMesh, tetrahedralise
from supple.method import Report, Solver
from supple.shape import make_shape
from supple.solve import Event, Gravity, Inputs, Moment, Placement

__all__ = ["STEP", "Case", "make_body", "make_drop", "make_mesh", "make_twist", "refine"]

FloatArray = NDArray[np.float64]
STEP = 0.03  # s
_YOUNG, _DENSITY = 8.5e3, 1000.0  # Pa, kg/m³; without Poisson's ratio, as in the demo
_HEIGHT = 1.2  # m that it falls
_TWIST = 2.34  # radians over its height
_GRAVITY = (Gravity(np.array([0.0, -9.81, 0.0])),)


@dataclass(frozen=True, eq=False)
class Case:
    """A body, where it starts, and what it meets."""

    name: str
    body: ProjectiveBody
    start: FloatArray
    """[m], (n, 3)"""
    frames: int
    step: float = STEP
    """[s]"""
    gravity: bool = True
    colliders: tuple[Collider, ...] = ()
    places: tuple[Placement, ...] = ()
    events: tuple[Event, ...] = ()
    """Of the first step."""
    folds: bool = False
    """Whether it touches itself."""

    @property
    def contact(self) -> ContactSettings | None:
        """Friction as in the demo."""
        return ContactSettings(friction=0.5, self_contact=self.folds) if self.colliders else None

    def inputs(self, k: int) -> Inputs:
        """Of step k."""
        targets = self.body.vertices[self.body.pins.vertices]
        begin, end = (
            Moment(time * self.step, targets, _GRAVITY if self.gravity else (), self.places) for time in (k, k + 1)
        )
        return Inputs(begin, end, self.events if k == 0 else ())

    def play(self, solver: Solver[Any], frames: int | None = None) -> Iterator[tuple[Any, Report]]:
        """States and reports of the steps, from rest at the start."""
        still = np.zeros_like(self.start)
        state = solver.from_full(self.start, still, still)
        for k in range(self.frames if frames is None else frames):
            state, report = solver.step(state, self.inputs(k))
            yield state, report


def make_mesh(path: Path | None, shape: str, tets: int) -> TetMesh:
    """The mesh of a file, a surface filled, or a built-in shape; its longest side 1 m."""
    if path is None:
        mesh = make_shape(shape, elements=tets)
    else:
        found = load_mesh(path)
        mesh = found if isinstance(found, TetMesh) else tetrahedralise(found, elements=tets)
    low, high = mesh.bounds()
    return TetMesh.clean((mesh.vertices - 0.5 * (low + high)) / (high - low).max(), mesh.tets)


def refine(mesh: TetMesh, shape: str | None, tets: int) -> TetMesh:
    """The same body filled with another number of tets: anew from its shape, or from its surface."""
    return make_mesh(None, shape, tets) if shape else tetrahedralise(mesh.surface(), elements=tets)


def make_body(mesh: TetMesh, stiffness: float = 1.0, skin: Shell | None = None) -> ProjectiveBody:
    """A solid as soft as the demo's, or stiffer by a factor."""
    material = Corotational(young=stiffness * _YOUNG, poisson=0.0, density=_DENSITY)
    return ProjectiveBody.from_body(Body.build(mesh, material), skin)


def make_drop(mesh: TetMesh, stiffness: float, frames: int) -> Case:
    """A body that falls onto a floor."""
    body = make_body(mesh, stiffness)
    start = mesh.vertices + [0.0, _HEIGHT - mesh.vertices[:, 1].min(), 0.0]
    return Case(f"drop x{stiffness:g}", body, start, frames, colliders=(Plane(),), places=(Placement.still(),))


def make_twist(mesh: TetMesh, stiffness: float = 10.0, frames: int = 40) -> Case:
    """A body twisted about its height and let go, without gravity."""
    x = mesh.vertices
    angle = _TWIST * (x[:, 1] - x[:, 1].mean()) / np.ptp(x[:, 1])
    c, s = np.cos(angle), np.sin(angle)
    start = np.stack([c * x[:, 0] + s * x[:, 2], x[:, 1], c * x[:, 2] - s * x[:, 0]], axis=1)
    return Case("twist", make_body(mesh, stiffness), start, frames, gravity=False)
