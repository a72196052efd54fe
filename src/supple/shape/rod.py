"""Rods along x, with round or flat ends, that bend in the middle."""

from supple.errors import SceneError
from supple.shape.bone import Bone
from supple.shape.character import Character
from supple.shape.distance import Field, cone, cylinder
from supple.shape.sketch import Sketch

__all__ = ["capsule", "capsule_character", "rod", "rod_character"]

_POSES = {
    "bent": {"second": (0.0, 0.0, 90.0)},
    "bent_back": {"second": (0.0, 0.0, -90.0)},
    "twisted": {"second": (90.0, 0.0, 0.0)},
    "folded": {"second": (0.0, 0.0, 135.0)},
}
_MOTION = (
    (0.0, "rest"),
    (0.8, "bent"),
    (1.6, "rest"),
    (2.4, "bent_back"),
    (3.2, "rest"),
    (4.0, "twisted"),
    (4.8, "rest"),
)


def capsule(length: float, radius: float) -> Field:
    """A rod with round ends."""
    reach = _reach(length, radius)
    return cone((-reach, 0.0, 0.0), (reach, 0.0, 0.0), radius, radius)


def rod(length: float, radius: float) -> Field:
    """A rod with flat ends."""
    return cylinder((0.0, 0.0, 0.0), length / 2, radius)


def capsule_character(length: float, radius: float) -> Character:
    """Two bones that meet in the middle."""
    return _halve(_reach(length, radius))


def rod_character(length: float, radius: float) -> Character:
    """Two bones that meet in the middle."""
    return _halve(0.48 * length)


def _reach(length: float, radius: float) -> float:
    """From the middle to the centre of a round end [m]."""
    if 2 * radius >= length:
        raise SceneError(
            f"a capsule of length {length} cannot have radius {radius}; give a radius below half the length."
        )
    return length / 2 - radius


def _halve(reach: float) -> Character:
    middle = (0.0, 0.0, 0.0)
    bones = (
        Bone("first", None, (-reach, 0.0, 0.0), middle),
        Bone("second", "first", middle, (reach, 0.0, 0.0), x=(-180, 180), y=(-90, 90), z=(-150, 150)),
    )
    return Sketch(bones, _POSES, _MOTION).build()
