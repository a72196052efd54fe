"""How much of the surface around a vertex faces what it touches.

A vertex on the rim of a block has triangles on the side faces as well, which bear nothing where the block stands.
"""

import numpy as np
from numpy.typing import NDArray

from supple.contact.touched import Fans, area_vector
from supple.linalg.jit import njit

__all__ = ["facing_shares"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_ASIDE, _FULL = 0.25, 0.75  # cosines between which a triangle counts more and more
_LEAST = 0.15  # share below which all around a vertex faces away: it came through its own flesh, and stands for all


@njit(cache=True)
def facing_shares(
    vertices: IntArray, normals: FloatArray, triangles: IntArray, fans: Fans, areas: FloatArray, x: FloatArray
) -> FloatArray:
    """Shares, (m,), of the surface around vertices, (m,), that faces against normals, (m, 3), at x [m], (n, 3).

    Triangles, (k, 3), count by their `areas` at rest [m²], (k,). One turned by up to 40° counts wholly, one turned by
    more than 75° not at all: neither round surfaces nor bulging sides change what stands.
    """
    shares = np.empty(len(vertices))
    for m in range(len(vertices)):
        facing = whole = 0.0
        for entry in range(fans.start[vertices[m]], fans.start[vertices[m] + 1]):
            number = fans.triangles[entry]
            a0, a1, a2 = area_vector(triangles, number, x)
            length = max(np.sqrt(a0 * a0 + a1 * a1 + a2 * a2), 1e-300)
            cosine = -(a0 * normals[m, 0] + a1 * normals[m, 1] + a2 * normals[m, 2]) / length
            facing += areas[number] * min(max((cosine - _ASIDE) / (_FULL - _ASIDE), 0.0), 1.0)
            whole += areas[number]
        shares[m] = facing / whole if facing > _LEAST * whole else 1.0
    return shares
