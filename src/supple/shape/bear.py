"""A bear on four legs, standing on flat soles at y = 0 and facing z."""

from supple.shape.bone import Bone, mirror_bones
from supple.shape.character import Turns
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

__all__ = ["LENGTH", "SKETCH", "draw"]

LENGTH = 2.0  #: from nose to tail as drawn [m]

_RUMP, _LOIN, _CHEST, _NECK, _HEAD, _NOSE = (
    (0.0, 0.80, -0.70), (0.0, 0.84, -0.42), (0.0, 0.84, -0.05), (0.0, 0.90, 0.40), (0.0, 1.0, 0.68), (0.0, 0.95, 0.98),
)  # fmt: skip
_SHOULDER, _ELBOW, _WRIST, _PAW = (0.19, 0.72, 0.30), (0.225, 0.45, 0.24), (0.22, 0.13, 0.29), (0.22, 0.07, 0.43)
_HIP, _KNEE, _ANKLE, _TOES = (0.19, 0.70, -0.55), (0.245, 0.42, -0.42), (0.22, 0.13, -0.60), (0.225, 0.065, -0.44)

_STEP: Turns = {
    "chest": (0, 5, 0),
    "head": (6, 0, 0),
    "left_arm": (-28, 0, 0),
    "left_forearm": (8, 0, 0),
    "right_arm": (24, 0, 0),
    "right_forearm": (-15, 0, 0),
    "left_thigh": (22, 0, 0),
    "left_shin": (10, 0, 0),
    "right_thigh": (-26, 0, 0),
    "right_shin": (10, 0, 0),
}

#: Seventeen bones, and curves of control points along the spine and the legs for a wire deformer.
SKETCH = Sketch(
    bones=mirror_bones(
        (
            Bone("rump", None, _RUMP, _LOIN, x=(-80, 30), y=(-40, 40), z=(-30, 30)),
            Bone("loin", "rump", _LOIN, _CHEST, x=(-30, 30), y=(-25, 25), z=(-25, 25)),
            Bone("chest", "loin", _CHEST, _NECK, x=(-30, 30), y=(-25, 25), z=(-25, 25)),
            Bone("neck", "chest", _NECK, _HEAD, x=(-45, 50), y=(-50, 50), z=(-30, 30)),
            Bone("head", "neck", _HEAD, _NOSE, x=(-45, 45), y=(-50, 50), z=(-40, 40)),
            Bone("left_arm", "chest", _SHOULDER, _ELBOW, x=(-110, 60), y=(-25, 25), z=(-15, 50)),
            Bone("left_forearm", "left_arm", _ELBOW, _WRIST, x=(-110, 15)),
            Bone("left_paw", "left_forearm", _WRIST, _PAW, x=(-40, 60)),
            Bone("left_thigh", "rump", _HIP, _KNEE, x=(-70, 90), y=(-25, 25), z=(-15, 40)),
            Bone("left_shin", "left_thigh", _KNEE, _ANKLE, x=(-15, 100)),
            Bone("left_foot", "left_shin", _ANKLE, _TOES, x=(-60, 50)),
        )
    ),
    poses={
        "step_left": _STEP,
        "step_right": mirror_turns(_STEP),
        "look_back": {"loin": (0, 15, 0), "chest": (0, 20, 0), "neck": (0, 40, 0), "head": (0, 35, 0)},
        "reared": {
            "rump": (-65, 0, 0), "loin": (-10, 0, 0), "neck": (35, 0, 0), "head": (25, 0, 0), "left_arm": (-15, 3, 10),
            "right_arm": (-15, -3, -10), "left_forearm": (-55, 0, 0), "right_forearm": (-55, 0, 0),
            "left_thigh": (65, 0, 0), "right_thigh": (65, 0, 0),
        },
        "sniff": {
            "chest": (12, 0, 0), "neck": (40, 0, 0), "head": (10, 0, 0), "left_arm": (-12, 0, 0),
            "right_arm": (-12, 0, 0),
        },
    },
    motion=((0.0, "step_left"), (0.6, "step_right"), (1.2, "step_left")),
    between="spline",
    # 48 control points are the 144 degrees of freedom of the bear of [XB16].
    curves={
        "spine": (("rump", "loin", "chest", "neck", "head"), 16),
        **{f"{side}_arm": ((f"{side}_arm", f"{side}_forearm", f"{side}_paw"), 8) for side in ("left", "right")},
        **{f"{side}_leg": ((f"{side}_thigh", f"{side}_shin", f"{side}_foot"), 8) for side in ("left", "right")},
    },
)  # fmt: skip


def draw() -> Field:
    """A heavy trunk with a hump over the shoulders, a long muzzle, round ears and a stub of a tail."""
    trunk = smooth_union(
        [
            ellipsoid((0, 0.78, -0.52), (0.31, 0.31, 0.36)),
            ellipsoid((0, 0.76, -0.12), (0.30, 0.32, 0.40)),
            ellipsoid((0, 0.80, 0.24), (0.27, 0.30, 0.30)),
            sphere((0, 0.93, 0.20), 0.21),
            tube(((0, 0.84, 0.30), 0.25), ((0, 0.95, 0.58), 0.19)),
        ],
        0.14,
    )
    arm = tube((_SHOULDER, 0.17), (_ELBOW, 0.125), (_WRIST, 0.1))
    leg = tube((_HIP, 0.22), (_KNEE, 0.155), ((0.225, 0.26, -0.54), 0.11), (_ANKLE, 0.095))
    paw, foot = (ellipsoid((x, 0.06, z), (0.115, 0.09, 0.15)) for x, z in ((0.22, 0.37), (0.225, -0.52)))
    limbs = [smooth_union([arm, paw], 0.06), smooth_union([leg, foot], 0.06)]
    body = smooth_union([trunk, *(mirrored(limb) for limb in limbs)], 0.1)
    return stood(smooth_union([body, _head(), sphere((0, 0.88, -0.90), 0.07)], 0.08), 0.02)


def _head() -> Field:
    skull = smooth_union(
        [ellipsoid((0, 1.0, 0.72), (0.175, 0.17, 0.18)), mirrored(sphere((0.085, 0.95, 0.74), 0.11))], 0.06
    )
    muzzle = tube(((0, 0.96, 0.82), 0.105), ((0, 0.935, 0.98), 0.078))
    ears = mirrored(ellipsoid((0.135, 1.15, 0.66), (0.068, 0.075, 0.045)))
    bowls = mirrored(ellipsoid((0.138, 1.155, 0.715), (0.04, 0.045, 0.03)))
    face = smooth_union([smooth_union([skull, muzzle], 0.06), smooth_difference(ears, bowls, 0.02)], 0.03)
    nose, eyes = ellipsoid((0, 0.975, 1.045), (0.04, 0.03, 0.03)), mirrored(sphere((0.07, 1.045, 0.865), 0.026))
    return smooth_union([face, nose, eyes], 0.012)
