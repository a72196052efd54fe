"""Cheb, whose head three walls crush in [TMDK15], from Pinocchio's files: mesh, joints and a walk to learn from."""

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_character import FLESH, STEP, TOLERANCE, WALLS, place_around, record_flesh
from supple.bench.condense_measure import Case
from supple.contact import ContactSettings
from supple.elastic import Body, Damping
from supple.errors import SuppleWarning
from supple.io import load_surface
from supple.io.bone_file import load_bones
from supple.io.pose_list import load_pinocchio_motion
from supple.mesh import tetrahedralise
from supple.method import train_articulated
from supple.rig import Skeleton, SkinnedRig, find_bone_crossings, heat_weights, hold_bones, retarget
from supple.solve import Inputs, Moment

__all__ = ["make_cheb"]

FloatArray = NDArray[np.float64]
_SIZES = {"small": (15_000, 12, 96), "paper": (123_464, 38, 120)}
"""Tets, samples of a walk cycle to learn from, and frames."""
_CYCLE = 2.0, 3.1  # [s] in the file, one left and one right step
_BENT = 0.4  # of the angles of the walk: limbs are short and thick, and would pass into the body
_SLOWED = 6.0  # [1/s] by which flesh slows down, so that a second is enough to settle in
_PACE = 3  # steps from one sample to the next
_CRUSHED = 3.0  # the walls have come and gone in the first third of the run; then the head settles


def make_cheb(folder: Path, size: str, frames: int | None = None) -> Case:
    """A head between walls that come and go, on a body that stands, at size "small" or "paper"."""
    elements, samples, usual = _SIZES[size]
    mesh = tetrahedralise(load_surface(folder / "cheburashka.off"), elements=elements)
    bones = load_bones(folder / "cheb_skeleton.out")
    skeleton = Skeleton.of(bones.names, bones.parents, bones.heads, bones.tails)
    rig = SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, skeleton))
    body = Body.build(mesh, FLESH, held.pins, Damping(mass=_SLOWED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what training misses shows in the errors
        poses, shapes = record_flesh(body, rig, held, _walk(folder, skeleton, _PACE * samples), STEP)
        model = train_articulated(
            body, rig, poses[::_PACE], shapes[::_PACE], np.random.default_rng(0), rank=samples, tolerance=TOLERANCE
        )
    count, pose = frames or usual, rig.neutral
    moments = [
        Moment(k * STEP, held.targets(pose), (),
               place_around("walls", mesh.vertices, min(_CRUSHED * k / count, 1.0)), pose)
        for k in range(count + 1)
    ]  # fmt: skip
    inputs = [Inputs(begin, end) for begin, end in pairwise(moments)]
    contact = ContactSettings(friction=0.0, self_contact=False)
    return Case(body, model, inputs, "implicit_euler", WALLS, contact, rig)


def _walk(folder: Path, skeleton: Skeleton, steps: int) -> FloatArray:
    """Poses of a walk cycle on the spot, from rest on, (steps + 1, p)."""
    source, motion = load_pinocchio_motion(folder / "pinocchio_motion_walk.txt")
    poses = retarget(motion, source, skeleton).motion.sampled(np.linspace(*_CYCLE, steps + 1))
    poses[:, :6] = 0.0
    poses[:, 6:] *= _BENT * np.minimum(np.arange(steps + 1) / _PACE, 1.0)[:, None]
    return np.asarray(poses)
