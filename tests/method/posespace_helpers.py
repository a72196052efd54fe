"""Characters in pose space that several tests share, with subspaces and rules made by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from helpers import DOWN

from supple.cubature.pose_rules import PoseRules
from supple.elastic import Body, Damping, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method.full.solver import FullSolver
from supple.method.posespace.model import PoseSpaceModel, assemble
from supple.method.posespace.solver import PoseSpaceSolver
from supple.rig import Bend, Held, Influences, Rig, Skeleton, SkinnedRig
from supple.rig.root import Root
from supple.solve import Event, Force, Inputs, Moment
from supple.subspace import linear_modes, modal_basis
from supple.subspace.pose_bases import PoseBases


def pose_bases(body: Body, rig: Rig, poses: Sequence[np.ndarray], modes: int, rank: int) -> PoseBases:
    """Modes and derivatives at every pose, each turned to the one before it: world Procrustes, Eq. (12) of [XB16]."""
    root, metric = Root.of(rig), np.repeat(body.mass, 3)[:, None]
    rest = np.array([rig.positions(root.still(pose)) for pose in poses])
    columns: list[np.ndarray] = []
    for shape in rest:
        posed = body.posed(shape)
        posed_modes = linear_modes(posed, modes, x=shape)
        basis = posed_modes if modes == rank else modal_basis(posed, posed_modes, rank, x=shape)
        U = basis.columns
        if columns:
            Y, _, Zt = np.linalg.svd(U.T @ (metric * columns[-1]))
            U = U @ (Y @ Zt)
        columns.append(U)
    tree = np.maximum(np.arange(len(poses)) - 1, 0)
    return PoseBases(np.array(poses), rest, np.array(columns), "world", body.mass, tree)


def whole_rules(body: Body, poses: int) -> PoseRules:
    """Every element and every vertex, counted once."""
    tets, vertices = len(body.mesh.tets), len(body.mass)
    return PoseRules(np.arange(tets), np.ones((poses, tets)), np.arange(vertices), np.ones((poses, vertices)))


@cache
def bend_beam(
    resolution: int = 16, young: float = 1e7, damping: tuple[float, float] = (0.5, 0.0)
) -> tuple[Body, Bend, Held]:
    """A beam of 1 m that is held at one end and bent in its middle by one angle."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.12, 0.16), resolution)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=young, poisson=0.4, density=1e3), pins, Damping(*damping))
    middle = np.array([0.0, 0.06, 0.08])
    rig = Bend(mesh.vertices, middle + [0.2, 0, 0], middle + [0.8, 0, 0], (0.0, 0.0, 1.0))
    return body, rig, Held(rig, pins)


def beam_model(body: Body, rig: Rig, angle: float, poses: int, modes: int = 8, rank: int = 24) -> PoseSpaceModel:
    """Poses from -angle to angle [rad], from end to end."""
    angles = np.linspace(-angle, angle, poses)
    bases = pose_bases(body, rig, [np.array([a]) for a in angles], modes, rank)
    return assemble(body, rig, bases, whole_rules(body, poses))


def rooted_beam(resolution: int = 6, damping: Damping | None = None) -> tuple[Body, SkinnedRig, Held]:
    """A beam on two bones, of which the first turns all of it; its low end is held."""
    body = replace(bend_beam(resolution)[0], damping=damping or Damping(0.5))
    heads = np.array([[0.0, 0.06, 0.08], [0.4, 0.06, 0.08]])
    tails = np.array([[0.4, 0.06, 0.08], [1.0, 0.06, 0.08]])
    skeleton = Skeleton.of(("first", "second"), np.array([-1, 0]), heads, tails)
    share = np.clip((body.mesh.vertices[:, 0] - 0.3) / 0.2, 0.0, 1.0)
    influences = Influences.from_dense(np.column_stack([1.0 - share, share]))
    rig = SkinnedRig(skeleton, influences, body.mesh.vertices)
    return body, rig, Held(rig, body.pins)


def drive(
    solver,
    held: Held,
    pose: Callable[[float], np.ndarray],
    h: float,
    steps: int,
    *forces: Force,
    events: dict[int, tuple[Event, ...]] | None = None,
    state=None,
) -> list:
    """States of a run along poses by time [s]."""

    def moment(time: float) -> Moment:
        return Moment(time, held.targets(pose(time)), forces or (DOWN,), pose=pose(time))

    first = 0 if state is None else round(state.time / h)
    states = [solver.start(Inputs(moment(0.0), moment(h))) if state is None else state]
    for k in range(first, first + steps):
        given = Inputs(moment(h * k), moment(h * (k + 1)), (events or {}).get(k, ()))
        states.append(solver.step(states[-1], given)[0])
    return states


def far_apart(solver: PoseSpaceSolver, states, reference) -> float:
    """Error of displacements beside the rig, relative to their own size, over a run."""
    wrong = size = 0.0
    for state, full in zip(states, reference, strict=True):
        x, rest = solver.positions(state), solver.rig.positions(state.poses[0])
        wrong += float(solver.body.mass @ ((x - full.x) ** 2).sum(axis=1))
        size += float(solver.body.mass @ ((full.x - rest) ** 2).sum(axis=1))
    return float(np.sqrt(wrong / size))


def both(body, rig, held, model, pose, h, steps, *forces, stiffnesses: int = 4, **options):
    solver = PoseSpaceSolver(body, rig, model, tolerance=1e-7, max_stiffnesses=stiffnesses)
    full = FullSolver(body, rig=rig, rest="posed", tolerance=1e-8)
    return far_apart(solver, *(drive(one, held, pose, h, steps, *forces, **options) for one in (solver, full)))


__all__ = [
    "PoseSpaceSolver",
    "beam_model",
    "bend_beam",
    "both",
    "drive",
    "far_apart",
    "pose_bases",
    "rooted_beam",
    "whole_rules",
]
