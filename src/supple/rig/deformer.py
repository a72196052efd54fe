"""A deformer: a rig that moves whatever points it is given, and so can stand on top of another rig."""

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.rig.levers import measure_levers
from supple.rig.pose import check_pose

__all__ = ["Deformer"]

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None


class Deformer(ABC):
    """Moves points by a few controls; with all of them at zero it moves nothing."""

    is_whole = False
    """Whether it must see all points to move one of them."""
    is_even = False
    """Whether it moves all points alike, by where they are and not by which they are."""

    def __init__(self, rest: ArrayLike, controls: tuple[str, ...]) -> None:
        self.rest: FloatArray = as_floats(rest, f"{type(self).__name__}(rest)", ("n", 3), unit="m")
        self.controls = controls
        self.neutral: FloatArray = np.zeros(len(controls))

    @abstractmethod
    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        """Where points [m], (k, 3), go that belong to the given vertices, None for all."""

    def positions(self, pose: FloatArray, vertices: Vertices = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        asked = None if self.is_whole else vertices
        moved = self.move(check_pose(pose, self.controls), self.rest if asked is None else self.rest[asked], asked)
        return moved if asked is vertices else moved[vertices]

    def pick(self, vertices: NDArray[np.integer]) -> "Deformer":
        """The chosen vertices alone, of one that moves all alike."""
        part = copy(self)
        part.scales, part.rest = self.scales, self.rest[vertices]  # a unit stands for what it does to the whole
        return part

    @cached_property
    def scales(self) -> FloatArray:
        """Length that a unit of each control stands for [m], (p,)."""
        return measure_levers(self)

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], (p,); a full turn of a deformer is another shape, and so another point."""
        return check_pose(pose, self.controls) * self.scales
