"""How well shaped the tets of a mesh are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.mesh.adjacency import TET_FACES, unique_edges
from supple.mesh.tetmesh import TetMesh, tet_volumes

__all__ = ["MeshQuality", "assess_quality", "dihedral_angles", "edge_lengths", "mean_ratios"]

#: Pairs of faces (named by the corner they lie opposite) that meet in an edge.
_FACE_PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))

#: A tet with a mean ratio below this is counted as a sliver.
SLIVER = 0.1


@dataclass(frozen=True)
class MeshQuality:
    """The figures `info` and `doctor` print."""

    min_dihedral: float  #: smallest angle between two faces of a tet [degrees]
    max_dihedral: float  #: largest angle between two faces of a tet [degrees]
    min_mean_ratio: float  #: of the worst tet; 1 is a regular tet, 0 a flat one
    median_mean_ratio: float
    worst_tet: int  #: index of the tet with the smallest mean ratio
    slivers: int  #: tets with a mean ratio below 0.1
    min_edge: float  #: shortest edge [m]
    mean_edge: float  #: [m]
    max_edge: float  #: longest edge [m]


def assess_quality(mesh: TetMesh) -> MeshQuality:
    """Angles, mean ratios and edge lengths of the mesh at rest."""
    angles = dihedral_angles(mesh.vertices, mesh.tets)
    ratios = mean_ratios(mesh.vertices, mesh.tets)
    lengths = edge_lengths(mesh)
    return MeshQuality(
        min_dihedral=float(angles.min()),
        max_dihedral=float(angles.max()),
        min_mean_ratio=float(ratios.min()),
        median_mean_ratio=float(np.median(ratios)),
        worst_tet=int(ratios.argmin()),
        slivers=int((ratios < SLIVER).sum()),
        min_edge=float(lengths.min()),
        mean_edge=float(lengths.mean()),
        max_edge=float(lengths.max()),
    )


def dihedral_angles(vertices: NDArray[np.float64], tets: NDArray[np.int32]) -> NDArray[np.float64]:
    """Angles between the faces of every tet [degrees], shape (m, 6)."""
    corners = vertices[tets]
    faces = corners[:, TET_FACES]
    normals = np.cross(faces[:, :, 1] - faces[:, :, 0], faces[:, :, 2] - faces[:, :, 0])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    cosines = [-np.einsum("ij,ij->i", normals[:, a], normals[:, b]) for a, b in _FACE_PAIRS]
    angles: NDArray[np.float64] = np.degrees(np.arccos(np.clip(np.column_stack(cosines), -1.0, 1.0)))
    return angles


def mean_ratios(vertices: NDArray[np.float64], tets: NDArray[np.int32]) -> NDArray[np.float64]:
    """12 (3 V)^(2/3) / sum of squared edge lengths of every tet: 1 if regular, 0 if flat, shape (m,)."""
    corners = vertices[tets]
    squares = sum(np.sum((corners[:, a] - corners[:, b]) ** 2, axis=1) for a, b in _FACE_PAIRS)
    ratios: NDArray[np.float64] = 12.0 * np.cbrt(3.0 * np.abs(tet_volumes(vertices, tets))) ** 2 / squares
    return ratios


def edge_lengths(mesh: TetMesh) -> NDArray[np.float64]:
    """Rest length [m] of every edge once, shape (e,)."""
    ends = mesh.vertices[unique_edges(mesh.tets, len(mesh.vertices))]
    lengths: NDArray[np.float64] = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    return lengths
