"""Skinning weights of a tet mesh from those of the surface that it fills."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError, SuppleWarning
from supple.mesh import TetMesh, TriMesh
from supple.rig.diffusion import laplacian, solve_columns
from supple.rig.influences import MOST, Influences

__all__ = ["transfer_weights"]

FloatArray = NDArray[np.float64]

_FAR = 0.05  # of the body's size: a surface this far from the body is not the body's


def transfer_weights(
    surface: TriMesh, influences: Influences, mesh: TetMesh, joints: int, most: int | None = MOST
) -> Influences:
    """Influences of `joints` joints on the mesh's vertices from those on the vertices of a weighted surface.

    A vertex on the mesh's own surface takes the weights of the nearest point of the given one, interpolated in its
    triangle. Inside, weights are harmonic: of all that meet these they vary least, and they stay in their bounds and
    sum to 1 by themselves.
    """
    if len(influences) != len(surface.vertices):
        raise SceneError(
            f"weights of {len(influences):,} vertices do not fit a surface of {len(surface.vertices):,}: "
            "give the surface they were made for."
        )
    skin = mesh.surface_vertices()
    weights = np.zeros((len(mesh.vertices), joints))
    weights[skin] = _interpolate(surface, influences.dense(joints), mesh.vertices[skin], mesh.size())
    inside = np.setdiff1d(np.arange(len(mesh.vertices)), skin)
    used = np.flatnonzero(weights.any(axis=0))
    if inside.size:
        stiffness = laplacian(mesh)[inside]
        columns = -(stiffness[:, skin] @ weights[np.ix_(skin, used)])
        # Obtuse tets let harmonic weights leave their bounds a little
        weights[np.ix_(inside, used)] = np.clip(solve_columns(stiffness[:, inside], columns), 0.0, 1.0)
    return Influences.from_dense(weights, most)


def _interpolate(surface: TriMesh, weights: FloatArray, points: FloatArray, size: float) -> FloatArray:
    """Weights (k, j) at the surface points nearest to `points` [m], (k, 3)."""
    import igl

    triangles = surface.triangles.astype(np.int64)
    squared, triangle, nearest = igl.point_mesh_squared_distance(points, surface.vertices, triangles)
    far = float(np.sqrt(squared.max()))
    if far > _FAR * size:
        warnings.warn(
            f"the weighted surface is up to {far:.3g} m away from that of the body, which is {size:.3g} m across: "
            "bring both to the same place and units.",
            SuppleWarning,
            stacklevel=3,
        )
    corners = surface.triangles[triangle]
    spokes = surface.vertices[corners] - nearest[:, None]
    # Twice the areas that the point leaves opposite each corner; in a triangle without area all corners count alike
    areas = np.linalg.norm(np.cross(spokes[:, [1, 2, 0]], spokes[:, [2, 0, 1]]), axis=2)
    areas[areas.sum(axis=1) == 0.0] = 1.0
    shares = areas / areas.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("kc,kcj->kj", shares, weights[corners]))
