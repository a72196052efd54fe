"""Products of three rows with a matrix, which every iteration of the hyper-reduced solver makes.

BLAS packs the matrix first and reads it more than once: from 600 x 600 on that is 3 to 10 times as slow as this.
"""

from numba import njit

__all__ = ["add_product"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def add_product(rows, matrix, out):
    """out (3, c) += rows (3, m) matrix (m, c)."""
    count, width = matrix.shape
    x, y, z = out[0], out[1], out[2]
    even = count - count % 4
    for j in range(0, even, 4):
        a, b, c, d = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
        p0, p1, p2, p3 = rows[0, j], rows[0, j + 1], rows[0, j + 2], rows[0, j + 3]
        q0, q1, q2, q3 = rows[1, j], rows[1, j + 1], rows[1, j + 2], rows[1, j + 3]
        r0, r1, r2, r3 = rows[2, j], rows[2, j + 1], rows[2, j + 2], rows[2, j + 3]
        for i in range(width):
            x[i] += p0 * a[i] + p1 * b[i] + p2 * c[i] + p3 * d[i]
            y[i] += q0 * a[i] + q1 * b[i] + q2 * c[i] + q3 * d[i]
            z[i] += r0 * a[i] + r1 * b[i] + r2 * c[i] + r3 * d[i]
    for j in range(even, count):
        a, p, q, r = matrix[j], rows[0, j], rows[1, j], rows[2, j]
        for i in range(width):
            x[i] += p * a[i]
            y[i] += q * a[i]
            z[i] += r * a[i]
