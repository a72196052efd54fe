"""What conjugate gradients need of an overlay's springs, without a matrix of them: loops in one order."""

import numpy as np
from numba import njit

__all__ = ["add_clustered", "add_diagonal", "add_product"]


@njit(cache=True)
def add_product(rows, weights, curvature, x, out):
    """Add the product with x, (n, 3), to `out`; returns x·product."""
    total = 0.0
    for m in range(rows.shape[0]):
        g0, g1, g2 = 0.0, 0.0, 0.0
        for k in range(rows.shape[1]):
            v = rows[m, k]
            g0 += weights[m, k, 0] * x[v, 0]
            g1 += weights[m, k, 1] * x[v, 1]
            g2 += weights[m, k, 2] * x[v, 2]
        C = curvature[m]
        f0 = C[0, 0] * g0 + C[0, 1] * g1 + C[0, 2] * g2
        f1 = C[1, 0] * g0 + C[1, 1] * g1 + C[1, 2] * g2
        f2 = C[2, 0] * g0 + C[2, 1] * g1 + C[2, 2] * g2
        total += g0 * f0 + g1 * f1 + g2 * f2
        for k in range(rows.shape[1]):
            v = rows[m, k]
            out[v, 0] += weights[m, k, 0] * f0
            out[v, 1] += weights[m, k, 1] * f1
            out[v, 2] += weights[m, k, 2] * f2
    return total


@njit(cache=True)
def add_diagonal(rows, weights, curvature, out):
    """Add the diagonal blocks to `out`, (n, 9)."""
    for m in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            for l in range(rows.shape[1]):
                if rows[m, k] == rows[m, l]:
                    for i in range(3):
                        for j in range(3):
                            out[rows[m, k], 3 * i + j] += weights[m, k, i] * curvature[m, i, j] * weights[m, l, j]


@njit(cache=True)
def add_clustered(rows, weights, curvature, owner, arms, out):
    """Add ZᵀSZ of the springs S to `out`, where Z holds the rigid motions t + w x arm of the clusters `owner`."""
    width = rows.shape[1]
    clusters, handles, pulls = np.empty(width, np.int64), np.empty((width, 3, 6)), np.empty((3, 6))
    for m in range(rows.shape[0]):
        count = 0
        for k in range(width):  # the spring's handle on each of its clusters, 3 x 6
            w0, w1, w2 = weights[m, k, 0], weights[m, k, 1], weights[m, k, 2]
            if w0 == 0.0 and w1 == 0.0 and w2 == 0.0:
                continue
            v = rows[m, k]
            place = 0
            while place < count and clusters[place] != owner[v]:
                place += 1
            if place == count:
                clusters[place] = owner[v]
                handles[place] = 0.0
                count += 1
            handle = handles[place]
            handle[0, 0] += w0
            handle[1, 1] += w1
            handle[2, 2] += w2
            handle[0, 4] += w0 * arms[v, 2]
            handle[0, 5] -= w0 * arms[v, 1]
            handle[1, 3] -= w1 * arms[v, 2]
            handle[1, 5] += w1 * arms[v, 0]
            handle[2, 3] += w2 * arms[v, 1]
            handle[2, 4] -= w2 * arms[v, 0]
        for b in range(count):
            for i in range(3):
                for q in range(6):
                    pulls[i, q] = 0.0
                    for j in range(3):
                        pulls[i, q] += curvature[m, i, j] * handles[b, j, q]
            for a in range(count):
                for p in range(6):
                    for q in range(6):
                        total = 0.0
                        for i in range(3):
                            total += handles[a, i, p] * pulls[i, q]
                        out[6 * clusters[a] + p, 6 * clusters[b] + q] += total
