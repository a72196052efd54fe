"""Compiled loops that gather rows and compliances of contacts."""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["couple", "gather_columns", "gather_compliances", "gather_rows", "look", "push", "start_contacts"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def couple(vertices, start, column, value, Y):
    """Compliances between vertices with sparse rows and columns Y of A⁻¹, (k, r): (number of vertices, k)."""
    W, moved, row = np.empty((len(vertices), len(Y)), Y.dtype), np.ascontiguousarray(Y.T), np.empty(len(Y))
    for i in range(len(vertices)):
        for j in range(len(Y)):
            row[j] = 0.0
        for e in range(start[vertices[i]], start[vertices[i] + 1]):
            share, answer = value[e], moved[column[e]]
            for j in range(len(Y)):
                row[j] += share * answer[j]
        for j in range(len(Y)):
            W[i, j] = row[j]
    return W


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def gather_columns(slots, weights, columns):
    """Y of contacts, (m, r), from the columns of vertices, (k, r): of one each, or of up to four weighted."""
    Y = np.empty((len(slots), columns.shape[1]), columns.dtype)
    for i in range(len(slots)):
        _combine(slots[i], weights[i], columns, Y[i])
    return Y


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def gather_compliances(slots, weights, table, known):
    """W of contacts, (m, m), from the table of compliances between `known` vertices, likewise."""
    count = len(slots)
    W, row = np.empty((count, count), table.dtype), np.empty(known, table.dtype)
    single = (weights[:, 1:] == 0.0).all()
    for i in range(count):
        if single:
            row = table[slots[i, 0]]
        else:
            _combine(slots[i], weights[i], table, row)
        for j in range(count):
            total = weights[j, 0] * row[slots[j, 0]]
            for k in range(1, 4):
                if weights[j, k] != 0.0:
                    total += weights[j, k] * row[slots[j, k]]
            W[i, j] = total
    return W


@njit(forceinline=True, error_model="numpy", fastmath={"contract", "nsz"})
def _combine(slots, weights, rows, out):
    """The weighted sum of up to four rows."""
    first, share = rows[slots[0]], rows.dtype.type(weights[0])
    for e in range(len(out)):
        out[e] = share * first[e]
    for k in range(1, 4):
        if weights[k] != 0.0:
            other, share = rows[slots[k]], rows.dtype.type(weights[k])
            for e in range(len(out)):
                out[e] += share * other[e]


@njit(cache=True, error_model="numpy")
def gather_rows(vertices, weights, start, column, value):
    """Sparse rows of contacts over coordinates, as starts, columns and values; columns may come more than once."""
    count, total = len(vertices), 0
    first = np.zeros(count + 1, np.int32)
    for i in range(count):
        for k in range(4):
            if weights[i, k] != 0.0:
                total += start[vertices[i, k] + 1] - start[vertices[i, k]]
        first[i + 1] = total
    columns, values = np.empty(total, np.int32), np.empty(total, np.float32)
    for i in range(count):
        place = first[i]
        for k in range(4):
            if weights[i, k] != 0.0:
                for e in range(start[vertices[i, k]], start[vertices[i, k] + 1]):
                    columns[place], values[place] = column[e], weights[i, k] * value[e]
                    place += 1
    return first, columns, values


@njit(cache=True, error_model="numpy")
def push(start, column, value, forces, width):
    """Cᵀ f, (width, 3), of sparse rows and forces, (m, 3)."""
    out = np.zeros((width, 3))
    for i in range(len(forces)):
        x, y, z = forces[i, 0], forces[i, 1], forces[i, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for e in range(start[i], start[i + 1]):
                out[column[e], 0] += value[e] * x
                out[column[e], 1] += value[e] * y
                out[column[e], 2] += value[e] * z
    return out


@njit(cache=True, error_model="numpy")
def look(start, column, value, q):
    """C q, (m, k), of sparse rows and coordinates, (r, k)."""
    points = np.zeros((len(start) - 1, q.shape[1]))
    for i in range(len(points)):
        for e in range(start[i], start[i + 1]):
            for k in range(q.shape[1]):
                points[i, k] += value[e] * q[column[e], k]
    return points


@njit(cache=True, error_model="numpy")
def start_contacts(start, column, value, q, normal, offset, velocity, duration, weights, origin, most):
    """Where contacts with sparse rows are as a step begins, carried by what they touch, (m, 3).

    Then, as lanes in single precision: the same seen from an origin (3, m), the normals (3, m), and how far along these
    they have to come (m,), at most `most` [m].
    """
    count = len(normal)
    base = np.zeros((count, 3))
    seen, lanes = np.empty((3, count), np.float32), np.empty((3, count), np.float32)
    goal = np.empty(count, np.float32)
    for m in range(count):
        share, depth = weights[m].sum(), 0.0  # pairs see no origin
        for e in range(start[m], start[m + 1]):
            for i in range(3):
                base[m, i] += value[e] * q[column[e], i]
        for i in range(3):
            base[m, i] += duration * velocity[m, i]
            depth += normal[m, i] * (offset[m, i] - base[m, i])
            seen[i, m], lanes[i, m] = base[m, i] - share * origin[i], normal[m, i]
        goal[m] = min(depth, most)
    return base, seen, lanes, goal
