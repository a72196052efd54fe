"""An ape with long arms, standing on flat soles at y = 0 and facing z."""

from supple.shape.bone import Bone, mirror_bones
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

HEIGHT = 1.6  #: as drawn [m]

_PELVIS, _SPINE, _CHEST, _NECK = (0.0, 0.60, -0.06), (0.0, 0.74, -0.05), (0.0, 0.98, 0.0), (0.0, 1.25, 0.09)
_SHOULDER, _ELBOW, _WRIST, _FINGERS = (0.30, 1.14, 0.03), (0.50, 0.79, 0.0), (0.565, 0.44, 0.09), (0.575, 0.29, 0.13)
_HIP, _KNEE, _ANKLE, _TOE = (0.15, 0.58, -0.03), (0.235, 0.335, 0.06), (0.23, 0.09, -0.02), (0.26, 0.055, 0.17)

_STEP: Turns = {
    "pelvis": (8, 8, 0),
    "chest": (4, -14, 0),
    "left_thigh": (-25, 0, 0),
    "left_shin": (15, 0, 0),
    "right_thigh": (20, 0, 0),
    "right_shin": (15, 0, 0),
    "right_foot": (10, 0, 0),
    "left_upper_arm": (25, 0, 0),
    "right_upper_arm": (-30, 0, 0),
    "right_forearm": (20, 0, 0),
}
_BEAT: Turns = {
    "chest": (-8, 10, 0),
    "head": (-10, 0, 0),
    "left_upper_arm": (-41, -46, 43),
    "left_forearm": (112, 0, 0),
    "right_upper_arm": (-34, 25, -46),
    "right_forearm": (80, 0, 0),
}

#: Sixteen bones.
SKETCH = Sketch(
    bones=mirror_bones(
        (
            Bone("pelvis", None, _PELVIS, _SPINE, x=(-45, 70), y=(-60, 60), z=(-30, 30)),
            Bone("spine", "pelvis", _SPINE, _CHEST, x=(-30, 50), y=(-35, 35), z=(-30, 30)),
            Bone("chest", "spine", _CHEST, _NECK, x=(-25, 35), y=(-30, 30), z=(-20, 20)),
            Bone("head", "chest", _NECK, (0.0, 1.42, 0.17), x=(-50, 40), y=(-70, 70), z=(-35, 35)),
            Bone("left_upper_arm", "chest", _SHOULDER, _ELBOW, x=(-110, 60), y=(-70, 60), z=(-45, 130)),
            Bone("left_forearm", "left_upper_arm", _ELBOW, _WRIST, x=(-10, 140), y=(-80, 80), hinge=(-1.0, -0.2, 0.0)),
            Bone("left_hand", "left_forearm", _WRIST, _FINGERS, x=(-60, 80), z=(-30, 30), hinge=(-1.0, -0.2, 0.0)),
            Bone("left_thigh", "pelvis", _HIP, _KNEE, x=(-100, 50), y=(-40, 40), z=(-30, 50)),
            Bone("left_shin", "left_thigh", _KNEE, _ANKLE, x=(-10, 130)),
            Bone("left_foot", "left_shin", _ANKLE, _TOE, x=(-40, 50), y=(-25, 25)),
        )
    ),
    poses={
        "step_left": _STEP,
        "step_right": mirror_turns(_STEP),
        "beat_left": _BEAT,
        "beat_right": mirror_turns(_BEAT),
        "roar": {
            "spine": (-12, 0, 0), "head": (-25, 0, 0), "left_upper_arm": (2, 20, 95), "right_upper_arm": (2, -20, -95),
            "left_forearm": (45, 0, 0), "right_forearm": (45, 0, 0),
        },
        "knuckles": {
            SHIFT: (0.0, -0.04, -0.08), "pelvis": (38, 0, 0), "spine": (12, 0, 0), "head": (-42, 0, 0),
            "left_upper_arm": (-51, -9, -7), "right_upper_arm": (-51, 9, 7), "left_forearm": (10, 0, 0),
            "right_forearm": (10, 0, 0), "left_thigh": (-62, 0, 0), "right_thigh": (-62, 0, 0),
            "left_shin": (40, 0, 0), "right_shin": (40, 0, 0), "left_foot": (-16, 0, 0), "right_foot": (-16, 0, 0),
        },
    },
    motion=(
        (0.0, "rest"), (0.5, "step_left"), (1.0, "step_right"), (1.5, "rest"), (1.9, "beat_left"), (2.15, "beat_right"),
        (2.4, "beat_left"), (2.65, "beat_right"), (3.2, "roar"), (4.0, "rest"),
    ),
)  # fmt: skip


