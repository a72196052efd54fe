"""The local and global step of Algorithm 2 of [BEH18] for one type of constraint, compiled for its projection.

`_settle` is a template: `project` is the constraint's lane (constraint/kernels.py), ROWS the rows of its values, GUIDED
whether a normal comes along, REAL the precision in which it works. No system is solved here: with A constant, positions
are q = base + A⁻¹UᵀSᵀV c, and A⁻¹UᵀSᵀV was computed beforehand.
"""

from functools import cache

import numpy as np

from supple.constraint.kernels import LANES, MEMORY, PARAMETERS, PROJECTION, VALUE
from supple.linalg.compiled import compile_copy

__all__ = ["settle_kernel"]


def _settle(q, base, out, iterations, starts, blocks, values, parameters, memory, fit, answer, coefficients):
    """out (3, c) = base + coefficients · answer after some iterations from q (3, c).

    Sampled element e reads the blocks starts[e] to starts[e + 1] of S U, `values` (k, rows, 4); `fit` is the transposed
    fit, (s, m) or (p s, m); `answer` (g, M, c) holds D = A⁻¹UᵀSᵀV transposed, one for all axes or one each;
    `coefficients` are (3, M), `memory` (4, s) quaternions that are kept, or nothing.
    """
    count = len(starts) - 1
    t = np.zeros((PARAMETERS + 2 * parameters.shape[0], LANES), REAL)
    P = np.empty((3, ROWS, count), q.dtype)
    for round in range(iterations):
        source = q if round == 0 else out
        for begin in range(0, count, LANES):
            lanes = min(LANES, count - begin)
            for l in range(lanes):
                for i in range(3 * ROWS):
                    t[VALUE + i, l] = 0.0
                if GUIDED:
                    u0, u1, u2, v0, v1, v2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for k in range(starts[begin + l], starts[begin + l + 1]):
                    c = 4 * blocks[k]
                    x0, x1, x2, x3 = source[0, c], source[0, c + 1], source[0, c + 2], source[0, c + 3]
                    y0, y1, y2, y3 = source[1, c], source[1, c + 1], source[1, c + 2], source[1, c + 3]
                    z0, z1, z2, z3 = source[2, c], source[2, c + 1], source[2, c + 2], source[2, c + 3]
                    for r in range(ROWS):
                        a, b, d, e = values[k, r, 0], values[k, r, 1], values[k, r, 2], values[k, r, 3]
                        t[VALUE + 3 * r, l] += a * x0 + b * x1 + d * x2 + e * x3
                        t[VALUE + 3 * r + 1, l] += a * y0 + b * y1 + d * y2 + e * y3
                        t[VALUE + 3 * r + 2, l] += a * z0 + b * z1 + d * z2 + e * z3
                    if GUIDED:
                        a, b, d, e = values[k, ROWS, 0], values[k, ROWS, 1], values[k, ROWS, 2], values[k, ROWS, 3]
                        u0 += a * x0 + b * x1 + d * x2 + e * x3
                        u1 += a * y0 + b * y1 + d * y2 + e * y3
                        u2 += a * z0 + b * z1 + d * z2 + e * z3
                        r = ROWS + 1
                        a, b, d, e = values[k, r, 0], values[k, r, 1], values[k, r, 2], values[k, r, 3]
                        v0 += a * x0 + b * x1 + d * x2 + e * x3
                        v1 += a * y0 + b * y1 + d * y2 + e * y3
                        v2 += a * z0 + b * z1 + d * z2 + e * z3
                if GUIDED:
                    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
                    length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
                    unit = 1.0 / (length if length > 0.0 else 1.0)
                    t[VALUE + 3, l], t[VALUE + 4, l], t[VALUE + 5, l] = n0 * unit, n1 * unit, n2 * unit
            for i in range(4 if memory.shape[1] else 0):
                for l in range(lanes):
                    t[MEMORY + i, l] = memory[i, begin + l]
            for i in range(parameters.shape[0]):
                for l in range(lanes):
                    t[PARAMETERS + i, l] = parameters[i, begin + l]
            for l in range(lanes):
                project(t, l)
            for i in range(4 if memory.shape[1] else 0):
                for l in range(lanes):
                    memory[i, begin + l] = t[MEMORY + i, l]
            for i in range(3):
                for r in range(ROWS):
                    for l in range(lanes):
                        P[i, r, begin + l] = t[PROJECTION + 3 * r + i, l]
        coefficients[:] = np.dot(P.reshape(-1, fit.shape[0]), fit).reshape(3, -1)
        if answer.shape[0] == 1:
            out[:] = base + np.dot(coefficients, answer[0])
        else:
            for i in range(3):
                out[i] = base[i] + np.dot(coefficients[i], answer[i])


@cache
def settle_kernel(lane, rows, guided, single):
    """The step for the constraint with this lane, which works in single precision or in double."""
    names = {"project": lane, "ROWS": rows, "GUIDED": guided, "REAL": np.float32 if single else np.float64}
    name = f"{lane.__name__.strip('_')}_{rows}_{'single' if single else 'double'}"
    return compile_copy(_settle, name, names, fastmath={"contract", "nsz", "reassoc"})
