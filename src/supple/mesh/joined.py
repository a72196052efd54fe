"""Several meshes as one, their vertices and tets in turn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from supple.mesh.embed import Embedding
from supple.mesh.tetmesh import TetMesh
from supple.mesh.trimesh import TriMesh

__all__ = ["join_embeddings", "join_surfaces", "join_tets"]


def join_tets(meshes: Mapping[str, TetMesh]) -> TetMesh:
    """All tets; the name of each mesh is that of a region."""
    parts = list(meshes.values())
    numbers = np.repeat(np.arange(len(parts)), [len(mesh.tets) for mesh in parts]).astype(np.int32)
    return TetMesh(
        np.concatenate([mesh.vertices for mesh in parts]),
        np.concatenate([mesh.tets + first for mesh, first in zip(parts, _starts(parts), strict=True)], dtype=np.int32),
        numbers,
        {name: number for number, name in enumerate(meshes)},
    )


def join_surfaces(surfaces: Mapping[str, TriMesh]) -> TriMesh:
    """All triangles, or polygons where one has them; the name of each surface is that of a group."""
    parts = list(surfaces.values())
    starts = _starts(parts)
    triangles = np.concatenate([one.triangles + first for one, first in zip(parts, starts, strict=True)])
    faces = [(one.face_counts, one.face_indices) for one in parts]
    counts = [np.full(len(one.triangles), 3) if c is None else c for one, (c, _) in zip(parts, faces, strict=True)]
    indices = [
        (one.triangles.ravel() if found is None else found) + first
        for one, (_, found), first in zip(parts, faces, starts, strict=True)
    ]
    return TriMesh(
        np.concatenate([one.vertices for one in parts]),
        triangles.astype(np.int32),
        face_counts=np.concatenate(counts).astype(np.int32),
        face_indices=np.concatenate(indices).astype(np.int32),
        groups=np.repeat(np.arange(len(parts)), [len(one) for one in counts]).astype(np.int32),
        group_names=tuple(surfaces),
    )


def join_embeddings(embeddings: Mapping[str, Embedding], meshes: Mapping[str, TetMesh]) -> Embedding:
    """All points, each in the tets of the mesh of the same name."""
    vertices = _starts(list(meshes.values()))
    tets = np.cumsum([0, *(len(mesh.tets) for mesh in meshes.values())])
    parts = [embeddings[name] for name in meshes]
    return Embedding(
        np.concatenate([one.tets + first for one, first in zip(parts, tets, strict=False)]).astype(np.int32),
        np.concatenate([one.weights for one in parts]),
        np.concatenate([one.corners + first for one, first in zip(parts, vertices, strict=True)]).astype(np.int32),
    )


def _starts(parts: list[TetMesh] | list[TriMesh]) -> NDArray[np.int64]:
    """Number of the first vertex of each."""
    return np.cumsum([0, *(len(one.vertices) for one in parts)])[:-1]
