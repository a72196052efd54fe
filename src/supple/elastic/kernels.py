"""Energy, gradient and stiffness of elements, eight at a time.

The functions below are templates: psi, stress, frame and spectrum are the material's (material/response.py).
Loops over lanes hold no branch and touch one scratch array only, so that they become vector instructions.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import prange

from supple.elastic.clusters import LANES
from supple.linalg.jit import njit
from supple.linalg.small import clamp_symmetric, matmul, matmul_nt, plain_point, point
from supple.material.response import Response, specialise

__all__ = ["EXACT", "LIGHT_PARALLEL_FROM", "PARALLEL_FROM", "PROJECTED", "VISCOUS", "Kernels", "kernels"]


# Forms of the stiffness: as it is; clamped to what resists; and that of a viscous material, where the stress does not
# resist turning: twists are nothing but the stress at work as an element turns, and damping must slow no spinning body.
EXACT, PROJECTED, VISCOUS = 0, 1, 2


class Kernels(NamedTuple):
    """The loops over elements, compiled for one material."""

    energy: Any
    gradient: Any
    stiffness: Any


@njit(cache=True)
def gather(x, tets, inverse, volume, moduli, begin, end, t):
    """Fill rows 0:9 of t with edges, 9:18 with inverse rest edges, 18 with volumes, 19:22 with moduli."""
    for l in range(LANES):
        e = min(begin + l, end - 1)  # lanes past the end repeat the last element and are not scattered
        a, b, c, d = tets[0, e], tets[1, e], tets[2, e], tets[3, e]
        for i in range(3):
            origin = x[a, i]
            t[3 * i, l] = x[b, i] - origin
            t[3 * i + 1, l] = x[c, i] - origin
            t[3 * i + 2, l] = x[d, i] - origin
        for k in range(9):
            t[9 + k, l] = inverse[k, e]
        t[18, l] = volume[e]
        for k in range(3):
            t[19 + k, l] = moduli[k, e]


@plain_point
def read(t, row, l):
    """The nine floats of a matrix in rows row:row+9 of lane l."""
    return (
        t[row, l], t[row + 1, l], t[row + 2, l],
        t[row + 3, l], t[row + 4, l], t[row + 5, l],
        t[row + 6, l], t[row + 7, l], t[row + 8, l],
    )  # fmt: skip


@plain_point
def write(t, row, l, A):
    """Put the nine floats of a matrix into rows row:row+9 of lane l."""
    t[row, l], t[row + 1, l], t[row + 2, l] = A[0], A[1], A[2]
    t[row + 3, l], t[row + 4, l], t[row + 5, l] = A[3], A[4], A[5]
    t[row + 6, l], t[row + 7, l], t[row + 8, l] = A[6], A[7], A[8]


def _energy(x, tets, inverse, volume, moduli, start, out):
    for k in prange(start.size - 1):
        t = np.empty((23, LANES))
        total = 0.0
        for begin in range(start[k], start[k + 1], LANES):
            end = min(begin + LANES, start[k + 1])
            gather(x, tets, inverse, volume, moduli, begin, end, t)
            for l in range(LANES):
                F = matmul(read(t, 0, l), read(t, 9, l))
                t[22, l] = t[18, l] * psi(F, (t[19, l], t[20, l], t[21, l]))
            for l in range(end - begin):
                total += t[22, l]
        out[k] = total


def _gradient(x, tets, inverse, volume, moduli, start, colour, out):
    for c in range(colour.size - 1):
        for k in prange(colour[c], colour[c + 1]):
            t = np.empty((31, LANES))
            for begin in range(start[k], start[k + 1], LANES):
                end = min(begin + LANES, start[k + 1])
                gather(x, tets, inverse, volume, moduli, begin, end, t)
                for l in range(LANES):
                    G = read(t, 9, l)
                    P = stress(matmul(read(t, 0, l), G), (t[19, l], t[20, l], t[21, l]))
                    f = matmul_nt(P, G)  # column a - 1 is the force on vertex a
                    v = t[18, l]
                    write(
                        t,
                        22,
                        l,
                        (v * f[0], v * f[1], v * f[2], v * f[3], v * f[4], v * f[5], v * f[6], v * f[7], v * f[8]),
                    )
                for l in range(end - begin):
                    e = begin + l
                    for i in range(3):
                        f1, f2, f3 = t[22 + 3 * i, l], t[23 + 3 * i, l], t[24 + 3 * i, l]
                        out[tets[0, e], i] -= f1 + f2 + f3
                        out[tets[1, e], i] += f1
                        out[tets[2, e], i] += f2
                        out[tets[3, e], i] += f3


@point
def _pair_block(a, b, A, d, o):
    """The stiffness between two vertices in the material's frame, a and b their shape gradients there."""
    return (
        A[0] * a[0] * b[0] + d[2] * a[1] * b[1] + d[1] * a[2] * b[2],
        A[3] * a[0] * b[1] + o[2] * a[1] * b[0],
        A[4] * a[0] * b[2] + o[1] * a[2] * b[0],
        A[3] * a[1] * b[0] + o[2] * a[0] * b[1],
        A[1] * a[1] * b[1] + d[2] * a[0] * b[0] + d[0] * a[2] * b[2],
        A[5] * a[1] * b[2] + o[0] * a[2] * b[1],
        A[4] * a[2] * b[0] + o[1] * a[0] * b[2],
        A[5] * a[2] * b[1] + o[0] * a[1] * b[2],
        A[2] * a[2] * b[2] + d[1] * a[0] * b[0] + d[0] * a[1] * b[1],
    )


