"""A coarse stand-in for a body in a subspace, so that finding contacts does not lift every vertex.

[TOK14] 5.1 looks for contacts with a low-resolution mesh first. Here the coarse cells are nodes of the tet tree. In a
cell every column of the basis is an affine map of the rest position and a small rest; so the reduced coordinates
alone give a box that holds the whole cell: the affine map of its rest box, and the rests at their largest. Only cells
whose box holds a tested point are lifted. Nothing is missed: a box may be too large, never too small.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supple.contact.hierarchy import LeafPairs, cross_points
from supple.contact.self_contact import SelfContact, Touching
from supple.contact.touched import take_lists

__all__ = ["Proxy"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_CELL = 8  # leaves of the tet tree in a cell
_ROUND_OFF = 1e-12  # of the size of the body


class Proxy:
    """Finds self-contact at positions x = rest + basis q from few of them."""

    def __init__(self, contact: SelfContact, rest: FloatArray, basis: FloatArray) -> None:
        """`rest` are positions [m], (n, 3), and `basis` displacements [m] for each coordinate, (n, 3, r)."""
        self._contact = contact
        self._rest, self._basis = np.ascontiguousarray(rest), np.ascontiguousarray(basis)
        tree, columns = contact.tree, basis.shape[2]
        self.cells = max(1, tree.leaves // _CELL)
        """Number of coarse cells."""
        cell = np.arange(tree.leaves).repeat(np.diff(tree.corner_start)) // (tree.leaves // self.cells)
        keys = np.unique(cell * len(rest) + tree.corners)  # every vertex of a cell once
        self._members = (keys % len(rest)).astype(np.int32)
        self._start = np.searchsorted(keys, np.arange(self.cells + 1) * len(rest))
        inside, first = rest[self._members], self._start[:-1]
        low, high = np.minimum.reduceat(inside, first), np.maximum.reduceat(inside, first)
        self._centre, self._half = (low + high) / 2.0, (high - low) / 2.0
        self._slack = _ROUND_OFF * float(np.ptp(rest, axis=0).max())
        self._affine = np.empty((self.cells, 4, 3, columns))
        """Motion of a cell's centre, and its change along x, y and z, for each coordinate."""
        self._beyond = np.empty((self.cells, 3, columns))
        """Largest part of each coordinate that is not affine [m]."""
        for number in range(self.cells):
            self._fit(number)
        self._x = np.empty_like(self._rest)  # rows are filled before they are read: nothing passes between calls

    def _fit(self, cell: int) -> None:
        vertices = self._members[self._start[cell] : self._start[cell + 1]]
        arms = np.column_stack([np.ones(len(vertices)), self._rest[vertices] - self._centre[cell]])
        motion = self._basis[vertices].reshape(len(vertices), -1)
        affine = np.linalg.lstsq(arms, motion, rcond=None)[0]
        self._affine[cell] = affine.reshape(4, 3, -1)
        self._beyond[cell] = np.abs(motion - arms @ affine).max(axis=0).reshape(3, -1)

    def boxes(self, q: FloatArray) -> FloatArray:
        """Boxes that hold all vertices of every cell, and of the nodes above them, (2 cells, 6)."""
        affine = (self._affine.reshape(-1, len(q)) @ q).reshape(-1, 4, 3)
        beyond = (self._beyond.reshape(-1, len(q)) @ np.abs(q)).reshape(-1, 3)
        stretch = np.abs(np.eye(3) + affine[:, 1:])  # rows: how a cell's side along x, y and z is carried
        half = np.einsum("cj,cji->ci", self._half, stretch) + beyond + self._slack
        centre = self._centre + affine[:, 0]
        boxes = np.zeros((2 * self.cells, 6))
        boxes[self.cells :, :3], boxes[self.cells :, 3:] = centre - half, centre + half
        first = self.cells
        while first > 1:
            below, first = boxes[first : 2 * first].reshape(-1, 2, 6), first // 2
            boxes[first : 2 * first, :3] = below[:, :, :3].min(axis=1)
            boxes[first : 2 * first, 3:] = below[:, :, 3:].max(axis=1)
        return boxes

    def lift(self, q: FloatArray, vertices: IntArray) -> FloatArray:
        """Positions of vertices [m], (k, 3)."""
        _lift(self._rest, self._basis, q, vertices, self._x)
        return self._x[vertices]

    def cell_vertices(self, cells: IntArray) -> IntArray:
        """Vertices of the cells, those of several once for each."""
        return take_lists(self._start, self._members, np.unique(cells))

    def find(self, q: FloatArray, candidates: IntArray) -> Touching:
        """What `SelfContact.find` gives for the candidates at rest + basis q, but for round-off."""
        contact, x = self._contact, self._x
        vertices = contact.check_candidates(candidates)
        around = contact.triangles[contact.fans.around(vertices)] if contact.thickness > 0.0 else vertices
        self._fill(q, np.append(vertices, around))
        points = contact.place(x, vertices)
        cells = cross_points(points, self.boxes(q))
        self._fill(q, self.cell_vertices(cells.leaves))
        tet, triangle = contact.locate(points, vertices, self._leaves(cells), x)
        touched = contact.triangles[triangle[tet >= 0]]
        self._fill(q, np.unique(contact.triangles[contact.fans.around(np.unique(touched))]))
        return contact.touch(points, vertices, tet, triangle, x)

    def _fill(self, q: FloatArray, vertices: IntArray) -> None:
        _lift(self._rest, self._basis, q, vertices, self._x)

    def _leaves(self, cells: LeafPairs) -> LeafPairs:
        """The leaves of the tet tree in place of the cells that hold them."""
        each = self._contact.tree.leaves // self.cells
        leaves = cells.leaves[:, None] * each + np.arange(each, dtype=np.int32)
        return LeafPairs(cells.start * each, leaves.ravel().astype(np.int32))


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _lift(rest: FloatArray, basis: FloatArray, q: FloatArray, vertices: IntArray, x: FloatArray) -> None:
    for vertex in vertices:
        for axis in range(3):
            moved = 0.0
            for column in range(len(q)):
                moved += basis[vertex, axis, column] * q[column]
            x[vertex, axis] = rest[vertex, axis] + moved
