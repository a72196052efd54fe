"""The nearest point of a body's rest surface, from inside the body."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.hierarchy import BoxTree
from supple.linalg.jit import njit
from supple.mesh.tetmesh import TetMesh

__all__ = ["RestSurface", "closest_point", "closest_weights", "find_nearest", "weigh_closest"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Vector = tuple[float, float, float]
_EQUAL = 1e-9  # squared distances this near to each other, as a share, are the same


class RestSurface(NamedTuple):
    """A tree over the rest triangles, as the plain arrays that kernels take."""

    boxes: FloatArray
    """[m], (2 leaves, 6)"""
    start: IntArray
    """First triangle of every leaf, (leaves + 1,)."""
    order: IntArray
    """Numbers of the triangles, leaf by leaf, (k,)."""
    corners: FloatArray
    """Of the triangles in their own order [m], (k, 3, 3)."""
    pieces: IntArray
    """Component of the body that each triangle belongs to, (k,)."""
    seeds: IntArray
    """The triangle nearest to the middle of every tet, of its own component, (m,)."""

    @classmethod
    def build(cls, mesh: TetMesh) -> "RestSurface":
        """The rest surface of a mesh."""
        triangles, pieces = mesh.surface_triangles(), mesh.components()
        tree = BoxTree.build(mesh.vertices, triangles, leaf=4)
        some = np.zeros(int(pieces.max()) + 1, np.int32)
        some[pieces[triangles[:, 0]]] = np.arange(len(triangles))
        surface = cls(
            tree.refit(mesh.vertices), tree.start, tree.order,
            mesh.vertices[triangles], pieces[triangles[:, 0]], some[pieces[mesh.tets[:, 0]]],
        )  # fmt: skip
        return surface._replace(seeds=surface.nearest(mesh.vertices[mesh.tets].mean(axis=1), surface.seeds)[1])

    def nearest(self, points: FloatArray, seeds: IntArray) -> tuple[FloatArray, IntArray]:
        """Distance [m], (k,), and triangle, (k,), nearest to points [m], (k, 3), on the components of the seeds."""
        return _find_all(points, seeds, self)


@njit(cache=True)
def _find_all(points: FloatArray, seeds: IntArray, surface: RestSurface) -> tuple[FloatArray, IntArray]:
    distance, found = np.empty(len(points)), np.empty(len(points), np.int32)
    for k in range(len(points)):
        found[k], squared = find_nearest(points[k, 0], points[k, 1], points[k, 2], seeds[k], surface)
        distance[k] = np.sqrt(squared)
    return distance, found


@njit(cache=True)
def find_nearest(x: float, y: float, z: float, seed: int, surface: RestSurface) -> tuple[int, float]:
    """Nearest triangle to a point, and its squared distance [m²]; the search begins at `seed`, best a near triangle.

    Of two that share the nearest point, the one whose plane is farther away: no order of triangles decides.
    """
    boxes, leaves = surface.boxes, len(surface.boxes) // 2
    best, least = seed, _squared_distance(surface.corners, seed, x, y, z)
    height = _squared_height(surface.corners, seed, x, y, z)
    stack, gaps = np.empty(64, np.int32), np.empty(64)
    stack[0], gaps[0], size = 1, 0.0, 1
    while size:
        size -= 1
        node = stack[size]
        # What is as near matters only where the nearest point is on an edge, beside the foot on the plane
        enough = least if height >= (1.0 - _EQUAL) * least else (1.0 + _EQUAL) * least
        if gaps[size] >= enough:
            continue
        if node < leaves:
            left, right = _squared_gap(boxes, 2 * node, x, y, z), _squared_gap(boxes, 2 * node + 1, x, y, z)
            nearer = 2 * node + (right < left)
            stack[size], gaps[size] = nearer ^ 1, max(left, right)
            size += gaps[size] < enough
            stack[size], gaps[size] = nearer, min(left, right)
            size += gaps[size] < enough
            continue
        for entry in range(surface.start[node - leaves], surface.start[node - leaves + 1]):
            triangle = surface.order[entry]
            if surface.pieces[triangle] == surface.pieces[seed]:
                squared = _squared_distance(surface.corners, triangle, x, y, z)
                if squared <= (1.0 + _EQUAL) * least:
                    tall = _squared_height(surface.corners, triangle, x, y, z)
                    if squared < (1.0 - _EQUAL) * least or tall > (1.0 + _EQUAL) * height:
                        best, least, height = triangle, squared, tall
    return best, least


@njit(cache=True)
def _squared_gap(boxes: FloatArray, node: int, x: float, y: float, z: float) -> float:
    """Squared distance from a point to a box."""
    dx = max(boxes[node, 0] - x, 0.0, x - boxes[node, 3])
    dy = max(boxes[node, 1] - y, 0.0, y - boxes[node, 4])
    dz = max(boxes[node, 2] - z, 0.0, z - boxes[node, 5])
    return float(dx * dx + dy * dy + dz * dz)


@njit(cache=True)
def _squared_distance(corners: FloatArray, triangle: int, x: float, y: float, z: float) -> float:
    a, b, c = closest_point(corners, triangle, x, y, z)
    return float((a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z))


@njit(cache=True)
def _squared_height(corners: FloatArray, triangle: int, x: float, y: float, z: float) -> float:
    """Squared distance of a point from the plane of a triangle; 0 for one without area."""
    a, b, c = corners[triangle, 0], corners[triangle, 1], corners[triangle, 2]
    n0 = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])
    n1 = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2])
    n2 = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    along = n0 * (x - a[0]) + n1 * (y - a[1]) + n2 * (z - a[2])
    return float(along * along / max(n0 * n0 + n1 * n1 + n2 * n2, 1e-300))


@njit(cache=True)
def closest_point(corners: FloatArray, triangle: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The point of a triangle of corners, (k, 3, 3), that is closest to a point."""
    a, b, c = closest_weights(corners[triangle], x, y, z)
    return (
        a * corners[triangle, 0, 0] + b * corners[triangle, 1, 0] + c * corners[triangle, 2, 0],
        a * corners[triangle, 0, 1] + b * corners[triangle, 1, 1] + c * corners[triangle, 2, 1],
        a * corners[triangle, 0, 2] + b * corners[triangle, 1, 2] + c * corners[triangle, 2, 2],
    )


