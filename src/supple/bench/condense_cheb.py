"""Cheb, whose head three walls crush in [TMDK15], from Pinocchio's files: mesh, joints and a walk to learn from."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_flesh import AROUND, STEP, learn, list_inputs, put_flesh, record_flesh
from supple.bench.condense_measure import Case
from supple.contact import ContactSettings
from supple.io import load_surface
from supple.io.bone_file import load_bones
from supple.io.pose_list import load_pinocchio_motion
from supple.mesh import tetrahedralise
from supple.rig import Skeleton, retarget

__all__ = ["make_cheb"]

FloatArray = NDArray[np.float64]
_SIZES = {"small": (15_000, 12, 12, 96), "paper": (123_464, 38, 18, 120)}
"""Tets, samples of a walk cycle to learn from, motions that a bone learns from them at most, and frames. The paper has
38 samples, too, and 301 motions of all bones together; these are 275."""
_CYCLE = 2.0, 3.1  # [s] in the file, one left and one right step
_BENT = 0.4  # of the angles of the walk: limbs are short and thick, and would pass into the body
_SLOWED = 6.0  # [1/s] by which flesh slows down, so that a second is enough to settle in
_PACE = 3  # steps from one sample to the next
_HURRY = 3.0  # the walls have come and gone in the first third of the run; then the head settles


def make_cheb(folder: Path, size: str, frames: int | None = None) -> Case:
    """A head between walls that come and go, on a body that stands, at size "small" or "paper"."""
    elements, samples, rank, usual = _SIZES[size]
    mesh = tetrahedralise(load_surface(folder / "cheburashka.off"), elements=elements)
    bones = load_bones(folder / "cheb_skeleton.out")
    skeleton = Skeleton.of(bones.names, bones.parents, bones.heads, bones.tails)
    flesh = put_flesh(mesh, skeleton, _SLOWED)
    poses, shapes = record_flesh(flesh, _walk(folder, skeleton, _PACE * samples), STEP)
    model = learn(flesh, poses[::_PACE], shapes[::_PACE], rank=rank)
    stands = np.tile(flesh.rig.neutral, ((frames or usual) + 1, 1))
    inputs = list_inputs(flesh, stands, STEP, "walls", _HURRY)
    contact = ContactSettings(friction=0.0, self_contact=False)
    return Case(flesh.body, model, inputs, "implicit_euler", AROUND["walls"], contact, flesh.rig)


def _walk(folder: Path, skeleton: Skeleton, steps: int) -> FloatArray:
    """Poses of a walk cycle on the spot, from rest on, (steps + 1, p)."""
    source, motion = load_pinocchio_motion(folder / "pinocchio_motion_walk.txt")
    poses = retarget(motion, source, skeleton).motion.sampled(np.linspace(*_CYCLE, steps + 1))
    poses[:, :6] = 0.0
    poses[:, 6:] *= _BENT * np.minimum(np.arange(steps + 1) / _PACE, 1.0)[:, None]
    return np.asarray(poses)
