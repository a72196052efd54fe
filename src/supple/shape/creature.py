"""A small friendly creature with floppy ears and a tail, standing on flat soles at y = 0 and facing z."""

from supple.shape.bone import Bone, mirror_bones
from supple.shape.character import SHIFT, Turns
from supple.shape.distance import Field, cone, ellipsoid, mirrored, smooth_union, sphere, stood
from supple.shape.sketch import Sketch, mirror_turns

__all__ = ["HEIGHT", "SKETCH", "draw"]

HEIGHT = 1.0  #: from its soles to the bend of its ears as drawn [m]

_EAR, _EAR_BEND, _ELBOW, _TAIL_BEND = (0.085, 0.785, 0.0), (0.14, 0.94, -0.015), (0.235, 0.44, 0.02), (0.0, 0.29, -0.26)

_HOP: Turns = {
    SHIFT: (0.0, 0.12, 0.0),
    "head": (-12, 0, 0),
    "left_arm": (0, 0, 28),
    "right_arm": (0, 0, -28),
    "left_ear": (0, 0, -20),
    "right_ear": (0, 0, 20),
    "tail": (15, 0, 0),
}
_SWAY: Turns = {"spine": (0, 0, -8), "head": (0, 0, -10), "left_arm": (0, 0, 25), "tail": (0, 25, 0)}

#: Fifteen bones, two in each ear and two in the tail.
SKETCH = Sketch(
    bones=mirror_bones(
        (
            Bone("hips", None, (0.0, 0.27, 0.01), (0.0, 0.42, 0.0), x=(-30, 30), y=(-40, 40), z=(-20, 20)),
            Bone("spine", "hips", (0.0, 0.42, 0.0), (0.0, 0.56, 0.0), x=(-25, 30), y=(-30, 30), z=(-25, 25)),
            Bone("head", "spine", (0.0, 0.56, 0.0), (0.0, 0.72, 0.02), x=(-35, 35), y=(-60, 60), z=(-30, 30)),
            Bone("left_ear", "head", _EAR, _EAR_BEND, x=(-40, 40), y=(-20, 20), z=(-40, 40)),
            Bone("left_ear_tip", "left_ear", _EAR_BEND, (0.25, 0.875, 0.04), x=(-30, 30), y=(-30, 30), z=(-50, 50)),
            Bone("left_arm", "spine", (0.15, 0.48, 0.01), _ELBOW, x=(-60, 60), y=(-60, 40), z=(-50, 80)),
            Bone("left_hand", "left_arm", _ELBOW, (0.315, 0.408, 0.058), x=(-40, 40), y=(-60, 20), z=(-40, 60)),
            Bone("left_leg", "hips", (0.115, 0.21, 0.0), (0.138, 0.06, 0.02), x=(-50, 40), y=(-25, 25), z=(-15, 35)),
            Bone("tail", "hips", (0.0, 0.26, -0.13), _TAIL_BEND, x=(-30, 40), y=(-45, 45), z=(-20, 20)),
            Bone("tail_tip", "tail", _TAIL_BEND, (0.0, 0.42, -0.34), x=(-40, 40), y=(-45, 45), z=(-40, 40)),
        )
    ),
    poses={
        "hop": _HOP,
        "crouch": {"spine": (15, 0, 0), "head": (10, 0, 0), "left_arm": (0, 0, -20), "right_arm": (0, 0, 20)},
        "sway_left": _SWAY,
        "sway_right": mirror_turns(_SWAY),
    },
    motion=(
        (0.0, "rest"), (0.4, "crouch"), (0.7, "hop"), (1.0, "crouch"), (1.5, "sway_left"), (2.1, "sway_right"),
        (2.6, "rest"),
    ),
)  # fmt: skip


def draw() -> Field:
    """The creature from its soles to its ears."""
    trunk = smooth_union([_belly(), _tail()], 0.06)
    with_limbs = smooth_union([trunk, mirrored(_arm()), mirrored(_leg())], 0.045)
    body = smooth_union([with_limbs, _skull(), mirrored(_ear())], 0.045)
    eyes, nose = mirrored(sphere((0.072, 0.708, 0.16), 0.034)), sphere((0.0, 0.664, 0.232), 0.03)
    return stood(smooth_union([body, eyes, nose], 0.012), 0.015)


def _belly() -> Field:
    return smooth_union([ellipsoid((0, 0.325, 0.02), (0.205, 0.18, 0.185)), sphere((0, 0.485, 0), 0.115)], 0.1)


def _skull() -> Field:
    head = ellipsoid((0, 0.685, 0.02), (0.18, 0.145, 0.155))
    cheeks = mirrored(sphere((0.105, 0.635, 0.06), 0.088))
    muzzle = ellipsoid((0, 0.634, 0.16), (0.085, 0.058, 0.07))
    return smooth_union([smooth_union([head, cheeks], 0.06), muzzle], 0.04)


def _ear() -> Field:
    upright = cone((0.085, 0.785, 0.0), (0.14, 0.94, -0.015), 0.043, 0.05)
    tip = cone((0.14, 0.94, -0.015), (0.25, 0.875, 0.04), 0.05, 0.058)
    return smooth_union([upright, tip], 0.03)


def _arm() -> Field:
    upper = cone((0.1, 0.505, 0.0), (0.235, 0.44, 0.02), 0.056, 0.046)
    lower = cone((0.235, 0.44, 0.02), (0.31, 0.41, 0.055), 0.046, 0.05)
    return smooth_union([upper, lower, sphere((0.315, 0.408, 0.058), 0.062)], 0.03)


def _leg() -> Field:
    thigh = cone((0.115, 0.21, 0.0), (0.135, 0.07, 0.0), 0.085, 0.064)
    foot = ellipsoid((0.142, 0.045, 0.05), (0.08, 0.062, 0.122))
    return smooth_union([thigh, foot], 0.035)


def _tail() -> Field:
    root = cone((0, 0.26, -0.13), (0, 0.29, -0.26), 0.045, 0.062)
    end = cone((0, 0.29, -0.26), (0, 0.42, -0.34), 0.066, 0.042)
    return smooth_union([root, end], 0.03)
