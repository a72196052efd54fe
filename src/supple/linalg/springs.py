"""What conjugate gradients need of an overlay's springs, without a matrix of them: loops in one order."""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["add_clustered", "add_diagonal", "add_product", "relax_joined"]

_SWEEPS = 8  # of Chebyshev's iteration, each a pass over the springs
_SPREAD = 60.0  # largest by smallest of the eigenvalues that it damps


@njit(cache=True, fastmath={"contract", "nsz"})
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
        f0 = curvature[m, 0, 0] * g0 + curvature[m, 0, 1] * g1 + curvature[m, 0, 2] * g2
        f1 = curvature[m, 1, 0] * g0 + curvature[m, 1, 1] * g1 + curvature[m, 1, 2] * g2
        f2 = curvature[m, 2, 0] * g0 + curvature[m, 2, 1] * g1 + curvature[m, 2, 2] * g2
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


@njit(cache=True, fastmath={"contract", "nsz"})
def relax_joined(face, rows, weights, curvature, own, inverse, r, z, work):
    """Replace the part D⁻¹ r of z in the rows `face` by an approximate solution of (B + S) z = r; returns the gain r·z.

    S are springs between several of these rows, numbered among themselves, B the diagonal blocks without them, `own`,
    and D those of B + S. Chebyshev's iteration on D⁻¹ (B + S), whose eigenvalues are no larger than the number of rows
    of a spring, is a fixed positive-definite operator, as conjugate gradients need.
    """
    largest = float(rows.shape[1])
    middle, half = 0.5 * largest * (1.0 + 1.0 / _SPREAD), 0.5 * largest * (1.0 - 1.0 / _SPREAD)
    residual, step, total, product = work[0], work[1], work[2], work[3]
    for i in range(face.size):
        v = face[i]
        r0, r1, r2 = r[v, 0], r[v, 1], r[v, 2]
        for j in range(3):
            residual[i, j] = r[v, j]
            step[i, j] = (inverse[v, 3 * j] * r0 + inverse[v, 3 * j + 1] * r1 + inverse[v, 3 * j + 2] * r2) / middle
            total[i, j] = step[i, j]
    rho = half / middle
    for _ in range(_SWEEPS - 1):
        for i in range(face.size):
            s0, s1, s2 = step[i, 0], step[i, 1], step[i, 2]
            for j in range(3):
                product[i, j] = own[i, 3 * j] * s0 + own[i, 3 * j + 1] * s1 + own[i, 3 * j + 2] * s2
        add_product(rows, weights, curvature, step, product)
        next_rho = 1.0 / (2.0 * middle / half - rho)
        keep, take = next_rho * rho, 2.0 * next_rho / half
        rho = next_rho
        for i in range(face.size):
            v = face[i]
            for j in range(3):
                residual[i, j] -= product[i, j]
            r0, r1, r2 = residual[i, 0], residual[i, 1], residual[i, 2]
            for j in range(3):
                new = inverse[v, 3 * j] * r0 + inverse[v, 3 * j + 1] * r1 + inverse[v, 3 * j + 2] * r2
                step[i, j] = keep * step[i, j] + take * new
                total[i, j] += step[i, j]
    gain = 0.0
    for i in range(face.size):
        v = face[i]
        for j in range(3):
            plain = inverse[v, 3 * j] * r[v, 0] + inverse[v, 3 * j + 1] * r[v, 1] + inverse[v, 3 * j + 2] * r[v, 2]
            z[v, j] += total[i, j] - plain
            gain += (total[i, j] - plain) * r[v, j]
    return gain
