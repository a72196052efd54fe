"""The Yeti, a real character for the walk and the pat of [TMDK15], from Yeti.gltf and Yeti.bin."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_character import CASES, Puppet, play
from supple.bench.condense_measure import Case
from supple.errors import FileFormatError
from supple.io.character import Character
from supple.io.load_character import load_character
from supple.mesh import tetrahedralise
from supple.rig import Skeleton
from supple.rig.inverse_kinematics import Chain
from supple.scene.figure import choose_body, make_figure

__all__ = ["load_yeti", "make_yeti"]

FloatArray = NDArray[np.float64]
Turns = Mapping[str, tuple[float, float, float]]
_TETS = {"small": 17_000, "paper": 611_348}
_SHARE = {"walk": 0.9, "pat": 1.0}  # how far to the named poses it goes
_METRES = 1.0 / 16.0  # of the file's unit: 2.3 m tall, as the built-in walker
_PREFIX = "Yeti_"  # of its joints
_SHORT = 0.1  # [units of the file] bones shorter than this are ends of others, or eyes and ears
_ARM = "LeftArm", "LeftWrist"  # what pats
_SHOULDER = (-25, -20, 5), (10, 10, 40)  # [degrees] lowest and highest that it turns: the elbow keeps off the body
_OFF, _ON = (9.0, 14.0, 9.5), (7.0, 14.0, 9.0)  # [units of the file] the hand beside the belly, and pressed on it

#: Degrees about x, y and z by which joints turn.
_STEP: Turns = {
    "Hips": (0, 5, 2), "Spine2": (2, -4, 0), "Spine4": (0, -4, 0), "TailBase": (0, 9, 0), "TailMid": (0, 9, 0),
    "LeftLeg": (-20, 0, 0), "LeftKnee": (10, 0, 0), "LeftAnkle": (-5, 0, 0), "LeftArm": (14, 0, 0),
    "RightLeg": (16, 0, 0), "RightKnee": (10, 0, 0), "RightAnkle": (8, 0, 0), "RightArm": (-16, 0, 0),
    "RightForearm": (-12, 0, 0),
}  # fmt: skip
_PASS: Turns = {
    "Spine2": (2, 0, 0), "LeftLeg": (2, 0, 0), "RightLeg": (-18, 0, 0), "RightKnee": (36, 0, 0),
    "LeftArm": (0, 0, 6), "RightArm": (0, 0, -6), "TailBase": (-4, 0, 0),
}  # fmt: skip


def make_yeti(name: str, folder: Path, size: str, frames: int | None = None) -> Case:
    """The walk or the pat of the Yeti in a folder, at size "small" or "paper"."""
    return play(CASES[name]._replace(share=_SHARE[name]), load_yeti(folder, _TETS[size]), frames)


def load_yeti(folder: Path, elements: int) -> Puppet:
    """The Yeti's body in about so many tets on its 52 bones with length, and its poses of a walk and a pat."""
    file = folder / "Yeti.gltf"
    character = load_character(file, _METRES)
    skeleton = _keep_bones(character)
    mesh = tetrahedralise(make_figure(file, choose_body(character), _METRES).body, elements=elements)
    off, on = _reach_belly(skeleton)
    turns = {"step_left": _STEP, "pass_left": _PASS, "step_right": _mirror(_STEP), "pass_right": _mirror(_PASS)}
    poses = {name: _turn(skeleton, one) for name, one in turns.items()}
    return Puppet(mesh, skeleton, {**poses, "pat_off": off, "pat": on})


def _keep_bones(character: Character) -> Skeleton:
    """The skeleton without bones that are points; their flesh goes with what they end."""
    whole = character.skeleton
    names = () if whole is None else whole.names
    lacking = [_PREFIX + joint for joint in (*_STEP, *_ARM) if _PREFIX + joint not in names]
    if whole is None or lacking:
        raise FileFormatError(f"{character.file} has no joint '{lacking[0]}'; give the folder of the Yeti that has.")
    kept = np.flatnonzero(np.linalg.norm(whole.tails - whole.heads, axis=1) > _SHORT * _METRES)
    place = {-1: -1, **{int(old): new for new, old in enumerate(kept)}}
    parents = [place[int(whole.parents[k])] for k in kept]
    return Skeleton.of([names[k] for k in kept], parents, whole.heads[kept], whole.tails[kept])


def _turn(skeleton: Skeleton, turns: Turns) -> FloatArray:
    pose = skeleton.neutral
    for name, angles in turns.items():
        number = skeleton.number(_PREFIX + name)
        pose[3 + 3 * number : 6 + 3 * number] = np.radians(angles)
    return pose


def _mirror(turns: Turns) -> Turns:
    """Left and right exchanged."""
    return {
        name.replace("Left", "Right") if "Left" in name else name.replace("Right", "Left"): (x, -y, -z)
        for name, (x, y, z) in turns.items()
    }


def _reach_belly(skeleton: Skeleton) -> tuple[FloatArray, FloatArray]:
    """Poses with a hand beside the belly and on it."""
    first, last = (_PREFIX + joint for joint in _ARM)
    hand = Chain(skeleton, first, last, {first: np.radians(_SHOULDER)})
    off = hand.reach(_METRES * np.array(_OFF)).pose
    return off, hand.reach(_METRES * np.array(_ON), off).pose
