"""Two crossed bars that bend as one: the X of [XB16]."""

from dataclasses import replace

import numpy as np

from supple.errors import SceneError
from supple.shape.arc import Arc
from supple.shape.bone import Bone, mirror_bones
from supple.shape.character import Character, Turns
from supple.shape.distance import Field, box, moved, smooth_intersection, smooth_union
from supple.shape.sketch import Sketch, mirror_turns

__all__ = ["BEND_LIMIT", "bend_cross", "cross", "cross_character"]

#: How far the upper arms can be bent towards the lower ones [degrees].
BEND_LIMIT = 135.0

_HALF = float(np.sqrt(0.5))
_BENT = 0.8  # of the height of the X: what its bend goes over


def cross(length: float, thickness: float, depth: float) -> Field:
    """Two rounded bars crossing at right angles in the x-y plane."""
    _check_thickness(length, thickness)
    # The bars are joined as if endless in depth, then cut: their flat sides stay flat where they cross.
    bar = box((0.0, 0.0, 0.0), (length / 2, thickness / 2, length), rounding=thickness / 8)
    bars = [
        moved(bar, np.array([[_HALF, -side, 0.0], [side, _HALF, 0.0], [0.0, 0.0, 1.0]])) for side in (_HALF, -_HALF)
    ]
    slab = box((0.0, 0.0, 0.0), (length, length, depth / 2))
    return smooth_intersection(smooth_union(bars, thickness / 4), slab, min(thickness, depth) / 8)


def bend_cross(angle: float) -> Turns:
    """Turns that bend the upper arms towards the lower ones by `angle` [degrees], evenly along the arms."""
    share = angle / 4
    upper = {f"left_upper_{part}": (share, 0.0, 0.0) for part in ("near", "far")}
    lower = {f"left_lower_{part}": (-share, 0.0, 0.0) for part in ("near", "far")}
    return {**upper, **lower, **mirror_turns({**upper, **lower})}


def cross_character(length: float, thickness: float, depth: float) -> Character:
    """A middle bone and two bones in each arm; poses lie on one line, the angle of the bend."""
    _check_thickness(length, thickness)
    near, far, end = (_HALF * reach for reach in (min(0.4 * thickness, 0.1 * length), 0.25 * length, 0.46 * length))
    bones = [Bone("middle", None, (0.0, -near / 2, 0.0), (0.0, near / 2, 0.0))]
    for name, up in (("upper", 1.0), ("lower", -1.0)):
        for part, parent, start, stop in (("near", "middle", near, far), ("far", f"left_{name}_near", far, end)):
            limit = BEND_LIMIT / 4
            bones.append(
                Bone(f"left_{name}_{part}", parent, (start, up * start, 0.0), (stop, up * stop, 0.0), x=(-limit, limit))
            )
    poses = {"bent": bend_cross(BEND_LIMIT), "bent_back": bend_cross(-BEND_LIMIT), "half_bent": bend_cross(67.5)}
    motion = ((0.0, "rest"), (0.7, "bent"), (1.4, "rest"), (2.1, "bent_back"), (2.8, "rest"))
    shares = {f"{side}_{name}_{part}": 0.5 * up for side in ("left", "right") for part in ("near", "far")
              for name, up in (("upper", 1.0), ("lower", -1.0))}  # fmt: skip
    reach = _BENT * _HALF * length / 2
    bend = Arc((0.0, -reach, 0.0), (0.0, reach, 0.0), (1.0, 0.0, 0.0), shares)
    return replace(Sketch(mirror_bones(bones), poses, motion).build(), arcs={"bend": bend})


def _check_thickness(length: float, thickness: float) -> None:
    if thickness >= length:
        raise SceneError(f"an x with bars of length {length} cannot be {thickness} thick; give a smaller thickness.")
