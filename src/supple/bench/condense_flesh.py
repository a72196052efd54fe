"""Flesh on bones as the characters of [TMDK15] have it: what it learns from poses, and what happens to it in a run."""

import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.plane import Plane
from supple.elastic import Body, Damping
from supple.errors import SuppleWarning
from supple.material import Corotational
from supple.mesh import TetMesh
from supple.method import ArticulatedModel, FullSolver, train_articulated
from supple.rig import Held, Skeleton, SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.solve import Gravity, Inputs, Moment, Placement

__all__ = ["AROUND", "STEP", "Around", "Flesh", "learn", "list_inputs", "put_flesh", "record_flesh"]

FloatArray = NDArray[np.float64]
Around = Literal["nothing", "floor", "walls"]
MATERIAL = Corotational(young=2e4, poisson=0.3)
STEP = 1.0 / 60.0  # [s] of what moves
_TOLERANCE = 0.01  # of the rules
_SHOVE = 20.0  # [m/s²] by which flesh is learned from at rest
_INTO = {"floor": 0.02, "walls": 0.06}  # sizes of the body that these go into it
AROUND = {
    "nothing": (),
    "floor": (Plane((0.0, 1.0, 0.0)),),
    "walls": (Plane((1.0, 0.0, 0.0)), Plane((-1.0, 0.0, 0.0)), Plane((0.0, -1.0, 0.0))),
}


class Flesh(NamedTuple):
    """A body that bones hold where they run through it."""

    body: Body
    rig: SkinnedRig
    held: Held


def put_flesh(mesh: TetMesh, skeleton: Skeleton, slowed: float = 0.0) -> Flesh:
    """Flesh around a skeleton; `slowed` [1/s] is by how much it slows down in motion."""
    rig = SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, skeleton))
    return Flesh(Body.build(mesh, MATERIAL, held.pins, Damping(mass=slowed)), rig, held)


def record_flesh(flesh: Flesh, poses: FloatArray, step: float | None) -> tuple[FloatArray, FloatArray]:
    """Poses (k, p) and shapes without contact in them [m], (k, n, 3): as flesh lags behind bones that take a `step` [s]
    from pose to pose; or equilibria in all but the first, each also shoved to a side, now this, now that, for flesh
    that is touched somewhere has to give way elsewhere."""
    solver = FullSolver(flesh.body, rig=flesh.rig, integrator="static" if step is None else "implicit_euler")
    still = Gravity(np.zeros(3))
    moments = [Moment(k * (step or 1.0), flesh.held.targets(pose), (still,), pose=pose) for k, pose in enumerate(poses)]
    state, known, shapes = solver.start(Inputs(moments[0], moments[1])), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what does not settle shows in the errors
        for number, (begin, end) in enumerate(pairwise(moments)):
            state, _ = solver.step(state, Inputs(begin, end))
            found = [state]
            if step is None:
                shove = np.eye(3)[number % 3] * (_SHOVE if number % 2 else -_SHOVE)
                found.append(
                    solver.step(state, Inputs(end, replace(end, time=end.time + 1.0, forces=(Gravity(shove),))))[0]
                )
            known += [poses[number + 1]] * len(found)
            shapes += [one.x for one in found]
    return np.array(known), np.array(shapes)


def learn(flesh: Flesh, poses: FloatArray, shapes: FloatArray, rank: int) -> ArticulatedModel:
    """A subspace for every bone, of at most so many motions, that knows the shapes [m], (k, n, 3), of poses (k, p)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what training misses shows in the errors
        return train_articulated(
            flesh.body, flesh.rig, poses, shapes, np.random.default_rng(0), rank=rank, tolerance=_TOLERANCE
        )


def list_inputs(flesh: Flesh, poses: FloatArray, step: float, around: Around, hurry: float = 1.0) -> list[Inputs]:
    """Bones that take a `step` [s] from pose to pose, (k, p), among colliders that are done in 1/`hurry` of the run."""
    frames = len(poses) - 1
    moments = [
        Moment(
            k * step,
            flesh.held.targets(pose),
            (),
            _place(around, flesh.rig.rest, min(hurry * k / frames, 1.0)),
            pose,
        )
        for k, pose in enumerate(poses)
    ]
    return [Inputs(begin, end) for begin, end in pairwise(moments)]


def _place(around: Around, rest: FloatArray, time: float) -> tuple[Placement, ...]:
    """Where colliders are at a share of the run: a floor below; walls to the left, to the right and above, which come
    for a third of it, stay for another, and go."""
    if around == "nothing":
        return ()
    low, high = rest.min(axis=0), rest.max(axis=0)
    size, into = float((high - low).max()), _INTO[around]
    if around == "floor":
        return (Placement(np.eye(3), np.array([0.0, low[1] + into * size, 0.0])),)
    come = min(3.0 * time, 3.0 - 3.0 * time, 1.0)
    away = (0.05 - (0.05 + into) * come) * size
    places = [low[0] - away, 0.0, 0.0], [high[0] + away, 0.0, 0.0], [0.0, high[1] + away, 0.0]
    return tuple(Placement(np.eye(3), np.array(place)) for place in places)
