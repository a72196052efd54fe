"""Stress, roots of the Hessian and energy of stacked elements from their deformation gradients, eight at a time.

Elements of one kind of material stand together: those of kind k from bounds[k] to bounds[k + 1]. The loops of several
kinds are chained into one function, so that a step of a body made of many materials is still one compiled call.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from supple.elastic.clusters import LANES
from supple.elastic.kernels import read, write
from supple.linalg.compiled import compile_copy
from supple.linalg.small import symmetric_eigen
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
    suffix = "_".join((first.name, first.source))
    leaf = PointLoops(
        specialise(_energy, first), specialise(_stress, first), specialise(_roots, first), suffix
    )  # fmt: skip
    if not others:
        return leaf
    rest = point_loops(tuple(others))
    name = f"{suffix}_{rest.name}"
    return PointLoops(
        compile_copy(_energy_pair, name, {"first": leaf.energy, "rest": rest.energy}),
        compile_copy(_stress_pair, name, {"first": leaf.stress, "rest": rest.stress}),
        compile_copy(_roots_pair, name, {"first": leaf.roots, "rest": rest.roots}),
        name,
    )


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def write_rows(t):
    """Eigenvectors of the Hessian times the roots of their eigenvalues: combinations of the dyads u_a v_bᵀ."""
    for k in range(3):
        for i in range(3):
            for j in range(3):
                for l in range(LANES):
                    t[52 + 9 * k + 3 * i + j, l] = t[43 + k, l] * t[13 + 3 * i, l] * t[22 + 3 * j, l]
                for l in range(LANES):
                    t[52 + 9 * k + 3 * i + j, l] += t[46 + k, l] * t[14 + 3 * i, l] * t[23 + 3 * j, l]
                for l in range(LANES):
                    t[52 + 9 * k + 3 * i + j, l] += t[49 + k, l] * t[15 + 3 * i, l] * t[24 + 3 * j, l]
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        for i in range(3):
            for j in range(3):
                for l in range(LANES):
                    x = t[13 + 3 * i + a, l] * t[22 + 3 * j + b, l]
                    y = t[13 + 3 * i + b, l] * t[22 + 3 * j + a, l]
                    t[79 + 9 * k + 3 * i + j, l] = t[37 + k, l] * (x - y)
                    t[106 + 9 * k + 3 * i + j, l] = t[40 + k, l] * (x + y)


def _energy(F, table, bounds, k):
    total = 0.0
    for e in range(bounds[k], bounds[k + 1]):
        f = F[9 * e : 9 * e + 9]
        m = (table[1, e], table[2, e], table[3, e])
        total += table[0, e] * psi((f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]), m)
    return total


def _energy_pair(F, table, bounds, k):
    return first(F, table, bounds, k) + rest(F, table, bounds, k + 1)


def _stress(F, table, bounds, k, begin, end, P):
    t = np.empty((22, LANES))
    last = min(end, bounds[k + 1])
    for start in range(max(begin, bounds[k]), last, LANES):
        for l in range(LANES):
            e = min(start + l, last - 1)  # lanes past the end repeat the last element and are not kept
            for i in range(9):
                t[i, l] = F[9 * e + i]
            for i in range(4):
                t[18 + i, l] = table[i, e]
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


# Rows of the scratch: 0 F, 9 volume and moduli, 13 U, 22 V, 31 eigenvalues of the stretch block, 34 of twists and
# flips, 37 and 40 their roots, 43 eigenvectors of the stretch block times roots (column k at 43 + k), 52 the result.
def _roots(F, table, bounds, k, begin, end, L, signs):
    t = np.empty((133, LANES))
    last = min(end, bounds[k + 1])
    for start in range(max(begin, bounds[k]), last, LANES):
        for l in range(LANES):
            e = min(start + l, last - 1)
            for i in range(9):
                t[i, l] = F[9 * e + i]
            for i in range(4):
                t[9 + i, l] = table[i, e]
        for l in range(LANES):
            U, s, V = frame(read(t, 0, l))
            A, twist, flip = spectrum(s, (t[10, l], t[11, l], t[12, l]))
            v, half = t[9, l], 0.5 * t[9, l]
            write(t, 13, l, U)
            write(t, 22, l, V)
            t[0, l], t[1, l], t[2, l] = v * A[0], v * A[1], v * A[2]
            t[3, l], t[4, l], t[5, l] = v * A[3], v * A[4], v * A[5]
            t[37, l], t[38, l], t[39, l] = half * twist[0], half * twist[1], half * twist[2]
            t[40, l], t[41, l], t[42, l] = half * flip[0], half * flip[1], half * flip[2]
        for l in range(LANES):
            D, Q = symmetric_eigen((t[0, l], t[1, l], t[2, l], t[3, l], t[4, l], t[5, l]))
            x, y, z = np.sqrt(abs(D[0])), np.sqrt(abs(D[1])), np.sqrt(abs(D[2]))
            t[31, l], t[32, l], t[33, l] = D[0], D[1], D[2]
            write(
                t, 43, l,
                (Q[0] * x, Q[1] * y, Q[2] * z, Q[3] * x, Q[4] * y, Q[5] * z, Q[6] * x, Q[7] * y, Q[8] * z),
            )  # fmt: skip
        for i in range(9):
            row = 31 + i if i < 3 else 34 + i  # stretch, then twists and flips
            for l in range(min(LANES, last - start)):
                signs[start + l, i] = t[row, l] >= 0.0
        for i in range(37, 43):
            for l in range(LANES):
                t[i, l] = np.sqrt(abs(t[i, l]))
        write_rows(t)
        for i in range(9):
            for j in range(9):
                for l in range(min(LANES, last - start)):
                    L[start + l, i, j] = t[52 + 9 * i + j, l]


def _roots_pair(F, table, bounds, k, begin, end, L, signs):
    first(F, table, bounds, k, begin, end, L, signs)
    rest(F, table, bounds, k + 1, begin, end, L, signs)
