"""A figure with big ears, standing on flat soles at y = 0 with its arms held off, facing z."""

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

HEIGHT = 1.7  #: as drawn [m]

_SPINE, _NECK = (0.0, 0.86, 0.0), (0.0, 1.20, 0.0)
_SHOULDER, _ELBOW, _WRIST, _FINGERS = (0.165, 1.13, 0.0), (0.36, 0.98, -0.01), (0.53, 0.845, 0.01), (0.625, 0.77, 0.02)
_HIP, _KNEE, _ANKLE, _TOE = (0.105, 0.72, 0.0), (0.125, 0.40, 0.01), (0.135, 0.09, -0.015), (0.145, 0.055, 0.13)
_EAR, _EAR_TIP = (0.165, 1.47, -0.01), (0.42, 1.535, -0.05)

_STEP: Turns = {
    SHIFT: (0.0, -0.02, 0.0),
    "hips": (0, 6, 0),
    "spine": (4, -10, 0),
    "head": (0, 4, 0),
    "left_thigh": (-28, 0, 0),
    "left_shin": (8, 0, 0),
    "left_foot": (-5, 0, 0),
    "right_thigh": (22, 0, 0),
    "right_shin": (18, 0, 0),
    "right_foot": (15, 0, 0),
    "left_upper_arm": (22, 12, -28),
    "left_forearm": (15, 0, 0),
    "right_upper_arm": (-27, 14, 27),
    "right_forearm": (30, 0, 0),
    "left_ear": (0, 12, 0),
    "right_ear": (0, 12, 0),
}
_PASS: Turns = {
    "spine": (3, 0, 0),
    "left_thigh": (2, 0, 0),
    "right_thigh": (-20, 0, 0),
    "right_shin": (50, 0, 0),
    "left_upper_arm": (0, 0, -32),
    "left_forearm": (20, 0, 0),
    "right_upper_arm": (0, 0, 32),
    "right_forearm": (20, 0, 0),
}

#: Seventeen bones, one in each ear.
SKETCH = Sketch(
    bones=mirror_bones(
        (
            Bone("hips", None, (0.0, 0.72, 0.0), _SPINE, x=(-45, 45), y=(-60, 60), z=(-30, 30)),
            Bone("spine", "hips", _SPINE, _NECK, x=(-35, 70), y=(-50, 50), z=(-35, 35)),
            Bone("head", "spine", _NECK, (0.0, 1.52, 0.0), x=(-45, 45), y=(-75, 75), z=(-35, 35)),
            Bone("left_ear", "head", _EAR, _EAR_TIP, x=(-30, 30), y=(-50, 50), z=(-50, 40)),
            Bone("left_upper_arm", "spine", _SHOULDER, _ELBOW, x=(-120, 60), y=(-80, 45), z=(-50, 130)),
            Bone("left_forearm", "left_upper_arm", _ELBOW, _WRIST, x=(-5, 145), y=(-80, 80), hinge=(-0.6, -0.8, 0)),
            Bone("left_hand", "left_forearm", _WRIST, _FINGERS, x=(-60, 70), z=(-30, 30), hinge=(-0.6, -0.8, 0)),
            Bone("left_thigh", "hips", _HIP, _KNEE, x=(-120, 35), y=(-40, 40), z=(-25, 50)),
            Bone("left_shin", "left_thigh", _KNEE, _ANKLE, x=(-3, 145)),
            Bone("left_foot", "left_shin", _ANKLE, _TOE, x=(-35, 50), y=(-20, 20)),
        )
    ),
    poses={
        "step_left": _STEP,
        "pass_left": _PASS,
        "step_right": mirror_turns(_STEP),
        "pass_right": mirror_turns(_PASS),
        "wave": {
            "left_upper_arm": (-83, 40, 4), "left_forearm": (45, 0, 0), "right_upper_arm": (0, 0, 32),
            "head": (0, 0, -12), "left_ear": (0, 0, -15), "right_ear": (0, 0, -15),
        },
        "crouch": {
            SHIFT: (0.0, -0.27, -0.06), "spine": (40, 0, 0), "head": (-25, 0, 0), "left_thigh": (-92, 12, 0),
            "right_thigh": (-92, -12, 0), "left_shin": (110, 0, 0), "right_shin": (110, 0, 0),
            "left_foot": (-18, 0, 0), "right_foot": (-18, 0, 0), "left_upper_arm": (-32, -14, -21),
            "right_upper_arm": (-32, 14, 21), "left_forearm": (50, 0, 0), "right_forearm": (50, 0, 0),
        },
        "arms_up": {
            "left_upper_arm": (0, 0, 110), "right_upper_arm": (0, 0, -110), "head": (-15, 0, 0),
            "left_ear": (0, 0, -30), "right_ear": (0, 0, 30),
        },
    },
    motion=((0.0, "step_left"), (0.3, "pass_left"), (0.6, "step_right"), (0.9, "pass_right"), (1.2, "step_left")),
    between="spline",
)  # fmt: skip


def draw() -> Field:
    """A slim body with a round head and ears to match."""
    trunk = smooth_union(
        [
            ellipsoid((0, 0.75, 0.0), (0.165, 0.125, 0.125)),
            ellipsoid((0, 0.90, 0.02), (0.145, 0.16, 0.125)),
            ellipsoid((0, 1.06, 0.0), (0.165, 0.135, 0.115)),
            tube(((0, 1.10, 0.0), 0.08), ((0, 1.28, 0.0), 0.075)),
        ],
        0.08,
    )
    arm = tube((_SHOULDER, 0.066), (_ELBOW, 0.052), (_WRIST, 0.042))
    fingers = ellipsoid((0.59, 0.795, 0.015), (0.068, 0.068, 0.05))
    thumb = tube(((0.55, 0.83, 0.03), 0.034), ((0.575, 0.815, 0.09), 0.03))
    leg = tube((_HIP, 0.1), ((0.115, 0.58, 0.005), 0.09), (_KNEE, 0.07), ((0.13, 0.30, -0.01), 0.072), (_ANKLE, 0.054))
    foot = smooth_union(
        [ellipsoid((0.145, 0.045, 0.055), (0.068, 0.06, 0.13)), sphere((0.135, 0.06, -0.03), 0.06)], 0.04
    )
    limbs = [smooth_union([arm, fingers, thumb], 0.03), smooth_union([leg, foot], 0.04)]
    body = smooth_union([trunk, *(mirrored(limb) for limb in limbs)], 0.05)
    return stood(smooth_union([body, _head()], 0.03), 0.015)


def _head() -> Field:
    skull = smooth_union(
        [
            ellipsoid((0, 1.475, 0.0), (0.205, 0.195, 0.195)),
            mirrored(sphere((0.085, 1.39, 0.07), 0.1)),
            sphere((0, 1.35, 0.09), 0.08),
        ],
        0.06,
    )
    ear = smooth_union(
        [tube((_EAR, 0.055), ((0.24, 1.49, -0.02), 0.055)), ellipsoid((0.35, 1.52, -0.03), (0.17, 0.18, 0.066))], 0.05
    )
    cupped = smooth_difference(ear, ellipsoid((0.36, 1.52, 0.05), (0.12, 0.13, 0.05)), 0.03)
    eyes = mirrored(sphere((0.075, 1.50, 0.168), 0.046))
    nose = sphere((0.0, 1.43, 0.205), 0.044)
    return smooth_union([smooth_union([skull, mirrored(cupped)], 0.04), eyes, nose], 0.015)
