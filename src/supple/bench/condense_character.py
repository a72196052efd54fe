"""The characters of [TMDK15]: a mesh, bones and named poses, some to learn from and some that bring novel contact."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_flesh import AROUND, STEP, Around, learn, list_inputs, put_flesh, record_flesh
from supple.bench.condense_measure import Case
from supple.contact import ContactSettings
from supple.mesh import TetMesh
from supple.rig import Skeleton
from supple.shape import make_character, make_shape

__all__ = ["CASES", "Puppet", "Sketch", "list_poses", "make_case", "play"]

FloatArray = NDArray[np.float64]
_PACE = 6  # steps from a learned pose to the next, where flesh is learned from in motion
_SLOWED = 2.0  # [1/s] by which flesh slows down, there


class Puppet(NamedTuple):
    """What is played with."""

    mesh: TetMesh
    skeleton: Skeleton
    poses: Mapping[str, FloatArray]
    """Poses by name, (p,) each."""


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
    tets: Mapping[str, int]
    """By size, the larger one the paper's."""
    poses: int
    """Poses on the way through the named ones to learn from; a bone learns at most twice as many motions."""
    frames: int
    """To play."""
    share: float = 1.0
    """How far to the named poses it goes."""
    around: Around = "nothing"
    """Walls close in from three sides and leave again, in motion. Else frames are at rest: on a floor, or with no other
    contact than of the body with itself."""


_WALK = ("step_left", "pass_left", "step_right", "pass_right")
CASES = {
    "hand": Sketch(
        "hand", ("half_closed", "victory", "spread"), ("fist",), (0.046, 0.1),
        {"small": 3_000, "paper": 458_071}, poses=9, frames=8, share=0.95,
    ),
    "figure": Sketch(
        "figure", _WALK, ("step_left",), (0.12, 0.39),
        {"small": 2_000, "paper": 123_464}, poses=8, frames=24, around="walls",
    ),
    "walk": Sketch(
        "walker", _WALK, _WALK, (0.03, 0.08),
        {"small": 2_500, "paper": 611_348}, poses=8, frames=8, share=0.9, around="floor",
    ),
    "pat": Sketch(
        "walker", (*_WALK, "pat_off"), ("pat_off", "pat"), (0.048, 0.1),
        {"small": 3_000, "paper": 611_348}, poses=10, frames=12, share=1.1,
    ),
}  # fmt: skip


def make_case(name: str, size: str, frames: int | None = None) -> Case:
    """A built-in case at size "small" or "paper", with as many frames as it has or as are asked for."""
    sketch = CASES[name]
    character = make_character(sketch.shape)
    mesh = make_shape(sketch.shape, elements=sketch.tets[size])
    return play(sketch, Puppet(mesh, character.skeleton, character.poses), frames)


def play(sketch: Sketch, puppet: Puppet, frames: int | None = None) -> Case:
    """The case of a puppet that goes through its poses as the sketch says."""
    moves = sketch.around == "walls"
    step = STEP if moves else 1.0
    flesh = put_flesh(puppet.mesh, puppet.skeleton, _SLOWED if moves else 0.0)

    poses = list_poses(puppet, sketch.learned, _PACE * sketch.poses if moves else sketch.poses)
    model = learn(flesh, *record_flesh(flesh, poses, step if moves else None), rank=2 * sketch.poses)
    played = list_poses(puppet, sketch.played, frames or sketch.frames, sketch.share)
    inputs = list_inputs(flesh, played, step, sketch.around)
    contact = ContactSettings(friction=0.0, self_contact=sketch.around == "nothing")
    integrator = "implicit_euler" if moves else "static"
    return Case(flesh.body, model, inputs, integrator, AROUND[sketch.around], contact, flesh.rig)


def list_poses(puppet: Puppet, names: Sequence[str], steps: int, share: float = 1.0) -> FloatArray:
    """Poses on the way from rest through a share of the named ones to the last of them, (steps + 1, p)."""
    keys = np.array([puppet.skeleton.neutral, *(share * puppet.poses[name] for name in names)])
    at = np.linspace(0.0, len(keys) - 1.0, steps + 1)
    low = np.minimum(at.astype(int), len(keys) - 2)
    past = (at - low)[:, None]
    return np.asarray((1.0 - past) * keys[low] + past * keys[low + 1])
