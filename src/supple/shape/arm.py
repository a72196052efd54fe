"""A torso with one arm, stretched out along x; it is cut off at the waist, y = 0, and faces z."""

from supple.shape.bone import Bone
from supple.shape.distance import Field, ellipsoid, mirrored, smooth_union, stood, tube
from supple.shape.sketch import Sketch

__all__ = ["HEIGHT", "SKETCH", "draw"]

HEIGHT = 0.6  #: as drawn [m]

_COLLAR, _SHOULDER, _ELBOW, _WRIST = (0.04, 0.455, 0.0), (0.175, 0.455, -0.005), (0.45, 0.435, -0.01), (0.69, 0.43, 0.0)

#: Five bones from the torso to the hand.
SKETCH = Sketch(
    bones=(
        Bone("torso", None, (0.0, 0.04, 0.0), (0.0, 0.43, 0.0), x=(-30, 45), y=(-45, 45), z=(-25, 25)),
        Bone("collar", "torso", _COLLAR, _SHOULDER, y=(-20, 20), z=(-10, 30)),
        Bone("upper_arm", "collar", _SHOULDER, _ELBOW, x=(-90, 90), y=(-90, 45), z=(-90, 80)),
        Bone("forearm", "upper_arm", _ELBOW, _WRIST, x=(-5, 145), y=(-90, 90), hinge=(0, -1, 0)),
        Bone("hand", "forearm", _WRIST, (0.80, 0.43, 0.006), y=(-25, 30), z=(-70, 75)),
    ),
    poses={
        "down": {"upper_arm": (0, 0, -70), "forearm": (10, 0, 0)},
        "raised": {"collar": (0, 0, 20), "upper_arm": (0, 0, 60), "forearm": (15, 0, 0)},
        "forward": {"upper_arm": (0, -85, 0), "forearm": (15, 0, 0)},
        "flexed": {"collar": (0, 0, 8), "upper_arm": (-80, 8, 1), "forearm": (125, 0, 0), "hand": (0, -20, 0)},
        "folded": {"upper_arm": (39, -42, -51), "forearm": (115, 0, 0)},
        "waving_out": {"upper_arm": (-80, 15, 3), "forearm": (65, 0, 0), "hand": (0, 20, 0)},
        "waving_in": {"upper_arm": (-80, 15, 3), "forearm": (110, 0, 0), "hand": (0, -20, 0)},
    },
    motion=(
        (0.0, "down"), (0.8, "waving_out"), (1.1, "waving_in"), (1.4, "waving_out"), (1.7, "waving_in"),
        (2.1, "flexed"), (2.6, "folded"), (3.2, "forward"), (4.0, "down"),
    ),
)  # fmt: skip


def draw() -> Field:
    """An upper body with its left arm, the other one ending at the shoulder."""
    trunk = smooth_union(
        [
            ellipsoid((0, 0.0, 0.0), (0.145, 0.22, 0.105)),
            ellipsoid((0, 0.30, 0.0), (0.165, 0.20, 0.115)),
            mirrored(ellipsoid((0.075, 0.345, 0.06), (0.085, 0.065, 0.05))),
            mirrored(ellipsoid((0.085, 0.33, -0.06), (0.08, 0.12, 0.055))),
            tube(((0.0, 0.40, -0.01), 0.085), ((0.0, 0.50, -0.01), 0.062), ((0.0, 0.542, 0.0), 0.058)),
            mirrored(tube(((0.05, 0.47, -0.01), 0.05), (_SHOULDER, 0.07))),
        ],
        0.05,
    )
    limb = tube(
        (_SHOULDER, 0.07), ((0.24, 0.447, -0.005), 0.062), ((0.32, 0.440, -0.004), 0.056), (_ELBOW, 0.047),
        ((0.52, 0.434, -0.004), 0.05), ((0.60, 0.432, 0), 0.043), (_WRIST, 0.035),
    )  # fmt: skip
    biceps = ellipsoid((0.32, 0.447, 0.022), (0.09, 0.046, 0.046))
    body = smooth_union([trunk, smooth_union([limb, biceps], 0.03), _hand()], 0.03)
    return stood(body, 0.015)


def _hand() -> Field:
    """A palm, the fingers held together, and a thumb apart."""
    fingers = [
        tube(((0.745, 0.43, 0.6 * side), 0.031), ((0.79, 0.432, side), 0.027), ((tip, 0.424, 1.08 * side), 0.023))
        for side, tip in ((0.030, 0.842), (0.002, 0.855), (-0.026, 0.838))
    ]
    thumb = tube(((0.725, 0.428, 0.015), 0.026), ((0.765, 0.424, 0.068), 0.025), ((0.795, 0.42, 0.092), 0.022))
    return smooth_union([tube((_WRIST, 0.035), ((0.75, 0.43, 0.004), 0.03)), *fingers, thumb], 0.016)
