"""The local and global step of Algorithm 2 of [BEH18] for one type of constraint, compiled for its projection.

`_settle` and `_turn` are templates: `project` is the constraint's lane (constraint/kernels.py), ROWS the rows of its
values, SEEN those of what it looks at, GUIDED whether these make a normal, REAL the precision in which it works. No
system is solved here: with A constant, positions are q = base + A⁻¹UᵀSᵀV c, and A⁻¹UᵀSᵀV was computed beforehand.
Clusters (`_turn`) need not even see positions.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from supple.constraint import Constraint
from supple.constraint.kernels import LANES, MEMORY, PARAMETERS, PROJECTION, VALUE
from supple.contact.sweep import hold, press, spread
from supple.linalg.compiled import compile_copy
from supple.linalg.row_sums import add_products, add_rows
from supple.linalg.small import point
from supple.method.projective.stopping import find_change

__all__ = ["choose_lane", "round_off", "settle_kernel", "turn_kernel"]

Lane = Callable[..., Any]


def _settle(q, base, out, stopping, starts, blocks, values, parameters, memory, fit, answer, coefficients, grip):
    """out (3, c) = base + coefficients · answer after some iterations from q (3, c), until `stopping` ends them.

    What comes back is how many they were, and the share of its way that the step still had to go.

    Sampled element e reads the blocks starts[e] to starts[e + 1] of S U, `values` (k, SEEN, 4); `fit` is the transposed
    fit, (s, m) or (p s, m), or empty where projections are coefficients themselves; `answer` (g, M, c) holds
    D = A⁻¹UᵀSᵀV transposed, one for all axes or one each; `coefficients` are (3, M), `memory` (4, s) quaternions that
    are kept, or nothing; `grip` are contacts, or none.
    """
    count = len(starts) - 1
    t = np.zeros((PARAMETERS + 2 * parameters.shape[0], LANES), REAL)
    P, nothing = np.empty((3, ROWS, count), q.dtype), np.zeros_like(coefficients)
    zero, one, every = q.dtype.type(0), q.dtype.type(1), np.arange(coefficients.shape[1])
    changes, before, done, left = np.empty(stopping.most), q.copy(), 0, 0.0
    for round in range(stopping.most):
        source = q if round == 0 else out
        for begin in range(0, count, LANES):
            lanes = min(LANES, count - begin)
            for l in range(lanes):
                f0, f1, f2, f3, f4, f5, f6, f7, f8 = zero, zero, zero, zero, zero, zero, zero, zero, zero
                for k in range(np.uint64(starts[begin + l]), np.uint64(starts[begin + l + 1])):
                    c = 4 * blocks[k]
                    x0, x1, x2, x3 = source[0, c], source[0, c + 1], source[0, c + 2], source[0, c + 3]
                    y0, y1, y2, y3 = source[1, c], source[1, c + 1], source[1, c + 2], source[1, c + 3]
                    z0, z1, z2, z3 = source[2, c], source[2, c + 1], source[2, c + 2], source[2, c + 3]
                    s0, s1, s2, s3 = values[k, 0, 0], values[k, 0, 1], values[k, 0, 2], values[k, 0, 3]
                    f0 += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
                    f1 += s0 * y0 + s1 * y1 + s2 * y2 + s3 * y3
                    f2 += s0 * z0 + s1 * z1 + s2 * z2 + s3 * z3
                    if SEEN > 1:
                        s0, s1, s2, s3 = values[k, 1, 0], values[k, 1, 1], values[k, 1, 2], values[k, 1, 3]
                        f3 += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
                        f4 += s0 * y0 + s1 * y1 + s2 * y2 + s3 * y3
                        f5 += s0 * z0 + s1 * z1 + s2 * z2 + s3 * z3
                    if SEEN > 2:
                        s0, s1, s2, s3 = values[k, 2, 0], values[k, 2, 1], values[k, 2, 2], values[k, 2, 3]
                        f6 += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
                        f7 += s0 * y0 + s1 * y1 + s2 * y2 + s3 * y3
                        f8 += s0 * z0 + s1 * z1 + s2 * z2 + s3 * z3
                if GUIDED:  # the other rows are edges: what comes along is their normal
                    n0, n1, n2 = f4 * f8 - f5 * f7, f5 * f6 - f3 * f8, f3 * f7 - f4 * f6
                    length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
                    unit = one / (length if length > zero else one)
                    f3, f4, f5 = n0 * unit, n1 * unit, n2 * unit
                t[VALUE, l], t[VALUE + 1, l], t[VALUE + 2, l] = f0, f1, f2
                t[VALUE + 3, l], t[VALUE + 4, l], t[VALUE + 5, l] = f3, f4, f5
                t[VALUE + 6, l], t[VALUE + 7, l], t[VALUE + 8, l] = f6, f7, f8
            _recall(t, memory, parameters, begin, lanes)
            for l in range(lanes):
                project(t, l)
            _remember(t, memory, begin, lanes)
            for i in range(3):
                for r in range(ROWS):
                    for l in range(lanes):
                        P[i, r, begin + l] = t[PROJECTION + 3 * r + i, l]
        if fit.size and len(fit) != count:
            add_rows(np.arange(len(fit)), P.reshape(3, -1), fit.reshape(1, *fit.shape), nothing, coefficients)
        else:  # one scalar fit for every row, or none: projections are coefficients themselves
            found = np.dot(P.reshape(-1, count), fit).reshape(3, -1) if fit.size else P.reshape(3, -1)
            for i in range(3):
                for k in range(found.shape[1]):
                    coefficients[i, k] = found[i, k]
        add_rows(every, coefficients, answer, base, out)
        if len(grip.goal):
            press(grip, out)
        done = round + 1
        changes[round], way, size = follow(out, q, before)
        if done >= stopping.least:
            left = find_change(changes, done, way, NOTHING * size)
            if left <= stopping.convergence:
                break
    return done, left


def _turn(F, base, stopping, parameters, memory, weight, Z, P, free, grip):
    """Weighted projections P (3, 3, s) of clusters after some iterations from their values F (3, 3, s), axes first,
    until `stopping` ends them.

    What comes back is how many they were, and the share of its way that the step still had to go, in values.

    F follows F = base + Z P, `base` being what they are without projections, and Z = Ḡ A⁻¹ Ḡᵀ (g, 3 s, 3 s), one for
    all axes or one each. `memory` (4, s) are quaternions that are kept, or nothing; `grip` are contacts, or none, with
    Y = C A⁻¹ Ḡᵀ (g, m, 3 s), and `free` (3, m) is how far they would move without projections.
    """
    count, moved = F.shape[2], np.empty_like(free)
    t = np.zeros((PARAMETERS + 2 * parameters.shape[0], LANES), REAL)
    flat, pull, every = F.reshape(3, -1), P.reshape(3, -1), np.arange(3 * count)
    changes, first, before, done, left = np.empty(stopping.most), flat.copy(), flat.copy(), 0, 0.0
    for round in range(stopping.most):
        for begin in range(0, count, LANES):
            lanes = min(LANES, count - begin)
            for i in range(3):
                for r in range(3):
                    for l in range(lanes):
                        t[VALUE + 3 * r + i, l] = F[i, r, begin + l]
            _recall(t, memory, parameters, begin, lanes)
            for l in range(lanes):
                project(t, l)
            _remember(t, memory, begin, lanes)
            for i in range(3):
                for r in range(3):
                    for l in range(lanes):
                        P[i, r, begin + l] = weight[begin + l] * t[PROJECTION + 3 * r + i, l]
        add_rows(every, pull, Z, base, flat)
        if len(grip.goal):
            add_products(grip.Y, pull, free, moved)
            hold(grip, moved)
            spread(grip.Y, grip.force, flat)
        done = round + 1
        changes[round], way, size = follow(flat, first, before)
        if done >= stopping.least:
            left = find_change(changes, done, way, NOTHING * size)
            if left <= stopping.convergence:
                break
    return done, left


@point
def follow(values, first, before):
    """The largest change of values (3, m) since those of before, which they become, how far they are from the first,
    and the largest."""
    change, way, size = 0.0, 0.0, 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            change = max(change, abs(value - before[i, j]))
            way = max(way, abs(value - first[i, j]))
            size = max(size, abs(value))
            before[i, j] = value
    return change, way, size


@point
def _recall(t, memory, parameters, begin, lanes):
    """Bring quaternions and parameters of some elements into a block."""
    for i in range(4 if memory.shape[1] else 0):
        for l in range(lanes):
            t[MEMORY + i, l] = memory[i, begin + l]
    for i in range(parameters.shape[0]):
        for l in range(lanes):
            t[PARAMETERS + i, l] = parameters[i, begin + l]


@point
def _remember(t, memory, begin, lanes):
    """Keep the quaternions of a block."""
    for i in range(4 if memory.shape[1] else 0):
        for l in range(lanes):
            memory[i, begin + l] = t[MEMORY + i, l]


def choose_lane(constraint: Constraint, single: bool) -> tuple[bool, Lane]:
    """Whether a constraint goes on from quaternions, and its lane, which then needs them."""
    kind = type(constraint)
    return kind.warm_lane is not None, (kind.single_lane if single else None) or constraint.find_lane(warm=True)


def round_off(precision: type[np.floating[Any]]) -> float:
    """The share of the largest value up to which changes are round-off."""
    return 4.0 * float(np.finfo(precision).eps)


def _real(single: bool) -> dict[str, Any]:
    """The numbers that a kernel works in, and their round-off."""
    real = np.float32 if single else np.float64
    return {"REAL": real, "NOTHING": round_off(real)}


@cache
def settle_kernel(lane, rows, guided, single):
    """The step for the constraint with this lane, which works in single precision or in double."""
    names = {
        "project": lane,
        "ROWS": rows,
        "SEEN": rows + 2 * guided,
        "GUIDED": guided,
        **_real(single),
    }
    name = f"{lane.__name__.strip('_')}_{rows}_{'single' if single else 'double'}"
    return compile_copy(_settle, name, names, fastmath={"contract", "nsz", "reassoc"})


@cache
def turn_kernel(lane, single):
    """The steps of clusters for the constraint with this lane."""
    names = {"project": lane, **_real(single)}
    name = f"turn_{lane.__name__.strip('_')}_{'single' if single else 'double'}"
    return compile_copy(_turn, name, names, fastmath={"contract", "nsz", "reassoc"})
