"""Where a vertex inside the body touches its deformed surface.

The touched point is the vertex's projection along the normal of the triangle it came through, so the two forces of a
contact lie on one line and make no torque.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.neighbourhood import Neighbourhood, is_beside, may_touch
from supple.contact.rest_surface import weigh_closest
from supple.linalg.jit import njit

__all__ = ["BEYOND", "Fans", "approach", "area_vector", "drop", "drop_one", "project", "project_one"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Vector = tuple[float, float, float]
BEYOND = -0.5  #: least barycentric coordinate of a touched point: half a triangle beyond an edge
_EQUAL = 1e-9  # squared distances this near to each other, as a share, are the same


class Fans(NamedTuple):
    """The surface triangles around every vertex."""

    start: IntArray
    """Vertex v has triangles[start[v] : start[v + 1]], (n + 1,)."""
    triangles: IntArray
    """In ascending order."""

    @classmethod
    def build(cls, triangles: IntArray, count: int) -> "Fans":
        """The fans of triangles, (k, 3), over `count` vertices."""
        corners = triangles.ravel()
        start = np.concatenate([[0], np.cumsum(np.bincount(corners, minlength=count))])
        return cls(start.astype(np.int32), (np.argsort(corners, kind="stable") // 3).astype(np.int32))

    def list_faces(self, vertices: NDArray[np.integer]) -> IntArray:
        """Triangles around some vertices."""
        counts = self.start[vertices + 1] - self.start[vertices]
        first = np.repeat(self.start[vertices] - (np.cumsum(counts) - counts), counts)
        return np.asarray(self.triangles[first + np.arange(len(first))], np.int32)


@njit(cache=True)
def project(
    points: FloatArray,
    vertices: IntArray,
    came_through: IntArray,
    triangles: IntArray,
    x: FloatArray,
    rest: FloatArray,
    fans: Fans,
    around: Neighbourhood,
    beyond: float,
    slack: float,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Touched triangle (m,), barycentric coordinates (m, 3), normal (m, 3) and depth [m] (m,) of points inside.

    Point k, which stands for vertex vertices[k], is projected along the normal of the triangle it came through. If the
    foot has a barycentric coordinate below `beyond`, or the point is outside its plane, the nearest triangle around is
    taken; if the foot lies more than half a triangle beyond that one, its nearest point, the normal then leading there.
    A point outside the plane of the nearest triangle is outside the body, whatever its tet says, and has no depth, or a
    negative one: edges count as round for it, but for `slack` [m], by which triangles reach beyond them.
    """
    count = len(points)
    touched, weights = np.empty(count, np.int32), np.empty((count, 3))
    normals, depths = np.empty((count, 3)), np.empty(count)
    for k in range(count):
        best, foot, normal, depth = project_one(
            (points[k, 0], points[k, 1], points[k, 2]), vertices[k], came_through[k], triangles, x, rest, fans, around,
            beyond, slack,
        )  # fmt: skip
        touched[k], depths[k] = best, depth
        for axis in range(3):
            weights[k, axis], normals[k, axis] = foot[axis], normal[axis]
    return touched, weights, normals, depths


@njit(cache=True)
def project_one(
    point: Vector,
    vertex: int,
    came_through: int,
    triangles: IntArray,
    x: FloatArray,
    rest: FloatArray,
    fans: Fans,
    around: Neighbourhood,
    beyond: float,
    slack: float,
) -> tuple[int, Vector, Vector, float]:
    """The same of a single point: no memory is asked for."""
    foot, normal, depth = drop_one(point, triangles, came_through, x)
    if depth <= 0.0 or min(foot) < beyond:
        return _search_around(point, vertex, came_through, triangles, x, rest, fans, around, slack)
    return came_through, foot, normal, depth


