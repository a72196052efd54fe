"""Bodies, models and runs that several tests of the reduced solver share."""

from collections.abc import Callable, Mapping

import numpy as np
from helpers import DOWN

from supple.cubature import Rule
from supple.elastic import Body, Damping, Pins
from supple.material import Material, StableNeoHookean
from supple.mesh import TetMesh
from supple.method import FullSolver
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.method.solver import Solver
from supple.shape import make_shape
from supple.solve import Event, Force, Inputs, Moment
from supple.subspace import diagonalise, linear_modes
from supple.subspace.rest_stiffness import RestStiffness

Targets = Callable[[float], np.ndarray]
FAR = 1e9  # a reach that no deformation exceeds


def end_of(mesh: TetMesh, axes: str = "xyz") -> Pins:
    """Pins at the low x side of a mesh."""
    return Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9), axes)


def ends_of(mesh: TetMesh) -> Pins:
    """Pins at both sides along x."""
    return Pins.of(np.flatnonzero(np.abs(mesh.vertices[:, 0]) > mesh.bounds()[1][0] - 1e-9))


def beam(
    pins: Callable[[TetMesh], Pins] | None = end_of,
    *,
    elements: int = 60,
    damping: Damping | None = None,
    material: Material | None = None,
) -> Body:
    """A beam of few tets about the origin, 1 m long, held at one end by default."""
    mesh = make_shape("beam", elements=elements)
    return Body.build(mesh, material or StableNeoHookean(young=2e5), pins(mesh) if pins else None, damping)


def whole_rule(body: Body) -> Rule:
    """Every element with weight 1."""
    count = len(body.mesh.tets)
    return Rule(np.arange(count), np.ones(count), 0.0)


def modal_model(body: Body, rank: int, **options) -> ReducedModel:
    """The softest modes and every element."""
    basis = diagonalise(linear_modes(body, rank), body)
    settings = {"carried": np.zeros((3 * len(body.mass), 0)), "reach": FAR, **options}
    return ReducedModel(basis, whole_rule(body), **settings)


def complete_model(body: Body, **options) -> ReducedModel:
    """Every vibration and every element: nothing is left out but the rigid motions of the frame."""
    stiffness = RestStiffness(body)
    return modal_model(body, len(stiffness.mass) - len(stiffness.map.locked) - stiffness.rigid.shape[1], **options)


def turn(axis: int, angle: float) -> np.ndarray:
    """Rotation about a coordinate axis, (3, 3)."""
    R = np.eye(3)
    a, b = (axis + 1) % 3, (axis + 2) % 3
    R[a, a] = R[b, b] = np.cos(angle)
    R[b, a] = np.sin(angle)
    R[a, b] = -R[b, a]
    return R


def spinning(body: Body, spin, speed=(0.0, 0.0, 0.0)) -> np.ndarray:
    """Velocities [m/s] of a body that turns by `spin` [1/s] about its centre of mass and travels, (n, 3)."""
    arms = body.mesh.vertices - body.mass @ body.mesh.vertices / body.mass.sum()
    return np.cross(spin, arms) + np.asarray(speed)


def run(
    solver: Solver,
    h: float,
    steps: int,
    *forces: Force,
    targets: Targets | None = None,
    velocity: np.ndarray | None = None,
    events: Mapping[int, tuple[Event, ...]] | None = None,
    begin=None,
) -> list:
    """States of a run from rest, from given velocities (n, 3) [m/s], or from a given state."""
    rest = solver.body.mesh.vertices[solver.body.pins.vertices]
    place = targets or (lambda time: rest)

    first = 0 if begin is None else round(begin.time / h)

    def inputs(k: int) -> Inputs:
        moments = (Moment(h * j, place(h * j), forces) for j in (k, k + 1))
        return Inputs(*moments, (events or {}).get(k, ()))

    state = solver.start(inputs(first)) if begin is None else begin
    if velocity is not None:
        x, _, a = solver.to_full(state)
        state = solver.from_full(x, velocity, a)
    states = [state]
    for k in range(first, first + steps):
        states.append(solver.step(states[-1], inputs(k))[0])
    return states


def compare_runs(
    body: Body, model: ReducedModel, integrator: str, h: float, steps: int, *forces: Force, tolerance=1e-9, **options
) -> tuple[float, float, float]:
    """Largest differences of positions, velocities and accelerations at the end of the same run in full space.

    Relative to the largest displacement, velocity and acceleration; where pins hold, positions only.
    """
    solvers = (
        FullSolver(body, integrator=integrator, tolerance=tolerance),
        ReducedSolver(body, model, integrator=integrator, tolerance=tolerance),
    )
    full, reduced = (solver.to_full(run(solver, h, steps, *(forces or (DOWN,)), **options)[-1]) for solver in solvers)
    loose = np.setdiff1d(np.arange(len(body.mass)), body.pins.vertices)
    found = [np.abs(full[0] - reduced[0]).max() / np.abs(full[0] - body.mesh.vertices).max()]
    for exact, approximate in zip(full[1:], reduced[1:], strict=True):
        found.append(np.abs(exact - approximate)[loose].max() / max(np.abs(exact[loose]).max(), 1e-9))
    return found[0], found[1], found[2]
