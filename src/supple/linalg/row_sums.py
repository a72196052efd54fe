"""Sums of rows of a dense matrix, one combination each for x, y and z: small products at the speed of the caches."""

from supple.linalg.jit import njit
from supple.linalg.vectors import copy_rows

__all__ = ["add_products", "add_rows"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def add_rows(rows, factors, matrices, base, out):
    """out = base + the sum over chosen rows of factors[i, row] matrices[g, row] along each axis i, all (3, c).

    `matrices` is (1, M, c), one for all axes, or (3, M, c); `factors` (3, M). Four rows are added at a time.
    """
    total = base.copy()  # made here, so that the loops vectorise
    columns, done = matrices.shape[2], 0
    if matrices.shape[0] == 1:
        D = matrices[0]
        done = len(rows) - len(rows) % 4
        for j in range(0, done, 4):
            a, b, c, d = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
            x0, x1, x2, x3 = factors[0, a], factors[0, b], factors[0, c], factors[0, d]
            y0, y1, y2, y3 = factors[1, a], factors[1, b], factors[1, c], factors[1, d]
            z0, z1, z2, z3 = factors[2, a], factors[2, b], factors[2, c], factors[2, d]
            for k in range(columns):
                d0, d1, d2, d3 = D[a, k], D[b, k], D[c, k], D[d, k]
                total[0, k] += x0 * d0 + x1 * d1 + x2 * d2 + x3 * d3
                total[1, k] += y0 * d0 + y1 * d1 + y2 * d2 + y3 * d3
                total[2, k] += z0 * d0 + z1 * d1 + z2 * d2 + z3 * d3
    for j in range(done, len(rows)):
        for i in range(3):
            share, row = factors[i, rows[j]], matrices[min(i, matrices.shape[0] - 1), rows[j]]
            for k in range(columns):
                total[i, k] += share * row[k]
    copy_rows(total, out)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def add_products(matrices, vectors, base, out):
    """out = base + the products of rows with vectors (3, c) along each axis, out and base (3, M); matrices as above.

    Two rows at a time share what they read.
    """
    half, last, count = matrices.shape[0] // 2, matrices.shape[0] - 1, matrices.shape[1]
    x, y, z = vectors[0], vectors[1], vectors[2]
    for j in range(0, count, 2):
        i = min(j + 1, count - 1)
        a, b, c = matrices[0, j], matrices[half, j], matrices[last, j]
        d, e, f = matrices[0, i], matrices[half, i], matrices[last, i]
        a0, b0, c0, d0, e0, f0 = base[0, j], base[1, j], base[2, j], base[0, i], base[1, i], base[2, i]
        for k in range(matrices.shape[2]):
            a0 += a[k] * x[k]
            b0 += b[k] * y[k]
            c0 += c[k] * z[k]
            d0 += d[k] * x[k]
            e0 += e[k] * y[k]
            f0 += f[k] * z[k]
        out[0, j], out[1, j], out[2, j], out[0, i], out[1, i], out[2, i] = a0, b0, c0, d0, e0, f0
