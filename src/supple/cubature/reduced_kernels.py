"""Stress, roots of the Hessian and energy of stacked elements from their deformation gradients, eight at a time.

Elements of one kind of material stand together: those of kind k from bounds[k] to bounds[k + 1]. The loops of several
kinds are chained into one function, so that a step of a body made of many materials is still one compiled call.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from supple.elastic.clusters import LANES
from supple.elastic.kernels import read, write
from supple.linalg.compiled import compile_copy
from supple.linalg.jit import njit
from supple.linalg.small import matmul_nt, plain_point, point, signed_svd, single_svd, symmetric_eigen
from supple.material.response import Response, specialise

__all__ = ["PointLoops", "point_loops"]


class PointLoops(NamedTuple):
    """The loops over the deformation gradients F (9 c,) of stacked elements; `table` (4, c) has volumes and moduli."""

    energy: Callable[..., Any]
    """energy(F, table, bounds, k): the energy of kinds from k on [J]."""
    stress: Callable[..., Any]
    """stress(F, table, bounds, k, begin, end, P): fill P (9 c,) with volume times stress for elements begin to end."""
    roots: Callable[..., Any]
    """roots(F, table, bounds, k, begin, end, L, signs): volume times Hessian is the sum of ± the squares of the rows of
    L (c, 9, 9), with the sign that signs (c, 9) says."""
    name: str


@cache
def point_loops(responses: tuple[Response, ...]) -> PointLoops:
    """The loops for materials in the order in which their elements stand."""
    first, *others = responses
    frame = single_svd if first.frame is signed_svd else first.frame
    roots = compile_copy(_roots, first.name, {"single_frame": frame, "spectrum": first.spectrum})
    leaf = PointLoops(specialise(_energy, first), specialise(_stress, first), roots, first.name)
    if not others:
        return leaf
    rest = point_loops(tuple(others))
    name = f"mixed_{hashlib.sha256(f'{first.name}_{rest.name}'.encode()).hexdigest()[:12]}"  # file names have an end
    return PointLoops(
        compile_copy(_energy_pair, name, {"first": leaf.energy, "rest": rest.energy}),
        compile_copy(_stress_pair, name, {"first": leaf.stress, "rest": rest.stress}),
        compile_copy(_roots_pair, name, {"first": leaf.roots, "rest": rest.roots}),
        name,
    )


@point
def stretch_row(U, V, x, y, z):
    """U diag(x, y, z) Vᵀ."""
    return matmul_nt((x * U[0], y * U[1], z * U[2], x * U[3], y * U[4], z * U[5], x * U[6], y * U[7], z * U[8]), V)


@point
def dyad(U, V, a, b, factor):
    """factor u_a v_bᵀ."""
    x, y, z = factor * U[a], factor * U[3 + a], factor * U[6 + a]
    p, q, r = V[b], V[3 + b], V[6 + b]
    return x * p, x * q, x * r, y * p, y * q, y * r, z * p, z * q, z * r


@plain_point
def add_to(t, row, l, A, B, sign):
    """Put A + sign B into rows row:row+9 of lane l."""
    write(t, row, l, (
        A[0] + sign * B[0], A[1] + sign * B[1], A[2] + sign * B[2], A[3] + sign * B[3], A[4] + sign * B[4],
        A[5] + sign * B[5], A[6] + sign * B[6], A[7] + sign * B[7], A[8] + sign * B[8],
    ))  # fmt: skip


@njit(cache=True)
def gather(F, table, start, last, row, t):
    """Put deformation gradients of elements from `start` on into the first rows of t, their volumes and moduli into
    those from `row` on; lanes past the last element repeat it and are not kept."""
    for l in range(LANES):
        e = min(start + l, last - 1)
        for i in range(9):
            t[i, l] = F[9 * e + i]
        for i in range(4):
            t[row + i, l] = table[i, e]


def _energy(F, table, bounds, k):
    t, total, last = np.empty((14, LANES)), 0.0, bounds[k + 1]
    for start in range(bounds[k], last, LANES):
        gather(F, table, start, last, 9, t)
        for l in range(LANES):
            t[13, l] = t[9, l] * psi(read(t, 0, l), (t[10, l], t[11, l], t[12, l]))
        for l in range(min(LANES, last - start)):
            total += t[13, l]
    return total


def _energy_pair(F, table, bounds, k):
    return first(F, table, bounds, k) + rest(F, table, bounds, k + 1)


def _stress(F, table, bounds, k, begin, end, P):
    t = np.empty((22, LANES))
    last = min(end, bounds[k + 1])
    for start in range(max(begin, bounds[k]), last, LANES):
        gather(F, table, start, last, 18, t)
        for l in range(LANES):
            S = stress(read(t, 0, l), (t[19, l], t[20, l], t[21, l]))
            v = t[18, l]
            write(
                t, 9, l, (v * S[0], v * S[1], v * S[2], v * S[3], v * S[4], v * S[5], v * S[6], v * S[7], v * S[8])
            )  # fmt: skip
        for l in range(min(LANES, last - start)):
            for i in range(9):
                P[9 * (start + l) + i] = t[9 + i, l]


def _stress_pair(F, table, bounds, k, begin, end, P):
    first(F, table, bounds, k, begin, end, P)
    rest(F, table, bounds, k + 1, begin, end, P)


# In single precision, as what is made of it will be. No loop that computes touches both scratch arrays, or it would
# not become vector instructions. Rows of the scratch: 0 F, 9 U, 18 V, 27 stretch block, 33 twists,
# 36 flips (both halved), 39 eigenvalues, 42 eigenvectors of the block, 51 the nine rows of the result.
def _roots(F, table, bounds, k, begin, end, L, signs):
    t, w = np.empty((19, LANES)), np.empty((132, LANES), np.float32)
    minus, plus = np.float32(-1.0), np.float32(1.0)
    last = min(end, bounds[k + 1])
    for start in range(max(begin, bounds[k]), last, LANES):
        for l in range(LANES):
            e = min(start + l, last - 1)
            for i in range(9):
                w[i, l] = F[9 * e + i]
            for i in range(4):
                t[i, l] = table[i, e]
        for l in range(LANES):
            U, s, V = single_frame(read(w, 0, l))
            write(w, 9, l, U)
            write(w, 18, l, V)
            w[27, l], w[28, l], w[29, l] = s
        for i in range(3):
            for l in range(LANES):
                t[4 + i, l] = w[27 + i, l]
        for l in range(LANES):
            A, twist, flip = spectrum((t[4, l], t[5, l], t[6, l]), (t[1, l], t[2, l], t[3, l]))
            v, half = t[0, l], 0.5 * t[0, l]
            t[7, l], t[8, l], t[9, l] = v * A[0], v * A[1], v * A[2]
            t[10, l], t[11, l], t[12, l] = v * A[3], v * A[4], v * A[5]
            t[13, l], t[14, l], t[15, l] = half * twist[0], half * twist[1], half * twist[2]
            t[16, l], t[17, l], t[18, l] = half * flip[0], half * flip[1], half * flip[2]
        for i in range(12):
            for l in range(LANES):
                w[27 + i, l] = t[7 + i, l]
        for l in range(LANES):
            D, Q = symmetric_eigen((w[27, l], w[28, l], w[29, l], w[30, l], w[31, l], w[32, l]))
            w[39, l], w[40, l], w[41, l] = D[0], D[1], D[2]
            write(w, 42, l, Q)
        for l in range(LANES):
            U, V, Q = read(w, 9, l), read(w, 18, l), read(w, 42, l)
            x, y, z = np.sqrt(abs(w[39, l])), np.sqrt(abs(w[40, l])), np.sqrt(abs(w[41, l]))
            write(w, 51, l, stretch_row(U, V, x * Q[0], x * Q[3], x * Q[6]))
            write(w, 60, l, stretch_row(U, V, y * Q[1], y * Q[4], y * Q[7]))
            write(w, 69, l, stretch_row(U, V, z * Q[2], z * Q[5], z * Q[8]))
        for l in range(LANES):
            U, V = read(w, 9, l), read(w, 18, l)
            x, y, z = np.sqrt(abs(w[33, l])), np.sqrt(abs(w[34, l])), np.sqrt(abs(w[35, l]))
            add_to(w, 78, l, dyad(U, V, 1, 2, x), dyad(U, V, 2, 1, x), minus)
            add_to(w, 87, l, dyad(U, V, 2, 0, y), dyad(U, V, 0, 2, y), minus)
            add_to(w, 96, l, dyad(U, V, 0, 1, z), dyad(U, V, 1, 0, z), minus)
        for l in range(LANES):
            U, V = read(w, 9, l), read(w, 18, l)
            x, y, z = np.sqrt(abs(w[36, l])), np.sqrt(abs(w[37, l])), np.sqrt(abs(w[38, l]))
            add_to(w, 105, l, dyad(U, V, 1, 2, x), dyad(U, V, 2, 1, x), plus)
            add_to(w, 114, l, dyad(U, V, 2, 0, y), dyad(U, V, 0, 2, y), plus)
            add_to(w, 123, l, dyad(U, V, 0, 1, z), dyad(U, V, 1, 0, z), plus)
        for l in range(min(LANES, last - start)):
            for i in range(3):
                signs[start + l, i] = w[39 + i, l] >= 0.0
                signs[start + l, 3 + i] = w[33 + i, l] >= 0.0
                signs[start + l, 6 + i] = w[36 + i, l] >= 0.0
            for i in range(9):
                for j in range(9):
                    L[start + l, i, j] = w[51 + 9 * i + j, l]


def _roots_pair(F, table, bounds, k, begin, end, L, signs):
    first(F, table, bounds, k, begin, end, L, signs)
    rest(F, table, bounds, k + 1, begin, end, L, signs)
