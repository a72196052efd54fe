"""Compiled loops that gather rows and compliances of contacts."""

import numpy as np
from numba import njit

__all__ = ["couple", "gather_compliances", "gather_rows", "look"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def couple(vertices, start, column, value, Y):
    """Compliances between vertices with sparse rows and columns Y of A⁻¹, (k, r): (number of vertices, k)."""
    W = np.empty((len(vertices), len(Y)), Y.dtype)
    for i in range(len(vertices)):
        first, last = start[vertices[i]], start[vertices[i] + 1]
        for j in range(len(Y)):
            total = 0.0
            for e in range(first, last):
                total += value[e] * Y[j, column[e]]
            W[i, j] = total
    return W


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def gather_compliances(slots, weights, table):
    """W of contacts, (m, m), from the table of compliances between vertices: of one each, or of up to four weighted."""
    count = len(slots)
    W = np.empty((count, count), table.dtype)
    for i in range(count):
        row = table[slots[i, 0]]
        for j in range(count):
            W[i, j] = row[slots[j, 0]]
    for i in range(count):
        for j in range(count):
            if weights[i, 1] == 0.0 and weights[j, 1] == 0.0:
                continue
            total = 0.0
            for k in range(4):
                for l in range(4):
                    total += weights[i, k] * weights[j, l] * table[slots[i, k], slots[j, l]]
            W[i, j] = total
    return W


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
def look(start, column, value, q):
    """C q, (m, k), of sparse rows and coordinates, (r, k)."""
    points = np.zeros((len(start) - 1, q.shape[1]))
    for i in range(len(points)):
        for e in range(start[i], start[i + 1]):
            for k in range(q.shape[1]):
                points[i, k] += value[e] * q[column[e], k]
    return points
