"""A big horned walker with a tail and fingers, standing on flat soles at y = 0 and facing z."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from supple.shape.bone import Bone, Vector, mirror_bones
from supple.shape.character import SHIFT, Turns
from supple.shape.distance import (
    Field,
    ellipsoid,
    mirrored,
    smooth_difference,
    smooth_union,
    sphere,
    stood,
    tube,
)
from supple.shape.sketch import Sketch, mirror_turns

__all__ = ["HEIGHT", "SKETCH", "draw"]

HEIGHT = 2.3  #: as drawn [m]

_COLLAR, _SHOULDER, _ELBOW, _WRIST = (0.10, 1.56, 0.0), (0.31, 1.55, 0.0), (0.63, 1.36, -0.02), (0.92, 1.19, 0.02)
_HIP, _KNEE, _ANKLE, _BALL, _TOE = (
    (0.17, 0.90, 0.0), (0.20, 0.51, 0.02), (0.21, 0.13, -0.03), (0.225, 0.07, 0.12), (0.23, 0.065, 0.23),
)  # fmt: skip
_TAIL: tuple[Vector, ...] = (
    (0.0, 0.92, -0.16), (0.0, 0.78, -0.40), (0.0, 0.66, -0.61), (0.0, 0.57, -0.82), (0.0, 0.53, -1.02),
    (0.0, 0.55, -1.20),
)  # fmt: skip
_TAIL_RADII = (0.15, 0.13, 0.11, 0.092, 0.075, 0.055)

#: Where fingers leave the wrist and where they point, along the forearm, towards the thumb and towards the palm; their
#: length and their radius [m].
_FINGERS = {
    "thumb": ((0.045, 0.075, 0.01), (0.55, 0.80, 0.22), 0.17, 0.042),
    "index": ((0.145, 0.085, 0.0), (1.0, 0.34, 0.05), 0.20, 0.040),
    "middle": ((0.155, 0.0, 0.0), (1.0, 0.0, 0.05), 0.22, 0.041),
    "little": ((0.135, -0.085, 0.0), (1.0, -0.36, 0.05), 0.18, 0.038),
}
_KNUCKLES = (0.0, 0.42, 0.74, 1.0)  # joints and tip along a finger


def _hand_axes() -> NDArray[np.float64]:
    """Along the forearm, towards the thumb and towards the palm, in columns, (3, 3)."""
    along = np.subtract(_WRIST, _ELBOW) / np.linalg.norm(np.subtract(_WRIST, _ELBOW))
    palm = np.cross([0.0, 0.0, 1.0], -along)
    palm = palm / np.linalg.norm(palm)
    return np.column_stack([along, np.cross(palm, along), palm])


def _finger_joints(name: str) -> list[Vector]:
    """Three joints and the tip of a finger of the left hand [m]."""
    start, towards, length, _ = _FINGERS[name]
    axes = _hand_axes()
    step = axes @ towards / np.linalg.norm(towards)
    places = [np.add(_WRIST, axes @ start) + length * share * step for share in _KNUCKLES]
    return [(float(x), float(y), float(z)) for x, y, z in places]


def _finger_bones() -> list[Bone]:
    _, thumbwards, palm = _hand_axes().T
    bones = []
    for name in _FINGERS:
        joints, parent = _finger_joints(name), "left_hand"
        inwards = palm - 0.7 * thumbwards if name == "thumb" else palm
        x, y, z = np.cross(np.subtract(joints[-1], joints[0]), inwards)
        for number, (head, tail) in enumerate(pairwise(joints), 1):
            bone = f"left_{name}_{number}"
            bones.append(Bone(bone, parent, head, tail, x=(-20, 90), z=(-15, 15), hinge=(float(x), float(y), float(z))))
            parent = bone
    return bones


def _tail_bones() -> list[Bone]:
    bones, parent = [], "hips"
    for number, (head, tail) in enumerate(pairwise(_TAIL), 1):
        bones.append(Bone(f"tail_{number}", parent, head, tail, x=(-35, 35), y=(-35, 35), z=(-20, 20)))
        parent = f"tail_{number}"
    return bones


def _sway(angle: float, lift: float = 0.0) -> Turns:
    return {f"tail_{number}": (lift, angle, 0) for number in range(1, len(_TAIL))}


def _grip(share: float, *sides: str) -> Turns:
    return {f"{side}_{name}_{k}": (share * 75, 0, 0) for side in sides for name in _FINGERS for k in (1, 2, 3)}


_STEP: Turns = {
    SHIFT: (0.0, -0.03, 0.0),
    "hips": (0, 7, 3),
    "spine": (3, -6, 0),
    "chest": (0, -8, 0),
    "neck": (0, 4, 0),
    "left_thigh": (-26, 0, 0),
    "left_shin": (8, 0, 0),
    "left_foot": (-5, 0, 0),
    "right_thigh": (22, 0, 0),
    "right_shin": (16, 0, 0),
    "right_foot": (12, 0, 0),
    "right_toe": (-25, 0, 0),
    "left_upper_arm": (18, 12, -33),
    "left_forearm": (15, 0, 0),
    "right_upper_arm": (-22, 15, 32),
    "right_forearm": (28, 0, 0),
    **_sway(9),
    **_grip(0.25, "left", "right"),
}
_PASS: Turns = {
    "spine": (3, 0, 0),
    "left_thigh": (2, 0, 0),
    "right_thigh": (-20, 0, 0),
    "right_shin": (48, 0, 0),
    "left_upper_arm": (0, 0, -36),
    "left_forearm": (20, 0, 0),
    "right_upper_arm": (0, 0, 36),
    "right_forearm": (20, 0, 0),
    **_sway(0, -3),
    **_grip(0.25, "left", "right"),
}
_PAT: Turns = {"left_upper_arm": (25, -35, -44), "left_forearm": (78, 0, 0), "right_upper_arm": (0, 0, 36)}

#: Fifty-two bones: the body, a jaw, three bones in every finger, and a tail of five.
SKETCH = Sketch(
    bones=mirror_bones(
        (
            Bone("hips", None, (0.0, 0.90, 0.0), (0.0, 1.06, 0.0), x=(-45, 45), y=(-60, 60), z=(-30, 30)),
            Bone("spine", "hips", (0.0, 1.06, 0.0), (0.0, 1.26, 0.0), x=(-25, 40), y=(-25, 25), z=(-20, 20)),
            Bone("ribs", "spine", (0.0, 1.26, 0.0), (0.0, 1.42, 0.0), x=(-20, 30), y=(-20, 20), z=(-15, 15)),
            Bone("chest", "ribs", (0.0, 1.42, 0.0), (0.0, 1.60, 0.0), x=(-20, 25), y=(-25, 25), z=(-15, 15)),
            Bone("neck", "chest", (0.0, 1.60, 0.0), (0.0, 1.76, 0.02), x=(-35, 35), y=(-40, 40), z=(-25, 25)),
            Bone("head", "neck", (0.0, 1.76, 0.02), (0.0, 2.04, 0.03), x=(-35, 35), y=(-50, 50), z=(-25, 25)),
            Bone("jaw", "head", (0.0, 1.79, 0.04), (0.0, 1.745, 0.18), x=(-5, 30)),
            Bone("left_collar", "chest", _COLLAR, _SHOULDER, y=(-20, 20), z=(-10, 30)),
            Bone("left_upper_arm", "left_collar", _SHOULDER, _ELBOW, x=(-120, 60), y=(-80, 45), z=(-55, 120)),
            Bone("left_forearm", "left_upper_arm", _ELBOW, _WRIST, x=(-5, 140), y=(-80, 80), hinge=(-0.5, -0.87, 0.0)),
            Bone("left_hand", "left_forearm", _WRIST, _finger_joints("middle")[0], x=(-60, 70), y=(-30, 30)),
            *_finger_bones(),
            Bone("left_thigh", "hips", _HIP, _KNEE, x=(-110, 40), y=(-40, 40), z=(-25, 50)),
            Bone("left_shin", "left_thigh", _KNEE, _ANKLE, x=(-3, 140)),
            Bone("left_foot", "left_shin", _ANKLE, _BALL, x=(-40, 50), y=(-20, 20)),
            Bone("left_toe", "left_foot", _BALL, _TOE, x=(-50, 30)),
            *_tail_bones(),
        )
    ),
    poses={
        "step_left": _STEP,
        "pass_left": _PASS,
        "step_right": mirror_turns(_STEP),
        "pass_right": mirror_turns(_PASS),
        "pat": {**_PAT, "chest": (-4, 0, 0), "head": (10, 0, 0)},
        "pat_off": {**_PAT, "left_forearm": (55, 0, 0), "head": (10, 0, 0)},
        "roar": {
            "spine": (-8, 0, 0), "neck": (-12, 0, 0), "head": (-15, 0, 0), "jaw": (25, 0, 0), **_sway(0, 15),
            "left_upper_arm": (-83, 40, 4), "left_forearm": (75, 0, 0), "right_upper_arm": (-83, -40, -4),
            "right_forearm": (75, 0, 0), **_grip(0.4, "left", "right"),
        },
        "fists": {**_grip(1.0, "left", "right"), **_sway(20)},
    },
    motion=(
        (0.0, "step_left"), (0.4, "pass_left"), (0.8, "step_right"), (1.2, "pass_right"), (1.6, "step_left"),
    ),
    between="spline",
)  # fmt: skip


def draw() -> Field:
    """A pear-shaped giant."""
    trunk = smooth_union(
        [
            ellipsoid((0, 0.97, 0.0), (0.29, 0.22, 0.24)),
            ellipsoid((0, 1.17, 0.06), (0.31, 0.28, 0.27)),
            ellipsoid((0, 1.45, 0.0), (0.33, 0.24, 0.23)),
            tube(((0, 1.50, 0.0), 0.22), ((0, 1.80, 0.02), 0.17)),
        ],
        0.12,
    )
    leg = tube((_HIP, 0.185), (_KNEE, 0.135), ((0.205, 0.35, -0.01), 0.13), (_ANKLE, 0.11))
    foot = smooth_union([ellipsoid((0.225, 0.06, 0.10), (0.12, 0.085, 0.20)), sphere((0.21, 0.10, -0.03), 0.11)], 0.06)
    limbs = [_arm(), smooth_union([leg, foot], 0.06)]
    tail = tube(*zip(_TAIL, _TAIL_RADII, strict=True))
    body = smooth_union([smooth_union([trunk, tail], 0.1), *(mirrored(limb) for limb in limbs)], 0.09)
    return stood(smooth_union([body, _head()], 0.08), 0.02)


def _arm() -> Field:
    limb = tube((_COLLAR, 0.10), (_SHOULDER, 0.125), (_ELBOW, 0.098), ((0.73, 1.30, 0.0), 0.1), (_WRIST, 0.075))
    axes = _hand_axes()
    palm = [tube((_WRIST, 0.07), (np.add(_WRIST, axes @ (0.11, side, 0.0)), 0.055)) for side in (-0.045, 0.045)]
    fingers = []
    for name, (_, _, _, radius) in _FINGERS.items():
        joints = _finger_joints(name)
        root = np.add(_WRIST, 0.45 * np.subtract(joints[0], _WRIST))
        fingers.append(tube((root, 0.05), (joints[0], radius), (joints[2], 0.95 * radius), (joints[3], 0.9 * radius)))
    return smooth_union([smooth_union([limb, *palm], 0.05), smooth_union(fingers, 0.02)], 0.03)


def _head() -> Field:
    skull = smooth_union(
        [ellipsoid((0, 1.95, 0.03), (0.22, 0.21, 0.21)), mirrored(sphere((0.11, 1.85, 0.08), 0.13))], 0.08
    )
    jaw = ellipsoid((0, 1.745, 0.09), (0.18, 0.085, 0.155))
    snout = ellipsoid((0, 1.86, 0.18), (0.13, 0.075, 0.10))
    brow = mirrored(tube(((0.035, 2.02, 0.215), 0.032), ((0.13, 2.05, 0.165), 0.032)))
    horns = mirrored(tube(((0.14, 2.06, 0.0), 0.07), ((0.245, 2.15, 0.0), 0.055), ((0.275, 2.262, 0.02), 0.038)))
    face = smooth_union([smooth_union([skull, snout, jaw], 0.05), brow, horns], 0.03)
    mouth = tube(((-0.13, 1.80, 0.185), 0.014), ((0, 1.785, 0.27), 0.014), ((0.13, 1.80, 0.185), 0.014))
    eyes = mirrored(sphere((0.075, 1.965, 0.205), 0.05))
    nose = ellipsoid((0, 1.895, 0.275), (0.05, 0.032, 0.032))
    return smooth_union([smooth_difference(face, mouth, 0.02), eyes, nose], 0.012)