@njit(cache=True)
def drop(
    points: FloatArray, touched: IntArray, triangles: IntArray, x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Barycentric coordinates (m, 3) of the feet of points on given triangles, normals (m, 3) and depths [m], (m,)."""
    weights, normals, depths = np.empty((len(points), 3)), np.empty((len(points), 3)), np.empty(len(points))
    for k in range(len(points)):
        foot, normal, depths[k] = drop_one((points[k, 0], points[k, 1], points[k, 2]), triangles, touched[k], x)
        for axis in range(3):
            weights[k, axis], normals[k, axis] = foot[axis], normal[axis]
    return weights, normals, depths


@njit(cache=True)
def area_vector(triangles: IntArray, number: int, x: FloatArray) -> Vector:
    """Outward normal of a triangle, as long as twice its area."""
    a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    return u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0


@njit(cache=True)
def drop_one(point: Vector, triangles: IntArray, number: int, x: FloatArray) -> tuple[Vector, Vector, float]:
    """Foot of a point on a triangle's plane, in barycentric coordinates; the plane's normal; the depth below it.

    A triangle without area has depth 0.
    """
    n0, n1, n2 = area_vector(triangles, number, x)
    length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    if length == 0.0:
        return (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    n0, n1, n2 = n0 / length, n1 / length, n2 / length
    a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    p0, p1, p2 = point[0] - x[a, 0], point[1] - x[a, 1], point[2] - x[a, 2]
    second = (n0 * (p1 * v2 - p2 * v1) + n1 * (p2 * v0 - p0 * v2) + n2 * (p0 * v1 - p1 * v0)) / length
    third = (n0 * (u1 * p2 - u2 * p1) + n1 * (u2 * p0 - u0 * p2) + n2 * (u0 * p1 - u1 * p0)) / length
    return (1.0 - second - third, second, third), (n0, n1, n2), -(n0 * p0 + n1 * p1 + n2 * p2)


@njit(cache=True)
def _search_around(
    point: Vector,
    vertex: int,
    begin: int,
    triangles: IntArray,
    x: FloatArray,
    rest: FloatArray,
    fans: Fans,
    around: Neighbourhood,
    slack: float,
) -> tuple[int, Vector, Vector, float]:
    """The nearest of the triangles that share a corner with `begin`; the point's foot on it, its normal and depth."""
    best, least, depth = begin, np.inf, 0.0
    foot = clamped = (1.0, 0.0, 0.0)
    normal = way = (0.0, 0.0, 0.0)
    for k in range(3):
        corner = triangles[begin, k]
        for entry in range(fans.start[corner], fans.start[corner + 1]):
            number = fans.triangles[entry]
            if (k > 0 and _has(triangles, number, triangles[begin, 0])) or (
                k > 1 and _has(triangles, number, triangles[begin, 1])
            ):
                continue  # seen around an earlier corner
            close, (w0, w1, w2), squared = approach(point, triangles, number, x)
            if squared > (1.0 + _EQUAL) * least:
                continue
            there, upright, below = drop_one(point, triangles, number, x)
            nearer = squared < (1.0 - _EQUAL) * least
            if not nearer:
                # Of two that share the nearest point the one whose plane is farther away knows inside from outside;
                # what keeps a thickness touches the one it looks at, because triangles reach beyond their edges
                nearer = abs(below) > abs(depth)
                if slack < np.inf and below <= 0.0:
                    before = _opposes(vertex, normal, triangles, x, fans)
                    nearer = _opposes(vertex, upright, triangles, x, fans) > before
            if nearer and may_touch(vertex, triangles, number, around):
                away = approach((rest[vertex, 0], rest[vertex, 1], rest[vertex, 2]), triangles, number, rest)[2]
                if not is_beside(vertex, triangles, number, np.sqrt(away), around):
                    best, least, depth, foot, clamped = number, squared, below, there, close
                    normal, way = upright, (w0, w1, w2)
    if depth > 0.0 and min(foot) < BEYOND:
        depth = np.sqrt(least)
        foot, normal = clamped, (way[0] / depth, way[1] / depth, way[2] / depth)
    elif depth < 0.0 and min(foot) < 0.0 and slack < np.inf:
        foot, normal, depth = _round_off(foot, clamped, normal, way, depth, slack)
    return best, foot, normal, depth


@njit(cache=True)
def _has(triangles: IntArray, number: int, vertex: int) -> bool:
    """Whether a vertex is a corner of a triangle."""
    return bool(triangles[number, 0] == vertex or triangles[number, 1] == vertex or triangles[number, 2] == vertex)


@njit(cache=True)
def _opposes(vertex: int, normal: Vector, triangles: IntArray, x: FloatArray, fans: Fans) -> float:
    """Largest cosine between the opposite of a normal and those of the triangles around a vertex, rounded."""
    most = -1.0
    for entry in range(fans.start[vertex], fans.start[vertex + 1]):
        n0, n1, n2 = area_vector(triangles, fans.triangles[entry], x)
        length = max(np.sqrt(n0 * n0 + n1 * n1 + n2 * n2), 1e-300)
        most = max(most, -(n0 * normal[0] + n1 * normal[1] + n2 * normal[2]) / length)
    return float(np.round(most, 9))


@njit(cache=True)
def _round_off(
    foot: Vector, clamped: Vector, normal: Vector, way: Vector, depth: float, slack: float
) -> tuple[Vector, Vector, float]:
    """Touched point, normal and negative depth of a point in front of a triangle's plane and beyond its edges.

    What leads from the nearest point to it is its height and what it is beyond the edge; of that, `slack` [m] is
    free, so that what lies flush with a rim is not pushed off it.
    """
    a0, a1, a2 = depth * normal[0] - way[0], depth * normal[1] - way[1], depth * normal[2] - way[2]
    beyond = np.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    share = max(1.0 - slack / beyond, 0.0) if beyond > 0.0 else 0.0
    l0, l1, l2 = share * a0 - depth * normal[0], share * a1 - depth * normal[1], share * a2 - depth * normal[2]
    length = np.sqrt(l0 * l0 + l1 * l1 + l2 * l2)
    f0, f1, f2 = (1.0 - share) * foot[0], (1.0 - share) * foot[1], (1.0 - share) * foot[2]
    touched = f0 + share * clamped[0], f1 + share * clamped[1], f2 + share * clamped[2]
    return touched, (l0 / length, l1 / length, l2 / length), -length


@njit(cache=True)
def approach(point: Vector, triangles: IntArray, number: int, x: FloatArray) -> tuple[Vector, Vector, float]:
    """Nearest point of a triangle, in barycentric coordinates; the way there; its squared length [m²]."""
    one, two, three = triangles[number, 0], triangles[number, 1], triangles[number, 2]
    p, q, r = (
        (x[one, 0], x[one, 1], x[one, 2]),
        (x[two, 0], x[two, 1], x[two, 2]),
        (x[three, 0], x[three, 1], x[three, 2]),
    )
    a, b, c = weigh_closest(p, q, r, point)
    w0 = a * p[0] + b * q[0] + c * r[0] - point[0]
    w1 = a * p[1] + b * q[1] + c * r[1] - point[1]
    w2 = a * p[2] + b * q[2] + c * r[2] - point[2]
    return (a, b, c), (w0, w1, w2), w0 * w0 + w1 * w1 + w2 * w2
