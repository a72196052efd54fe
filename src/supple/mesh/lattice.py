"""The body-centred cubic lattice of isosurface stuffing: cell corners and centres, joined into equal tets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError

__all__ = ["Lattice", "TetFamily"]

_MOST_CELLS = 50_000_000  # beyond this the lattice needs many gigabytes

#: Sign of the permutation (k, j, l) of the axes.
_PARITY = {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (0, 2, 1): -1, (2, 1, 0): -1, (1, 0, 2): -1}


@dataclass(frozen=True)
class TetFamily:
    """All lattice tets of one orientation and the way they are cut."""

    points: tuple[NDArray[np.int64], ...]  #: four arrays of point numbers, ordered as in `stencil`
    parity: int  #: which half of the stencil table serves them, 0 or 1
    positive: bool  #: whether the order of the points gives a positive volume


@dataclass(frozen=True)
class Lattice:
    """Cubic cells; points are numbered corners first, then cell centres, the last axis running fastest."""

    origin: NDArray[np.float64]  #: lowest corner [m], shape (3,)
    spacing: float  #: side of a cell [m]
    cells: tuple[int, int, int]  #: cells along each axis

    @classmethod
    def covering(
        cls,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        spacing: float,
        shift: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Lattice:
        """A lattice that reaches at least one cell beyond a box [m] on every side.

        It is centred on the box, or off the centre by `shift` cells, each below 1.
        """
        margin = 2 + 2 * (np.array(shift) != 0)  # a shift must not bring the border into the box
        counts = np.maximum(np.ceil((high - low) / spacing - 1e-9), 1).astype(int) + margin
        if math.prod(int(count) for count in counts) > _MOST_CELLS:
            raise MeshError(f"a lattice spacing of {spacing:.3g} m does not fit in memory; ask for a coarser mesh.")
        origin = (low + high) / 2 - spacing * (counts / 2 - np.array(shift))
        return cls(origin, spacing, (int(counts[0]), int(counts[1]), int(counts[2])))

    @property
    def corner_shape(self) -> tuple[int, int, int]:
        """Corners along each axis."""
        return self.cells[0] + 1, self.cells[1] + 1, self.cells[2] + 1

    def point_count(self) -> int:
        """Number of corners and centres."""
        return math.prod(self.corner_shape) + math.prod(self.cells)

    def corners(self) -> NDArray[np.int64]:
        """Point numbers of the cell corners, shape cells + 1."""
        return np.arange(math.prod(self.corner_shape)).reshape(self.corner_shape)

    def centres(self) -> NDArray[np.int64]:
        """Point numbers of the cell centres, shape cells."""
        return math.prod(self.corner_shape) + np.arange(math.prod(self.cells)).reshape(self.cells)

    def positions(self, points: NDArray[np.int64]) -> NDArray[np.float64]:
        """Positions [m] of the numbered points, shape (k, 3)."""
        first = math.prod(self.corner_shape)
        centre = points >= first
        steps = np.empty((len(points), 3))
        steps[~centre] = np.column_stack(np.unravel_index(points[~centre], self.corner_shape))
        steps[centre] = np.column_stack(np.unravel_index(points[centre] - first, self.cells)) + np.array(0.5)
        return self.origin + self.spacing * steps

    def edges(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], bool]]:
        """Ends of all edges, family by family; long ones are sides of a cell, short ones half diagonals."""
        for points, axis in product((self.corners(), self.centres()), range(3)):
            yield _slice(points, axis, 0, -1).ravel(), _slice(points, axis, 1, None).ravel(), True
        corners, centres = self.corners(), self.centres().ravel()
        for shift in product((0, 1), repeat=3):
            yield _window(corners, shift, self.cells).ravel(), centres, False

    def tets(self) -> Iterator[TetFamily]:
        """All tets: around each face between two cells, one for each of its four edges."""
        corners, centres = self.corners(), self.centres()
        for face_axis, edge_axis, side_axis in permutations(range(3)):
            faces = tuple(count - (axis == face_axis) for axis, count in enumerate(self.cells))
            lower = _slice(centres, face_axis, 0, -1).ravel()
            upper = _slice(centres, face_axis, 1, None).ravel()
            for side in (0, 1):
                shift = np.zeros(3, dtype=int)
                shift[face_axis], shift[side_axis] = 1, side
                start = _window(corners, tuple(shift), faces).ravel()
                shift[edge_axis] = 1
                end = _window(corners, tuple(shift), faces).ravel()
                turn = _PARITY[edge_axis, face_axis, side_axis] * (1 if side else -1)
                yield TetFamily((start, end, lower, upper), side, turn > 0)

    def border(self) -> NDArray[np.int64]:
        """Points of the outermost cells, which a shape within the covered box never reaches, shape (k,)."""
        shells = []
        for points in (self.corners(), self.centres()):
            shell = np.ones(points.shape, dtype=bool)
            shell[1:-1, 1:-1, 1:-1] = False
            shells.append(points[shell])
        return np.concatenate(shells)


def _slice(points: NDArray[np.int64], axis: int, start: int, stop: int | None) -> NDArray[np.int64]:
    chosen = [slice(None)] * 3
    chosen[axis] = slice(start, stop)
    return points[tuple(chosen)]


def _window(points: NDArray[np.int64], shift: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.int64]:
    return points[tuple(slice(start, start + count) for start, count in zip(shift, shape, strict=True))]
