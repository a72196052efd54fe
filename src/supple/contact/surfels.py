"""A body that touches itself at sampled vertices: each stands for a disc of its surface.

A disc is the vertex, two tangents that move with the vertices around it, and a radius with which the discs cover the
surface, smaller around sharp edges, where no plane is near it. Another vertex touches it where it comes from outside
and would pass behind the disc; one that presses keeps its side up to a radius deep, and one that was behind it all the
time, across a limb, never touches it. So sampled vertices stay out of the discs; what lies between samples may overlap
by a small part of their spacing, and what closes in faster than a few radii a step may pass.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.contact.contacts import SELF, Contacts
from supple.contact.pressing import Pressing
from supple.contact.surfel_search import face, find_discs
from supple.mesh import TriMesh

__all__ = ["Surfels"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_OVERLAP = 1.2  # radius of a disc by how far the part of the surface reaches that it stands for


class Surfels:
    """Discs around sampled vertices of a closed surface."""

    def __init__(self, surface: TriMesh, vertices: IntArray, parts: IntArray) -> None:
        """`parts` numbers the connected component of the body that each vertex belongs to, (n,)."""
        self.vertices = vertices
        self._parts = parts[vertices]
        self._rank = np.full(len(surface.vertices), -1, np.int32)
        self._rank[vertices] = np.arange(len(vertices), dtype=np.int32)
        self._tangents = _tangent_rows(surface, vertices)
        rest = np.ascontiguousarray(surface.vertices[vertices])
        self.radius = _OVERLAP * _cover(surface, rest) * _flatness(surface)[vertices]
        """[m], (k,)"""
        self._rest, self._facing = rest, self.facing()(surface.vertices)

    def facing(self, rows: sp.csr_array | None = None) -> Callable[[FloatArray], FloatArray]:
        """What gives the outward unit normals of discs, (k, 3), from positions, or from q where these are rows @ q."""
        tangents = self._tangents if rows is None else sp.csr_array(self._tangents @ rows)
        parts = np.ascontiguousarray(tangents.data.real), np.ascontiguousarray(tangents.data.imag)
        return partial(face, tangents.indptr, tangents.indices, *parts)

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

        Each sample touches one disc at most, of those that it is over the nearest along the surface. How far two may
        come together in the step is what both stray from the way of the body: its own forces may turn any way.
        """
        own = pressing.source == SELF
        known = np.full(len(self.vertices), -1, np.int32)
        known[self._rank[pressing.vertex[own]]] = self._rank[pressing.partner[own]]
        partner = find_discs(
            begin, predicted, normal, known, self._parts, self._rest, self._facing, self.radius, margin + thickness
        )
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
    """Derivatives of the position along two directions of the surface at rest, fitted to the edges at each vertex.

    The first are the real parts, the second the imaginary ones: rows of one pattern, (k, n).
    """
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
    rows, columns = np.concatenate([row, row]), np.concatenate([near.indices, vertices[row]])
    both = values[:, 0] + 1j * values[:, 1]
    return sp.csr_array((np.concatenate([both, -both]), (rows, columns)), shape=(count, total))


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
