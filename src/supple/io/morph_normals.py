"""Normals that go with morph targets, so that light follows the flesh."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.io.morphs import Morphs
from supple.mesh import TriMesh, weld_points

__all__ = ["fit_normals"]

FloatArray = NDArray[np.float64]
LEAST = 5e-3  # of a unit normal, over all shapes: less light does not show


def fit_normals(
    triangles: NDArray[np.integer], rest: FloatArray, normals: FloatArray, morphs: Morphs
) -> NDArray[np.float32]:
    """What each shape of a surface (n, 3) adds to its normals (n, 3), (k, n, 3): the best fit over all frames.

    Normals turn as those of the triangles do, joined over seams, so that edges that were sharp stay so.
    """
    offsets = np.zeros(morphs.shapes.shape)
    if not len(offsets):
        return offsets.astype(np.float32)
    place = weld_points(rest)[1]
    cells = place[triangles]
    first = np.unique(place, return_index=True)[1]
    begin = _normals(rest[first], cells)[place]
    for share, weights in zip(np.linalg.pinv(morphs.weights).T, morphs.weights, strict=True):
        moved = rest + np.tensordot(weights, morphs.shapes, axes=1)
        turned = _turn(begin, _normals(moved[first], cells)[place], normals)
        offsets += share[:, None, None] * (turned - normals)
    offsets[np.linalg.norm(offsets, axis=2) <= LEAST / len(offsets)] = 0.0
    return offsets.astype(np.float32)


def _normals(points: FloatArray, cells: NDArray[np.integer]) -> FloatArray:
    """Unit normals of vertices, (n, 3), zero where there are none."""
    return TriMesh(points, cells.astype(np.int32)).vertex_normals()


def _turn(begin: FloatArray, end: FloatArray, vectors: FloatArray) -> FloatArray:
    """Vectors turned by the least rotations that take unit vectors to others, (n, 3) all (Rodrigues' formula)."""
    axis, cosine = np.cross(begin, end), (begin * end).sum(axis=1, keepdims=True)
    once = np.cross(axis, vectors)
    return np.asarray(vectors + once + np.cross(axis, once) / np.maximum(1.0 + cosine, 1e-3))
