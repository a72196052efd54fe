"""A character as a file holds it: meshes, the skeleton they hang on, and clips that move it.

Lengths are in metres and axes as in the file. Every format's reader ends here, and what is written again begins here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.io.axes import Axis
from supple.rig import Influences, Skeleton, dual_quaternion, linear_blend
from supple.rig.skinning import Mode

__all__ = ["Character", "Clip", "Part"]

FloatArray = NDArray[np.float64]
BLENDS = {"linear": linear_blend.blend_points, "dual_quaternion": dual_quaternion.blend_points}


@dataclass(frozen=True, eq=False)
class Part:
    """One mesh of a character, its vertices and polygons in the order of the file."""

    name: str
    place: str
    """Where it is in the file: the path of a prim, "NODE/PRIMITIVE" by their numbers in glTF, else empty."""
    vertices: FloatArray
    """Positions as bound to the skeleton at rest [m], (n, 3)."""
    counts: NDArray[np.int32]
    """Corners of every polygon, (p,)."""
    corners: NDArray[np.int32]
    """Vertices of all polygons in turn, (c,)."""
    influences: Influences | None = None
    """What moves its vertices; None: it stands still."""
    skinning: Mode = "linear"
    uv: FloatArray | None = None
    """Texture coordinates of every corner, origin at the lower left, (c, 2)."""
    material: str | None = None
    targets: Mapping[str, FloatArray] = field(default_factory=dict)
    """Offsets [m] of all vertices in each blend shape, (n, 3), added before skinning."""
    bind: FloatArray = field(default_factory=lambda: np.eye(4))
    """What takes the file's own numbers to `vertices`, (4, 4), column vectors."""

    def shaped(self, shares: FloatArray | None = None) -> FloatArray:
        """Positions at rest [m] with blend shapes mixed in by their shares (m,), (n, 3)."""
        points = self.vertices
        for share, offsets in zip([] if shares is None else shares, self.targets.values(), strict=False):
            points = points + share * offsets
        return points


@dataclass(frozen=True, eq=False)
class Clip:
    """What joints and blend shapes do, frame by frame."""

    name: str
    fps: float
    times: FloatArray
    """Times of the frames [s], evenly spaced, (k,)."""
    turns: FloatArray
    """A of each frame and joint, which takes points from rest by x = A X + t, (k, j, 3, 3)."""
    shifts: FloatArray
    """t of each frame and joint [m], (k, j, 3)."""
    shares: Mapping[int, FloatArray] = field(default_factory=dict)
    """Shares of the blend shapes of parts that have some, (k, m), by the part's number."""


@dataclass(frozen=True, eq=False)
class Character:
    """What a file holds of a character."""

    file: str
    parts: tuple[Part, ...]
    skeleton: Skeleton | None
    """Its joints at rest, in the order that influences and clips number them by."""
    clips: tuple[Clip, ...] = ()
    up_axis: Axis = "y"
    metres_per_unit: float = 1.0
    """Size of the file's own unit [m]."""
    notes: tuple[str, ...] = ()
    """What was set right or left out, in a user's words."""

    def clip(self, name: str | None = None) -> Clip | None:
        """A clip by its name; without one the first, or None where there is none."""
        if name is None:
            return self.clips[0] if self.clips else None
        found = next((clip for clip in self.clips if clip.name == name), None)
        if found is None:
            raise SceneError(f"{self.file} has no clip '{name}': {tell_choice(name, [c.name for c in self.clips])}")
        return found

    def keep(self, numbers: Sequence[int]) -> Character:
        """The same with these parts alone."""
        clips = tuple(
            replace(clip, shares={new: clip.shares[old] for new, old in enumerate(numbers) if old in clip.shares})
            for clip in self.clips
        )
        return replace(self, parts=tuple(self.parts[number] for number in numbers), clips=clips)

    def points(self, number: int, clip: Clip, frame: int) -> FloatArray:
        """Where a clip has the vertices of a part in a frame [m], (n, 3), by the file's own skinning."""
        part = self.parts[number]
        shares = clip.shares.get(number)
        rest = part.shaped(None if shares is None else shares[frame])
        if part.influences is None:
            return rest
        joints, weights = part.influences.joints, part.influences.weights
        return np.asarray(BLENDS[part.skinning](clip.turns[frame], clip.shifts[frame], joints, weights, rest))


def tell_choice(name: str, known: Sequence[str]) -> str:
    """What to name instead of `name`."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known) or 'none'}."
