"""Compiled search for samples of a surface that come over discs around others (contact/surfels.py).

Samples are sorted into cells. Each looks around itself as far as its own disc and its own way reach, and meets those
that are smaller and slower, so that a limb that swings costs a wide search for itself, not for the whole body.
"""

import math

import numpy as np

from supple.linalg.jit import njit
from supple.linalg.small import point

__all__ = ["face", "find_discs"]

_BEYOND = 0.2  # radii behind a disc up to which a vertex that slides on is still taken for one from outside
_AT_REST = 2.5  # radii within which a vertex that is behind a disc at rest is of the same limb
_BESIDE = 0.5  # cosine between normals above which two samples face the same way; those of edges look far aside
_FASTEST = 4.0  # radii within which a step may close a gap; what is faster may pass through
_ABOVE = 0.1  # radii over a disc up to which it is behind
_CELLS = 48  # along an axis, at most


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def face(start, column, first, second, q):
    """Outward unit normals, (k, 3): across two tangents with sparse rows of one pattern over coordinates q (r, 3)."""
    out = np.empty((len(start) - 1, 3))
    for i in range(len(out)):
        a0 = a1 = a2 = b0 = b1 = b2 = 0.0
        for e in range(start[i], start[i + 1]):
            c, u, v = column[e], first[e], second[e]
            x, y, z = q[c, 0], q[c, 1], q[c, 2]
            a0, a1, a2 = a0 + u * x, a1 + u * y, a2 + u * z
            b0, b1, b2 = b0 + v * x, b1 + v * y, b2 + v * z
        n0, n1, n2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
        length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        scale = 1.0 / length if length > 0.0 else 0.0
        out[i, 0], out[i, 1], out[i, 2] = n0 * scale, n1 * scale, n2 * scale
    return out


@njit(cache=True, error_model="numpy")
def find_discs(begin, predicted, normal, known, parts, rest, facing, radius, near):
    """For every sample the disc it touches, or -1; `near` [m] is how far over a disc it always does."""
    count, most = len(begin), 0.5 * _FASTEST * radius.max()
    stray, low, size, shape = _lay_cells(begin, predicted, 0.5 * (radius.mean() + near))
    starts, order = _sort_cells(begin, low, size, shape)
    table = np.empty((count, 8))
    partner, best = np.full(count, -1, np.int32), np.full(count, np.inf)
    for place in range(count):
        s = order[place]
        for i in range(3):
            table[place, i], table[place, 3 + i] = begin[s, i], normal[s, i]
        table[place, 6], table[place, 7] = radius[s], min(stray[s], most)
        if known[s] >= 0 and np.dot(normal[s], normal[known[s]]) <= _BESIDE:  # it may be deep behind its disc
            reach = near + table[place, 7] + min(stray[known[s]], most)
            _meet(s, known[s], reach, begin, normal, known, parts, rest, facing, radius, best, partner)
    for place in range(count):
        x, y, z = table[place, 0], table[place, 1], table[place, 2]
        a, b, c, r, way = table[place, 3], table[place, 4], table[place, 5], table[place, 6], table[place, 7]
        # Of two the one with the larger sum of radius and twice its way sees the pair: this is as far as that may be
        large, far = r + 2.0 * way, near + math.hypot(1.0, _BEYOND) * (r + 3.0 * way)
        x0, x1 = max(int((x - far - low[0]) / size), 0), min(int((x + far - low[0]) / size), shape[0] - 1)
        y0, y1 = max(int((y - far - low[1]) / size), 0), min(int((y + far - low[1]) / size), shape[1] - 1)
        z0, z1 = max(int((z - far - low[2]) / size), 0), min(int((z + far - low[2]) / size), shape[2] - 1)
        for row in range(x0 * shape[1], (x1 + 1) * shape[1], shape[1]):
            for cell in range((row + y0) * shape[2], (row + y1 + 1) * shape[2], shape[2]):
                for other in range(starts[cell + z0], starts[cell + z1 + 1]):
                    u, v, w = x - table[other, 0], y - table[other, 1], z - table[other, 2]
                    wide, reach = max(r, table[other, 6]), near + way + table[other, 7]
                    if u * u + v * v + w * w > wide * wide + max(reach, _BEYOND * wide) ** 2:
                        continue
                    if a * table[other, 3] + b * table[other, 4] + c * table[other, 5] > _BESIDE:
                        continue  # faces the same way: beside it, not opposite
                    lead = table[other, 6] + 2.0 * table[other, 7] - large
                    if lead > 0.0 or (lead == 0.0 and other >= place):
                        continue
                    i, j = order[place], order[other]
                    _meet(i, j, reach, begin, normal, known, parts, rest, facing, radius, best, partner)
                    _meet(j, i, reach, begin, normal, known, parts, rest, facing, radius, best, partner)
    return partner


@njit(cache=True, error_model="numpy")
def _meet(i, j, reach, begin, normal, known, parts, rest, facing, radius, best, partner):
    """Take disc j for sample i if it is over it, and nearer to its middle than the best before."""
    r = radius[j]
    height, aside = _split(normal[j], begin[i], begin[j])
    if aside >= best[i] or aside > r * r or height < (-r if j == known[i] else -_BEYOND * r) or height >= reach:
        return
    level, distance = _split(facing[j], rest[i], rest[j])
    is_near = level * level + distance < (_AT_REST * r) ** 2
    if parts[i] == parts[j] and is_near and level < _ABOVE * r:
        return
    best[i], partner[i] = aside, j


@point
def _split(n, point, centre):
    """How far a point is from a centre along n, and the square of how far across."""
    x, y, z = point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]
    height = n[0] * x + n[1] * y + n[2] * z
    return height, x * x + y * y + z * z - height * height


@njit(cache=True, error_model="numpy")
def _lay_cells(begin, predicted, size):
    """How far points go besides their common way, and a grid over them: its corner, its cells' side, their numbers."""
    count = len(begin)
    stray, mean, low, high = np.empty(count), np.zeros(3), begin[0].copy(), begin[0].copy()
    for k in range(count):
        for i in range(3):
            mean[i] += (predicted[k, i] - begin[k, i]) / count
            low[i], high[i] = min(low[i], begin[k, i]), max(high[i], begin[k, i])
    for k in range(count):
        total = 0.0
        for i in range(3):
            total += (predicted[k, i] - begin[k, i] - mean[i]) ** 2
        stray[k] = math.sqrt(total)
    size = max(size, (high - low).max() / _CELLS)
    return stray, low, size, ((high - low) / size).astype(np.int64) + 1


@njit(cache=True, error_model="numpy")
def _sort_cells(points, low, size, shape):
    """Points in the order of their cells, and where each cell begins there, one number more than cells."""
    label = np.empty(len(points), np.int64)
    starts = np.zeros(shape[0] * shape[1] * shape[2] + 1, np.int64)
    for k in range(len(points)):
        cell = 0
        for i in range(3):
            cell = cell * shape[i] + min(int((points[k, i] - low[i]) / size), shape[i] - 1)
        label[k] = cell
        starts[cell + 1] += 1
    starts = np.cumsum(starts)
    order, free = np.empty(len(points), np.int64), starts.copy()
    for k in range(len(points)):
        order[free[label[k]]] = k
        free[label[k]] += 1
    return starts, order
