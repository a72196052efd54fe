"""A finger along x, its nail up."""

from supple.shape.bone import Bone
from supple.shape.distance import Field, ellipsoid, smooth_union, sphere, tube
from supple.shape.sketch import Sketch

__all__ = ["LENGTH", "SKETCH", "draw"]

LENGTH = 0.09  #: as drawn [m]

_KNUCKLE, _MIDDLE, _LAST, _TIP = (-0.034, 0.0, 0.0), (-0.002, 0.0005, 0.0), (0.0215, 0.0, 0.0), (0.0375, -0.001, 0.0)

#: Three bones; it curls downwards, about z.
SKETCH = Sketch(
    bones=(
        Bone("proximal", None, _KNUCKLE, _MIDDLE, y=(-20, 20), z=(-90, 30)),
        Bone("middle", "proximal", _MIDDLE, _LAST, z=(-110, 5)),
        Bone("distal", "middle", _LAST, _TIP, z=(-80, 10)),
    ),
    poses={
        "curled": {"middle": (0, 0, -95), "distal": (0, 0, -60)},
        "hooked": {"middle": (0, 0, -60), "distal": (0, 0, -70)},
        "pointing": {"proximal": (0, 0, 15), "middle": (0, 0, -8)},
        "fist": {"proximal": (0, 0, -70), "middle": (0, 0, -100), "distal": (0, 0, -55)},
    },
    motion=((0.0, "rest"), (0.5, "pointing"), (1.2, "curled"), (1.8, "hooked"), (2.4, "rest")),
)


def draw() -> Field:
    """A finger of three phalanges."""
    bone = tube(
        (_KNUCKLE, 0.0108), ((-0.018, 0, 0), 0.0096), (_MIDDLE, 0.0100), ((0.010, -0.0002, 0), 0.0088),
        (_LAST, 0.0088), ((0.031, -0.0006, 0), 0.0082), ((0.0375, -0.0012, 0), 0.0073),
    )  # fmt: skip
    pads = [ellipsoid((x, -0.0045, 0), (0.010, 0.006, 0.0078)) for x in (-0.018, 0.0105)]
    return smooth_union([bone, *pads, sphere((0.033, -0.0026, 0), 0.0074)], 0.004)
