"""A body that touches itself at sampled vertices: each stands for a disc of its surface.

A disc is the vertex, two tangents that move with the vertices around it, and a radius with which the discs cover the
surface, smaller around sharp edges, where no plane is near it. Another vertex touches it where it comes from outside
and would pass behind the disc; one that presses keeps its side up to a radius deep, and one that was behind it all the
time, across a limb, never touches it. So sampled vertices stay out of the discs; what lies between samples may overlap
by a small part of their spacing, and what closes in faster than a few radii a step may pass.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.contact.contacts import SELF, Contacts
from supple.contact.pressing import Pressing
from supple.mesh import TriMesh

__all__ = ["Surfels"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_OVERLAP = 1.2  # radius of a disc by how far the part of the surface reaches that it stands for
_BEYOND = 0.2  # radii behind a disc up to which a vertex that slides on is still taken for one from outside
_AT_REST = 2.5  # radii within which a vertex that is behind a disc at rest is of the same limb
_BESIDE = 0.5  # cosine between normals above which two samples face the same way; those of edges look far aside
_FASTEST = 4.0  # radii within which a step may close a gap; what is faster may pass through
_ABOVE = 0.1  # radii over a disc up to which it is behind


class Surfels:
    """Discs around sampled vertices of a closed surface."""

    def __init__(self, surface: TriMesh, vertices: IntArray, parts: IntArray) -> None:
        """`parts` numbers the connected component of the body that each vertex belongs to, (n,)."""
        self.vertices = vertices
        self._parts = parts[vertices]
        self.tangents = _tangent_rows(surface, vertices)
        """Rows that give two tangents each from the positions, (2 k, n): all first ones, then all second ones."""
        rest = surface.vertices[vertices]
        self.radius = _OVERLAP * _cover(surface, rest) * _flatness(surface)[vertices]
        """[m], (k,)"""
        self._rest, self._facing = rest, self.normals(self.tangents @ surface.vertices)

    def normals(self, tangents: FloatArray) -> FloatArray:
        """Outward unit normals, (k, 3), from tangents, (2 k, 3)."""
        count = len(self.vertices)
        out = np.cross(tangents[:count], tangents[count:])
        length = np.linalg.norm(out, axis=1)
        return np.asarray(out / np.maximum(length, np.finfo(float).tiny)[:, None])

    def find(
        self,
        begin: FloatArray,
        predicted: FloatArray,
        normal: FloatArray,
        pressing: Pressing,
        margin: float,
        thickness: float = 0.0,
    ) -> Contacts:
        """Contacts of samples that go from `begin` to `predicted` [m], (k, 3), where discs face along `normal`.

        Each sample touches one disc at most, of those that it is over the nearest along the surface.
        """
        rank = np.full(int(self.vertices.max()) + 1, -1, np.int32)
        rank[self.vertices] = np.arange(len(self.vertices), dtype=np.int32)
        own = pressing.source == SELF
        known = np.full(len(self.vertices), -1, np.int32)
        known[rank[pressing.vertex[own]]] = rank[pressing.partner[own]]
        travel = predicted - begin
        closing = 2.0 * float(np.sqrt(np.square(travel - travel.mean(axis=0)).sum(axis=1).max()))
        widest = float(self.radius.max())
        reach = margin + thickness + min(closing, _FASTEST * widest)  # the body's own forces may turn any way
        partner = _find_discs(
            begin, normal, known, self._parts, self._rest, self._facing, self.radius, reach,
            *_sort_cells(begin, widest + reach),
        )  # fmt: skip
        rows = np.flatnonzero(partner >= 0)
        disc = partner[rows]
        count, touched = len(rows), self.vertices[disc]
        vertices = np.repeat(touched[:, None], 4, axis=1)
        vertices[:, 0] = self.vertices[rows]
        return Contacts(
            vertices=vertices,
            weights=np.tile([1.0, -1.0, 0.0, 0.0], (count, 1)),
            offset=thickness * normal[disc],
            normal=normal[disc],
            area=np.zeros(count),
            velocity=np.zeros((count, 3)),
            source=np.full(count, SELF, np.int32),
            feature=touched,
        )


def _tangent_rows(surface: TriMesh, vertices: IntArray) -> sp.csr_array:
    """Derivatives of the position along two directions of the surface at rest, fitted to the edges at each vertex."""
    count, total = len(vertices), len(surface.vertices)
    normals = surface.vertex_normals()[vertices]
    edges = surface.edges()
    ends = np.concatenate([edges, edges[:, ::-1]]).T
    graph = sp.csr_array((np.ones(len(ends[0])), (ends[0], ends[1])), shape=(total, total))
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = np.cross(normals, axis)
    first /= np.linalg.norm(first, axis=1)[:, None]
    second = np.cross(normals, first)
    near = graph[vertices]
    row = np.repeat(np.arange(count), np.diff(near.indptr))
    arms = surface.vertices[near.indices] - surface.vertices[vertices[row]]
    arms = np.stack([np.einsum("ei,ei->e", arms, first[row]), np.einsum("ei,ei->e", arms, second[row])], axis=1)
    square = np.zeros((count, 2, 2))
    np.add.at(square, row, arms[:, :, None] * arms[:, None, :])
    values = np.einsum("eij,ej->ei", np.linalg.pinv(square)[row], arms)  # of the least-squares gradient
    blocks = []
    for k in range(2):
        rows = np.concatenate([row, row])
        columns = np.concatenate([near.indices, vertices[row]])
        data = np.concatenate([values[:, k], -values[:, k]])
        blocks.append(sp.csr_array((data, (rows, columns)), shape=(count, total)))
    return sp.csr_array(sp.vstack(blocks))


def _cover(surface: TriMesh, samples: FloatArray) -> FloatArray:
    """How far the triangles around those vertices reach that are nearest to each sample [m], (k,)."""
    nearest = cKDTree(samples).query(surface.vertices)[1][surface.triangles]
    centres = surface.vertices[surface.triangles].mean(axis=1)
    reach = np.zeros(len(samples))
    np.maximum.at(reach, nearest, np.linalg.norm(centres[:, None] - samples[nearest], axis=2))
    return reach


def _flatness(surface: TriMesh) -> FloatArray:
    """1 where a surface is flat around a vertex, towards 0 where triangles turn 60° away from its normal, (n,)."""
    normals = surface.vertex_normals()
    turned = np.einsum("tki,ti->tk", normals[surface.triangles], surface.face_normals())
    lowest = np.ones(len(surface.vertices))
    np.minimum.at(lowest, surface.triangles, turned)
    return np.maximum(2.0 * lowest - 1.0, 0.0)


def _sort_cells(points: FloatArray, size: float) -> tuple[NDArray[np.int64], ...]:
    """Cells of a grid that points are in, the same sorted, the points in that order, and the cells along each axis."""
    cell = np.floor((points - points.min(axis=0)) / size).astype(np.int64) + 1
    shape = cell.max(axis=0) + 2
    label = (cell[:, 0] * shape[1] + cell[:, 1]) * shape[2] + cell[:, 2]
    order = np.argsort(label, kind="stable")
    return label, label[order], order, shape


@njit(cache=True, error_model="numpy")
def _find_discs(
    begin: FloatArray,
    normal: FloatArray,
    known: IntArray,
    parts: IntArray,
    rest: FloatArray,
    facing: FloatArray,
    radius: FloatArray,
    reach: float,
    cell: NDArray[np.int64],
    sorted_cell: NDArray[np.int64],
    order: NDArray[np.int64],
    shape: NDArray[np.int64],
) -> IntArray:
    """For every sample the disc it touches, or -1."""
    partner = np.full(len(begin), -1, np.int32)
    for i in range(len(begin)):
        best = np.inf
        for column in range(9):
            middle = cell[i] + ((column // 3 - 1) * shape[1] + column % 3 - 1) * shape[2]
            for place in range(np.searchsorted(sorted_cell, middle - 1), len(order)):
                if sorted_cell[place] > middle + 1:
                    break
                j = order[place]
                n = normal[j]
                if np.dot(n, normal[i]) > _BESIDE:
                    continue  # faces the same way: beside it, not opposite
                height, aside = _split(n, begin[i] - begin[j])
                lowest = -1.0 if j == known[i] else -_BEYOND
                if aside > min(best, radius[j] ** 2) or height < lowest * radius[j]:
                    continue
                level, distance = _split(facing[j], rest[i] - rest[j])
                is_near = level**2 + distance < (_AT_REST * radius[j]) ** 2
                if parts[i] == parts[j] and is_near and level < _ABOVE * radius[j]:
                    continue
                if height < reach:
                    best = aside
                    partner[i] = j
    return partner


@njit(cache=True, inline="always")
def _split(n: FloatArray, vector: FloatArray) -> tuple[float, float]:
    """Length of a vector along n, and the square of what is across."""
    height = n[0] * vector[0] + n[1] * vector[1] + n[2] * vector[2]
    return height, vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2 - height**2
