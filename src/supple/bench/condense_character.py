"""The characters of [TMDK15]: flesh on bones, poses to learn from, and novel contact as they move."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_measure import Case
from supple.contact import ContactSettings
from supple.contact.plane import Plane
from supple.elastic import Body, Damping
from supple.errors import SuppleWarning
from supple.material import Corotational
from supple.method import FullSolver, train_articulated
from supple.rig import Held, SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import make_character, make_shape
from supple.solve import Gravity, Inputs, Moment, Placement

__all__ = ["CASES", "FLESH", "STEP", "TOLERANCE", "WALLS", "Sketch", "make_case", "place_around", "record_flesh"]

FloatArray = NDArray[np.float64]
FLESH = Corotational(young=2e4, poisson=0.3)
TOLERANCE, STEP = 0.01, 1.0 / 60.0
_SHOVE = 20.0  # [m/s²] by which flesh is learned from at rest
_PACE = 6  # steps from a learned pose to the next, where flesh is learned from in motion
_INTO = {"floor": 0.02, "walls": 0.06}  # sizes of the body that these go into it
WALLS = Plane((1.0, 0.0, 0.0)), Plane((-1.0, 0.0, 0.0)), Plane((0.0, -1.0, 0.0))
_AROUND = {"nothing": (), "floor": (Plane((0.0, 1.0, 0.0)),), "walls": WALLS}


class Sketch(NamedTuple):
    """What a case is made of."""

    shape: str
    learned: Sequence[str]
    """Named poses that the subspaces of its bones come from, gone through from rest on without contact, in motion where
    the run is in motion."""
    played: Sequence[str]
    """Named poses of the run."""
    radii: Sequence[float]
    """The paper's, and a larger one where edges of small meshes are as long as it."""
    sizes: dict[str, tuple[int, int, int, int]]
    """Tets, poses to learn from, rank at most of what all of them learn together, and frames to play."""
    share: float = 1.0
    """How far to them."""
    around: Literal["nothing", "floor", "walls"] = "nothing"
    """Walls close in from three sides and leave again, in motion. Else frames are at rest: on a floor, or with no other
    contact than of the body with itself."""


_WALK = ("step_left", "pass_left", "step_right", "pass_right")
CASES = {
    "hand": Sketch(
        "hand", ("half_closed", "victory", "spread"), ("fist",), (0.046, 0.1),
        {"small": (3_000, 9, 18, 8), "paper": (458_071, 53, 156, 40)}, share=0.95,
    ),
    "figure": Sketch(
        "figure", _WALK, ("step_left",), (0.12, 0.39),
        {"small": (2_000, 8, 16, 24), "paper": (123_464, 38, 301, 120)}, around="walls",
    ),
    "walk": Sketch(
        "walker", _WALK, _WALK, (0.03, 0.08),
        {"small": (2_500, 8, 16, 8), "paper": (611_348, 875, 1345, 40)}, share=0.9, around="floor",
    ),
    "pat": Sketch(
        "walker", (*_WALK, "pat_off"), ("pat_off", "pat"), (0.048, 0.1),
        {"small": (3_000, 10, 20, 12), "paper": (611_348, 875, 1345, 40)}, share=1.1,
    ),
}  # fmt: skip


def make_case(name: str, size: str, frames: int | None = None) -> Case:
    """A case at size "small" or "paper", with as many frames as it has or as are asked for."""
    sketch = CASES[name]
    count, poses, rank, usual = sketch.sizes[size]
    moves, colliders, step = (
        sketch.around == "walls",
        _AROUND[sketch.around],
        STEP if sketch.around == "walls" else 1.0,
    )
    mesh, character = make_shape(sketch.shape, elements=count), make_character(sketch.shape)
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, character.skeleton))
    body = Body.build(mesh, FLESH, held.pins, Damping(mass=2.0) if moves else Damping())

    def go(keys: Sequence[str], steps: int, share: float = 1.0) -> FloatArray:
        return _go_through(np.array([rig.neutral, *(share * character.poses[key] for key in keys)]), steps)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what training misses shows in the errors
        learned = go(sketch.learned, _PACE * poses if moves else poses)
        learned, shapes = record_flesh(body, rig, held, learned, step if moves else None)
        model = train_articulated(body, rig, learned, shapes, np.random.default_rng(0), rank=rank, tolerance=TOLERANCE)
    played = go(sketch.played, frames or usual, sketch.share)
    moments = [
        Moment(
            k * step, held.targets(pose), (), place_around(sketch.around, mesh.vertices, k / (len(played) - 1)), pose
        )
        for k, pose in enumerate(played)
    ]
    inputs = [Inputs(begin, end) for begin, end in pairwise(moments)]
    contact = ContactSettings(friction=0.0, self_contact=sketch.around == "nothing")
    return Case(body, model, inputs, "implicit_euler" if moves else "static", colliders, contact, rig)


def _go_through(keys: FloatArray, steps: int) -> FloatArray:
    """Poses from the first of keys (k, p) to the last, (steps + 1, p)."""
    at = np.linspace(0.0, len(keys) - 1.0, steps + 1)
    low = np.minimum(at.astype(int), len(keys) - 2)
    share = (at - low)[:, None]
    return np.asarray((1.0 - share) * keys[low] + share * keys[low + 1])


def record_flesh(
    body: Body, rig: SkinnedRig, held: Held, poses: FloatArray, step: float | None
) -> tuple[FloatArray, FloatArray]:
    """Poses (k, p) and shapes without contact in them [m], (k, n, 3): as flesh lags behind bones that take a `step` [s]
    from pose to pose; or equilibria in all but the first, each also shoved to a side, now this, now that, for flesh
    that is touched somewhere has to give way elsewhere."""
    solver = FullSolver(body, rig=rig, integrator="static" if step is None else "implicit_euler")
    still = Gravity(np.zeros(3))
    moments = [Moment(k * (step or 1.0), held.targets(pose), (still,), pose=pose) for k, pose in enumerate(poses)]
    state, known, shapes = solver.start(Inputs(moments[0], moments[1])), [], []
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


def place_around(around: str, rest: FloatArray, time: float) -> tuple[Placement, ...]:
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
