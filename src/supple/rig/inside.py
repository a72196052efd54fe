"""Values of a surface carried to the body that it covers."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleWarning
from supple.mesh import TetMesh, TriMesh
from supple.rig.diffusion import laplacian, solve_columns

__all__ = ["extend_inside", "sample_surface"]

FloatArray = NDArray[np.float64]

_FAR = 0.05  # of the body's size: a surface this far from the body is not the body's


def extend_inside(mesh: TetMesh, values: FloatArray) -> FloatArray:
    """Values (n, j) at all vertices from those at the vertices of the mesh's surface, (k, j): harmonic inside.

    Of all that meet those they vary least.
    """
    skin = mesh.surface_vertices()
    whole = np.zeros((len(mesh.vertices), values.shape[1]))
    whole[skin] = values
    inside = np.setdiff1d(np.arange(len(mesh.vertices)), skin)
    used = np.flatnonzero(values.any(axis=0))
    if inside.size and used.size:
        stiffness = laplacian(mesh)[inside]
        columns = -(stiffness[:, skin] @ whole[np.ix_(skin, used)])
        whole[np.ix_(inside, used)] = solve_columns(stiffness[:, inside], columns)
    return whole


def sample_surface(surface: TriMesh, values: FloatArray, points: FloatArray, size: float) -> FloatArray:
    """Values (k, j) of a surface where it is nearest to `points` [m], (k, 3), of a body of that size [m]."""
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
    return np.asarray(np.einsum("kc,kcj->kj", shares, values[corners]))
