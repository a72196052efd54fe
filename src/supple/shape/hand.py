"""A left hand held up, its palm towards z and its thumb towards x; it is cut off at the wrist, y = 0."""

from supple.shape.bone import Bone, Range, Vector
from supple.shape.character import Turns
from supple.shape.distance import Field, ellipsoid, smooth_union, stood, tube
from supple.shape.sketch import Sketch

__all__ = ["LENGTH", "SKETCH", "draw"]

LENGTH = 0.19  #: as drawn [m]

#: Knuckle, middle joint and tip of every finger, and its radius [m].
_FINGERS: dict[str, tuple[Vector, Vector, Vector, float]] = {
    "index": ((0.030, 0.101, 0.001), (0.0385, 0.139, 0.003), (0.0455, 0.173, 0.003), 0.0092),
    "middle": ((0.0085, 0.105, 0.0), (0.0105, 0.147, 0.002), (0.0125, 0.1815, 0.002), 0.0095),
    "ring": ((-0.0125, 0.101, 0.001), (-0.0185, 0.140, 0.003), (-0.0235, 0.173, 0.003), 0.0090),
    "little": ((-0.0315, 0.092, 0.003), (-0.0435, 0.122, 0.005), (-0.052, 0.147, 0.005), 0.0082),
}
_THUMB: tuple[Vector, Vector, Vector] = ((0.033, 0.045, 0.009), (0.058, 0.075, 0.018), (0.075, 0.100, 0.020))

_SPREAD: Range = (-15, 15)
_CURL = (("", 80.0), ("_tip", 100.0))


def _close(share: float, *names: str) -> Turns:
    """Fingers curled into the palm, wholly for share 1."""
    return {f"{name}{part}": (share * angle, 0, 0) for name in names for part, angle in _CURL}


def _finger_bones() -> tuple[Bone, ...]:
    bones = []
    for name, (knuckle, joint, tip, _) in _FINGERS.items():
        bones.append(Bone(name, "palm", knuckle, joint, x=(-25, 90), z=_SPREAD, hinge=(1, 0, 0)))
        bones.append(Bone(f"{name}_tip", name, joint, tip, x=(-5, 110), hinge=(1, 0, 0)))
    return tuple(bones)


#: Ten bones: the palm, two in every finger, one in the thumb.
SKETCH = Sketch(
    bones=(
        Bone("palm", None, (0.0, 0.012, 0.0), (0.002, 0.085, 0.0), x=(-60, 70), y=(-80, 80), z=(-30, 30)),
        Bone("thumb", "palm", _THUMB[0], _THUMB[2], x=(-20, 75), y=(-40, 40), z=(-30, 45), hinge=(0.42, -0.47, 0.73)),
        *_finger_bones(),
    ),
    poses={
        "fist": {**_close(1.0, *_FINGERS), "thumb": (68, 0, 0)},
        "half_closed": {**_close(0.45, *_FINGERS), "thumb": (25, 0, 0)},
        "pointing": {**_close(1.0, "middle", "ring", "little"), "thumb": (50, 0, 0)},
        "victory": {
            **_close(1.0, "ring", "little"), "index": (0, 0, -6), "middle": (0, 0, 6), "thumb": (60, 0, 0),
        },
        "thumb_up": _close(1.0, *_FINGERS),
        "spread": {"index": (0, 0, -8), "ring": (0, 0, 6), "little": (0, 0, 12), "thumb": (-20, 0, 0)},
    },
    motion=(
        (0.0, "rest"), (0.6, "spread"), (1.4, "fist"), (2.0, "pointing"), (2.6, "victory"), (3.2, "thumb_up"),
        (4.0, "rest"),
    ),
)  # fmt: skip


def draw() -> Field:
    """A palm with four fingers and a thumb."""
    fingers = [
        tube(((0.55 * knuckle[0], 0.06, 0.0), 1.15 * r), (knuckle, 1.08 * r), (joint, 1.02 * r), (tip, 0.9 * r))
        for knuckle, joint, tip, r in _FINGERS.values()
    ]
    palm = smooth_union(
        [
            ellipsoid((-0.001, 0.068, 0.0), (0.042, 0.042, 0.0145)),
            tube(((0.0, -0.01, 0.0), 0.0235), ((0.0, 0.02, 0.0), 0.0225), ((0.0, 0.045, 0.0), 0.0225)),
            ellipsoid((-0.026, 0.052, 0.006), (0.017, 0.032, 0.014)),
        ],
        0.02,
    )
    thumb = tube(((0.018, 0.032, 0.006), 0.016), (_THUMB[0], 0.0165), (_THUMB[1], 0.012), (_THUMB[2], 0.0098))
    body = smooth_union([palm, smooth_union(fingers, 0.003), thumb], 0.012)
    return stood(body, 0.004)
