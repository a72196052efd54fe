"""The built-in shapes by name, at any size and resolution."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from supple.errors import SceneError
from supple.mesh import TetMesh, fill_box, tetrahedralise
from supple.shape.creature import creature
from supple.shape.distance import Field, box, cone, cylinder, moved, smooth_intersection, smooth_union, sphere

__all__ = ["SHAPES", "Shape", "make_shape"]

#: Cells along the longest side when neither resolution nor elements is asked for.
DEFAULT_RESOLUTION = 20


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid that can be built at any size."""

    name: str
    summary: str  #: one line for `--list`
    sizes: Mapping[str, float]  #: size keys and their defaults [m]
    build: Callable[..., Field]  #: called with the sizes
    is_box: bool = False  #: meshed by an exact grid instead of stuffing

    def distance(self, **size: float) -> Field:
        """Signed distance [m] of the shape; sizes not given are the defaults."""
        return self.build(**self._check_sizes(size))

    def mesh(self, resolution: int | None = None, elements: int | None = None, **size: float) -> TetMesh:
        """Tets of the shape in one piece, by cells along the longest side or by the number of tets."""
        if resolution is None and elements is None:
            resolution = DEFAULT_RESOLUTION
        field = self.distance(**size)
        if self.is_box:
            return fill_box(*field.bounds(), resolution, elements)
        return tetrahedralise(field, resolution, elements, keep=1.0)

    def _check_sizes(self, size: Mapping[str, float]) -> dict[str, float]:
        for key, value in size.items():
            if key not in self.sizes:
                raise SceneError(f"the shape '{self.name}' has no size '{key}'; {_suggest(key, self.sizes)}")
            if not (np.isfinite(value) and value > 0):
                raise SceneError(f"{key} = {value} of the shape '{self.name}' must be a length above 0 in metres.")
        return {**self.sizes, **size}


def _beam(length: float, width: float, height: float) -> Field:
    return box((0.0, 0.0, 0.0), (length / 2, height / 2, width / 2))


def _sphere(radius: float) -> Field:
    return sphere((0.0, 0.0, 0.0), radius)


def _capsule(length: float, radius: float) -> Field:
    reach = length / 2 - radius
    if reach <= 0:
        raise SceneError(
            f"a capsule of length {length} cannot have radius {radius}; give a radius below half the length."
        )
    return cone((-reach, 0.0, 0.0), (reach, 0.0, 0.0), radius, radius)


def _cylinder(length: float, radius: float) -> Field:
    return cylinder((0.0, 0.0, 0.0), length / 2, radius)


def _cross(length: float, thickness: float, depth: float) -> Field:
    """Two rounded bars crossing at right angles in the x-y plane."""
    if thickness >= length:
        raise SceneError(f"an x with bars of length {length} cannot be {thickness} thick; give a smaller thickness.")
    # The bars are joined as if endless in depth, then cut: their flat sides stay flat where they cross.
    bar = box((0.0, 0.0, 0.0), (length / 2, thickness / 2, length), rounding=thickness / 8)
    half = np.sqrt(0.5)
    bars = [moved(bar, [[half, -side, 0], [side, half, 0], [0, 0, 1]]) for side in (half, -half)]
    slab = box((0.0, 0.0, 0.0), (length, length, depth / 2))
    return smooth_intersection(smooth_union(bars, thickness / 4), slab, min(thickness, depth) / 8)


_BEAM = {"length": 1.0, "width": 0.2, "height": 0.2}
_THIN = {"length": 1.0, "width": 0.05, "height": 0.05}
_BOX = {"length": 1.0, "width": 1.0, "height": 1.0}

#: All shapes by name, centred on the origin with the long axis along x; the creature stands at y = 0.
SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("beam", "a beam along x", _BEAM, _beam, is_box=True),
        Shape("thin_beam", "a slender beam along x", _THIN, _beam, is_box=True),
        Shape("box", "a block", _BOX, _beam, is_box=True),
        Shape("sphere", "a ball", {"radius": 0.5}, _sphere),
        Shape("capsule", "a rod along x with round ends", {"length": 1.0, "radius": 0.15}, _capsule),
        Shape("cylinder", "a rod along x with flat ends", {"length": 1.0, "radius": 0.15}, _cylinder),
        Shape("x", "two crossed bars", {"length": 1.0, "thickness": 0.2, "depth": 0.2}, _cross),
        Shape("creature", "a small friendly creature with floppy ears and a tail", {"height": 1.0}, creature),
    )
}


def make_shape(name: str, resolution: int | None = None, elements: int | None = None, **size: float) -> TetMesh:
    """Tets of a built-in shape; for an unknown name or size, a SceneError suggests the nearest known one."""
    key = name.lower()
    if key not in SHAPES:
        raise SceneError(f"there is no shape '{name}'; {_suggest(key, SHAPES)}")
    return SHAPES[key].mesh(resolution, elements, **size)


def _suggest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(names)}."
