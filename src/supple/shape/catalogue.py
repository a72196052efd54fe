"""The built-in shapes by name, at any size and resolution."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from supple.arguments import check_type
from supple.errors import SceneError
from supple.mesh import TetMesh, fill_box, tetrahedralise
from supple.shape import ape, arm, bear, creature, figure, finger, hand, head, walker
from supple.shape.character import Character
from supple.shape.cross import cross, cross_character
from supple.shape.distance import Field, box, scaled, sphere
from supple.shape.rod import capsule, capsule_character, rod, rod_character
from supple.shape.sketch import Sketch

__all__ = ["SHAPES", "Shape", "make_character", "make_shape"]


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid that can be built at any size."""

    name: str
    summary: str  #: one line for `--list`
    sizes: Mapping[str, float]  #: size keys and their defaults [m]
    build: Callable[..., Field]  #: called with the sizes
    animate: Callable[..., Character] | None = None  #: called with the sizes; None without a skeleton
    is_box: bool = False  #: meshed by an exact grid instead of stuffing
    resolution: int = 20  #: cells along the longest side when neither resolution nor elements is asked for

    def distance(self, **size: float) -> Field:
        """Signed distance [m] of the shape; sizes not given are the defaults."""
        return self.build(**self._check_sizes(size))

    def mesh(self, resolution: int | None = None, elements: int | None = None, **size: float) -> TetMesh:
        """Tets of the shape in one piece, by cells along the longest side or by the number of tets."""
        if resolution is None and elements is None:
            resolution = self.resolution
        field = self.distance(**size)
        if self.is_box:
            return fill_box(*field.bounds(), resolution, elements)
        return tetrahedralise(field, resolution, elements, keep=1.0)

    def character(self, **size: float) -> Character:
        """Skeleton, poses and motion that fit the shape; sizes not given are the defaults."""
        if self.animate is None:
            able = ", ".join(name for name, shape in SHAPES.items() if shape.animate)
            raise SceneError(f"the shape '{self.name}' has no skeleton; use one of {able}.")
        return self.animate(**self._check_sizes(size))

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


def _drawn(
    name: str, summary: str, measure: str, size: float, draw: Callable[[], Field], sketch: Sketch, resolution: int
) -> Shape:
    """A shape drawn for one size [m] and scaled to others."""
    return Shape(
        name,
        summary,
        {measure: size},
        lambda **sizes: scaled(draw(), sizes[measure] / size),
        lambda **sizes: sketch.build(sizes[measure] / size),
        resolution=resolution,
    )


_BEAM = {"length": 1.0, "width": 0.2, "height": 0.2}
_THIN = {"length": 1.0, "width": 0.05, "height": 0.05}
_BOX = {"length": 1.0, "width": 1.0, "height": 1.0}
_ROD = {"length": 1.0, "radius": 0.15}
_CROSS = {"length": 1.0, "thickness": 0.2, "depth": 0.2}

#: All shapes by name. Plain ones are centred on the origin with the long axis along x, fingers too; the others stand at
#: y = 0 and face z.
SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("beam", "a beam along x", _BEAM, _beam, is_box=True),
        Shape("thin_beam", "a slender beam along x", _THIN, _beam, is_box=True),
        Shape("box", "a block", _BOX, _beam, is_box=True),
        Shape("sphere", "a ball", {"radius": 0.5}, _sphere),
        Shape("capsule", "a rod along x with round ends", _ROD, capsule, capsule_character),
        Shape("cylinder", "a rod along x with flat ends", _ROD, rod, rod_character),
        Shape("x", "two crossed bars", _CROSS, cross, cross_character),
        _drawn("creature", "a small friendly creature", "height", creature.HEIGHT, creature.draw, creature.SKETCH, 20),
        _drawn("finger", "a finger along x", "length", finger.LENGTH, finger.draw, finger.SKETCH, 20),
        _drawn("arm", "a torso with one arm", "height", arm.HEIGHT, arm.draw, arm.SKETCH, 40),
        _drawn("hand", "a hand held up", "length", hand.LENGTH, hand.draw, hand.SKETCH, 32),
        _drawn("head", "a hollow head with ears", "height", head.HEIGHT, head.draw, head.SKETCH, 32),
        _drawn("figure", "a figure with big ears", "height", figure.HEIGHT, figure.draw, figure.SKETCH, 32),
        _drawn("bear", "a bear on four legs", "length", bear.LENGTH, bear.draw, bear.SKETCH, 32),
        _drawn("ape", "an ape with long arms", "height", ape.HEIGHT, ape.draw, ape.SKETCH, 32),
        _drawn("walker", "a big horned walker with a tail", "height", walker.HEIGHT, walker.draw, walker.SKETCH, 56),
    )
}


def make_shape(name: str, resolution: int | None = None, elements: int | None = None, **size: float) -> TetMesh:
    """Tets of a built-in shape; for an unknown name or size, a SceneError suggests the nearest known one."""
    for key, value in size.items():
        check_type(value, f"make_shape({key})", (int, float, np.number), "a number")
    return _find(name).mesh(resolution, elements, **size)


def make_character(name: str, **size: float) -> Character:
    """Skeleton, poses and motion of a built-in shape of the same size."""
    return _find(name).character(**size)


def _find(name: str) -> Shape:
    check_type(name, "make_shape(name)", str, "the name of a shape", "such as 'beam'.")
    key = name.lower()
    if key not in SHAPES:
        raise SceneError(f"there is no shape '{name}'; {_suggest(key, SHAPES)}")
    return SHAPES[key]


def _suggest(word: str, known: Iterable[str]) -> str:
    likeness = {name: difflib.SequenceMatcher(None, name, word).ratio() for name in known}
    near = max(likeness, key=lambda name: likeness[name])  # of equals, the first
    return f"did you mean '{near}'?" if likeness[near] >= 0.5 else f"known are {', '.join(likeness)}."