# Unsigned positions: signed ones make Numba test each of the ninety sums below for a negative index.
_1, _2 = np.uint64(1), np.uint64(2)


@point
def _add_row(data, p, a, b, c):
    """Add three neighbouring entries."""
    data[p] += a
    data[p + _1] += b
    data[p + _2] += c


@njit(cache=True)
def scatter(t, l, e, tets, rows, lengths, slots, data):
    """Add one element's ten blocks to the upper triangle (linalg/pattern.py says where blocks live)."""
    k = 22
    for a in range(4):
        vertex = tets[a, e]
        if rows[vertex] >= 0:
            p, step = np.uint64(rows[vertex]), np.uint64(lengths[vertex])
            _add_row(data, p, t[k, l], t[k + 1, l], t[k + 2, l])
            p += step
            data[p] += t[k + 4, l]
            data[p + _1] += t[k + 5, l]
            data[p + step - _1] += t[k + 8, l]
        k += 9
    pair = 0
    for a in range(3):
        step = np.uint64(lengths[tets[a, e]])
        for _ in range(a + 1, 4):
            if slots[pair, e] >= 0:
                p = np.uint64(slots[pair, e])
                _add_row(data, p, t[k, l], t[k + 1, l], t[k + 2, l])
                p += step - _1
                _add_row(data, p, t[k + 3, l], t[k + 4, l], t[k + 5, l])
                p += step - _2
                _add_row(data, p, t[k + 6, l], t[k + 7, l], t[k + 8, l])
            pair += 1
            k += 9