@njit(cache=True, error_model="numpy")
def closest_weights(corners: FloatArray, x: float, y: float, z: float) -> Vector:
    """Barycentric coordinates of the point of a triangle, (3, 3), that is closest to a point."""
    a, b, c = (
        (corners[0, 0], corners[0, 1], corners[0, 2]),
        (corners[1, 0], corners[1, 1], corners[1, 2]),
        (corners[2, 0], corners[2, 1], corners[2, 2]),
    )
    return weigh_closest(a, b, c, (x, y, z))


@njit(cache=True, error_model="numpy")
def weigh_closest(a: Vector, b: Vector, c: Vector, point: Vector) -> Vector:
    """Barycentric coordinates of the point of a triangle with given corners that is closest to a point."""
    ab0, ab1, ab2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    ac0, ac1, ac2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    p0, p1, p2 = point[0] - a[0], point[1] - a[1], point[2] - a[2]
    # Products of the two edges with the point seen from each corner decide which feature is closest
    ab_a, ac_a = ab0 * p0 + ab1 * p1 + ab2 * p2, ac0 * p0 + ac1 * p1 + ac2 * p2
    if ab_a <= 0.0 and ac_a <= 0.0:
        return 1.0, 0.0, 0.0
    bb, bc, cc = ab0 * ab0 + ab1 * ab1 + ab2 * ab2, ab0 * ac0 + ab1 * ac1 + ab2 * ac2, ac0 * ac0 + ac1 * ac1 + ac2 * ac2
    ab_b, ac_b = ab_a - bb, ac_a - bc
    if ab_b >= 0.0 and ac_b <= ab_b:
        return 0.0, 1.0, 0.0
    towards_c = ab_a * ac_b - ab_b * ac_a
    if towards_c <= 0.0 and ab_a >= 0.0 and ab_b <= 0.0:
        share = ab_a / (ab_a - ab_b)
        return 1.0 - share, share, 0.0
    ab_c, ac_c = ab_a - bc, ac_a - cc
    if ac_c >= 0.0 and ab_c <= ac_c:
        return 0.0, 0.0, 1.0
    towards_b = ab_c * ac_a - ab_a * ac_c
    if towards_b <= 0.0 and ac_a >= 0.0 and ac_c <= 0.0:
        share = ac_a / (ac_a - ac_c)
        return 1.0 - share, 0.0, share
    towards_a = ab_b * ac_c - ab_c * ac_b
    if towards_a <= 0.0 and ac_b >= ab_b and ab_c >= ac_c:
        share = (ac_b - ab_b) / ((ac_b - ab_b) + (ab_c - ac_c))
        return 0.0, 1.0 - share, share
    total = towards_a + towards_b + towards_c
    return towards_a / total, towards_b / total, towards_c / total
