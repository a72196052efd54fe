"""Compiled loops over vertices near a collider: which may have gone through it, and the contacts of all."""

from supple.contact.sides import TURNED
from supple.linalg.jit import njit

__all__ = ["find_turned", "freeze_near"]


@njit(cache=True)
def _find(values, value):
    """Place of a value among ascending ones, -1 where it is not: NumPy's search takes seconds to compile."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < len(values) and values[low] == value else -1


@njit(cache=True)
def find_turned(number, source, touching, offset, normal, x, vertices, near, normals, R, thickness):
    """Whether a vertex of ascending ones, at x (k, 3), that touched collider `number` is behind there now, and nearest
    to another side of it, or not near it."""
    for m in range(len(source)):
        if source[m] != number:
            continue
        place = _find(vertices, touching[m, 0])
        if place < 0:
            continue
        height = thickness
        for i in range(3):
            height += normal[m, i] * (x[place, i] - offset[m, i])
        if height >= 0.0:
            continue
        row = _find(near, place)
        if row < 0:
            return True
        cosine = 0.0
        for i in range(3):
            for j in range(3):
                cosine += normal[m, i] * R[i, j] * normals[row, j]
        if cosine < TURNED:
            return True
    return False


@njit(cache=True)
def freeze_near(
    number, near, distance, normal, point, reach, R0, t0, R, t, duration, thickness, vertices, areas, made, out
):
    """Fill rows of contacts from `made` on with those of collider `number` that are within reach; returns their end."""
    touching, weights, offset, normals, area, velocity, source, _ = out
    for k in range(len(near)):
        if not distance[k] < reach[near[k]]:
            continue
        for i in range(3):
            n, p, begin = 0.0, t[i], t0[i]
            for j in range(3):
                n += R[i, j] * normal[k, j]
                p += R[i, j] * point[k, j]
                begin += R0[i, j] * point[k, j]
            normals[made, i] = n
            offset[made, i] = p + thickness * n
            velocity[made, i] = (p - begin) / duration if duration > 0.0 else 0.0
        for c in range(4):
            touching[made, c], weights[made, c] = vertices[near[k]], 1.0 if c == 0 else 0.0
        area[made], source[made] = areas[near[k]], number
        made += 1
    return made