# Scratch rows of the stiffness kernel: 22 + 9 a holds the diagonal block of vertex a, 58 + 9 p that of pair p
# in the order 01 02 03 12 13 23, 112: the frame and its spectrum.
def _stiffness(x, tets, inverse, volume, moduli, start, colour, form, rows, lengths, slots, data):
    for c in range(colour.size - 1):
        for k in prange(colour[c], colour[c + 1]):
            t = np.empty((142, LANES))
            for begin in range(start[k], start[k + 1], LANES):
                end = min(begin + LANES, start[k + 1])
                gather(x, tets, inverse, volume, moduli, begin, end, t)
                for l in range(LANES):
                    G = read(t, 9, l)
                    U, s, V = frame(matmul(read(t, 0, l), G))
                    A, twist, flip = spectrum(s, (t[19, l], t[20, l], t[21, l]))
                    v = t[18, l]
                    write(t, 112, l, U)
                    write(t, 121, l, matmul(G, V))  # rows: shape gradients in the frame
                    t[130, l], t[131, l], t[132, l] = v * A[0], v * A[1], v * A[2]
                    t[133, l], t[134, l], t[135, l] = v * A[3], v * A[4], v * A[5]
                    t[136, l], t[137, l], t[138, l] = v * twist[0], v * twist[1], v * twist[2]
                    t[139, l], t[140, l], t[141, l] = v * flip[0], v * flip[1], v * flip[2]
                if form != EXACT:
                    for l in range(LANES):
                        A = clamp_symmetric((t[130, l], t[131, l], t[132, l], t[133, l], t[134, l], t[135, l]))
                        t[130, l], t[131, l], t[132, l] = A[0], A[1], A[2]
                        t[133, l], t[134, l], t[135, l] = A[3], A[4], A[5]
                        t[136, l], t[137, l] = max(t[136, l], 0.0), max(t[137, l], 0.0)
                        t[138, l], t[139, l] = max(t[138, l], 0.0), max(t[139, l], 0.0)
                        t[140, l], t[141, l] = max(t[140, l], 0.0), max(t[141, l], 0.0)
                if form == VISCOUS:
                    for l in range(LANES):
                        t[136, l] = t[137, l] = t[138, l] = 0.0
                for l in range(LANES):
                    U = read(t, 112, l)
                    A = (t[130, l], t[131, l], t[132, l], t[133, l], t[134, l], t[135, l])
                    d = (0.5 * (t[139, l] + t[136, l]), 0.5 * (t[140, l] + t[137, l]), 0.5 * (t[141, l] + t[138, l]))
                    o = (0.5 * (t[139, l] - t[136, l]), 0.5 * (t[140, l] - t[137, l]), 0.5 * (t[141, l] - t[138, l]))
                    g1 = (t[121, l], t[122, l], t[123, l])
                    g2 = (t[124, l], t[125, l], t[126, l])
                    g3 = (t[127, l], t[128, l], t[129, l])
                    write(t, 31, l, matmul_nt(matmul(U, _pair_block(g1, g1, A, d, o)), U))
                    write(t, 40, l, matmul_nt(matmul(U, _pair_block(g2, g2, A, d, o)), U))
                    write(t, 49, l, matmul_nt(matmul(U, _pair_block(g3, g3, A, d, o)), U))
                    write(t, 85, l, matmul_nt(matmul(U, _pair_block(g1, g2, A, d, o)), U))
                    write(t, 94, l, matmul_nt(matmul(U, _pair_block(g1, g3, A, d, o)), U))
                    write(t, 103, l, matmul_nt(matmul(U, _pair_block(g2, g3, A, d, o)), U))
                complete(t)
                for l in range(end - begin):
                    scatter(t, l, begin + l, tets, rows, lengths, slots, data)


@njit(cache=True)
def complete(t):
    """The blocks of vertex 0, minus the sums of the others: a translation costs nothing."""
    for i in range(3):
        for j in range(3):
            k, m = 3 * i + j, 3 * j + i
            for l in range(LANES):
                t[58 + k, l] = -(t[31 + k, l] + t[85 + m, l] + t[94 + m, l])
            for l in range(LANES):
                t[67 + k, l] = -(t[85 + k, l] + t[40 + k, l] + t[103 + m, l])
            for l in range(LANES):
                t[76 + k, l] = -(t[94 + k, l] + t[103 + k, l] + t[49 + k, l])
    for k in range(9):
        for l in range(LANES):
            t[22 + k, l] = -(t[58 + k, l] + t[67 + k, l] + t[76 + k, l])


# Elements that are worth a second thread, which takes a tenth of a millisecond to wake: of the stiffness (half a
# microsecond each), and of energy and gradient (0.03 microseconds each)
PARALLEL_FROM, LIGHT_PARALLEL_FROM = 4_000, 30_000


@cache
def kernels(response: Response, parallel: bool, light_parallel: bool) -> Kernels:
    """The loops for one material, the stiffness in parallel or not, energy and gradient in parallel or not; compiled at
    the first call, read from the cache afterwards."""
    found = []
    for template, wide in ((_energy, light_parallel), (_gradient, light_parallel), (_stiffness, parallel)):
        found.append(specialise(template, response, "parallel" if wide else "serial", parallel=wide))
    return Kernels(*found)