def draw() -> Field:
    """A broad chest and belly, a crested head, arms to the knees and short legs."""
    trunk = smooth_union(
        [
            ellipsoid((0, 0.60, -0.05), (0.22, 0.16, 0.18)),
            ellipsoid((0, 0.78, 0.02), (0.26, 0.22, 0.22)),
            ellipsoid((0, 1.06, 0.0), (0.29, 0.22, 0.21)),
            mirrored(ellipsoid((0.12, 1.08, 0.14), (0.14, 0.10, 0.09))),
            tube(((0, 1.12, -0.04), 0.19), ((0, 1.28, 0.06), 0.14)),
        ],
        0.1,
    )
    arm = tube(
        (_SHOULDER, 0.135), ((0.41, 0.96, 0.01), 0.112), (_ELBOW, 0.086), ((0.525, 0.69, 0.03), 0.1), (_WRIST, 0.066),
    )  # fmt: skip
    fist = smooth_union(
        [
            ellipsoid((0.57, 0.365, 0.11), (0.07, 0.09, 0.075)),
            tube(((0.575, 0.33, 0.12), 0.06), ((0.575, 0.275, 0.13), 0.05)),
            tube(((0.545, 0.40, 0.13), 0.04), ((0.52, 0.35, 0.185), 0.032)),
        ],
        0.03,
    )
    leg = tube((_HIP, 0.15), (_KNEE, 0.105), ((0.235, 0.24, 0.0), 0.09), (_ANKLE, 0.07))
    foot = smooth_union(
        [
            ellipsoid((0.25, 0.05, 0.07), (0.082, 0.062, 0.17)),
            tube(((0.20, 0.05, 0.05), 0.04), ((0.14, 0.045, 0.12), 0.036)),
        ],
        0.04,
    )
    limbs = [smooth_union([arm, fist], 0.04), smooth_union([leg, foot], 0.05)]
    body = smooth_union([trunk, *(mirrored(limb) for limb in limbs)], 0.07)
    return stood(smooth_union([body, _head()], 0.06), 0.015)


def _head() -> Field:
    skull = smooth_union(
        [ellipsoid((0, 1.40, 0.13), (0.13, 0.14, 0.145)), ellipsoid((0, 1.50, 0.07), (0.05, 0.095, 0.10))], 0.07
    )
    brow = tube(((-0.085, 1.44, 0.235), 0.036), ((0.0, 1.455, 0.26), 0.036), ((0.085, 1.44, 0.235), 0.036))
    muzzle = smooth_union(
        [ellipsoid((0, 1.325, 0.245), (0.095, 0.075, 0.085)), ellipsoid((0, 1.27, 0.20), (0.085, 0.055, 0.085))], 0.03
    )
    face = smooth_union([smooth_union([skull, muzzle], 0.03), brow], 0.025)
    mouth = tube(((-0.075, 1.285, 0.30), 0.008), ((0, 1.295, 0.335), 0.008), ((0.075, 1.285, 0.30), 0.008))
    nose = mirrored(sphere((0.026, 1.375, 0.30), 0.030))
    eyes = mirrored(sphere((0.052, 1.405, 0.258), 0.024))
    ears = mirrored(ellipsoid((0.135, 1.41, 0.09), (0.028, 0.05, 0.04)))
    return smooth_union([smooth_difference(face, mouth, 0.012), smooth_union([nose, eyes], 0.008), ears], 0.012)
