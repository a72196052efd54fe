"""Loops over constraints, a block of elements at a time.

The functions below are templates: `project` is the constraint's (one lane of a block in, its projection out), ROWS the
rows of its values, WIDTH the vertices of its stencils (0 where that varies), GUIDED says that the normal of the first
three vertices comes along, FIRST is 1 where only differences to the first vertex count and 0 where positions do. A
block is one scratch array, element by element in its columns, so that the loop over lanes becomes vector instructions.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import prange

from supple.linalg.compiled import compile_copy
from supple.linalg.small import point

__all__ = [
    "DISTANCE",
    "LANES",
    "MEMORY",
    "PARALLEL_FROM",
    "PARAMETERS",
    "PROJECTION",
    "VALUE",
    "Loops",
    "loops",
    "normal_of",
]

# Rows of a block: the value S x (rows 3:6 the normal of guided ones), its projection, the energy over λ/2, what is
# remembered from call to call (a quaternion), the parameters, and as many rows to work with.
VALUE, PROJECTION, DISTANCE, MEMORY, PARAMETERS = 0, 9, 18, 19, 23
LANES = 64
PARALLEL_FROM = 30_000  # elements; fewer take less than the half millisecond in which a second thread wakes up


class Loops(NamedTuple):
    """The loops over elements, compiled for one type of constraint."""

    project: Any
    """project(values, parameters, out, distance)"""
    pull: Any
    """pull(x, vertices, operator, weight, parameters, memory, start, colour, out, sums)"""


def _project(values, parameters, out, distance):
    count, width = values.shape
    t = np.zeros((PARAMETERS + 2 * parameters.shape[0], LANES))
    for begin in range(0, count, LANES):
        lanes = min(LANES, count - begin)
        for l in range(lanes):
            for k in range(width):
                t[VALUE + k, l] = values[begin + l, k]
            for k in range(parameters.shape[0]):
                t[PARAMETERS + k, l] = parameters[k, begin + l]
        for l in range(lanes):
            project(t, l)
        for l in range(lanes):
            distance[begin + l] = t[DISTANCE, l]
            for k in range(out.shape[1]):
                out[begin + l, k] = t[PROJECTION + k, l]


def _pull(x, vertices, operator, weight, parameters, memory, start, colour, out, sums):
    width = WIDTH or vertices.shape[1]
    for c in range(colour.size - 1):
        for k in prange(colour[c], colour[c + 1]):
            t = np.zeros((PARAMETERS + 2 * parameters.shape[1], LANES))
            y = np.empty((3 * width, LANES))  # positions, then forces, of the vertices of every element
            total = 0.0
            for block in range(start[k], start[k + 1]):
                near, S, w = vertices[block], operator[block], weight[block]
                given, kept = parameters[block], memory[block]
                for a in range(width):
                    for l in range(LANES):
                        v = near[a, l]
                        y[3 * a, l], y[3 * a + 1, l], y[3 * a + 2, l] = x[v, 0], x[v, 1], x[v, 2]
                for p in range(ROWS):
                    for l in range(LANES):
                        v0, v1, v2 = 0.0, 0.0, 0.0
                        for a in range(FIRST, width):
                            share = S[p * (width - FIRST) + a - FIRST, l]
                            v0 += share * (y[3 * a, l] - FIRST * y[0, l])
                            v1 += share * (y[3 * a + 1, l] - FIRST * y[1, l])
                            v2 += share * (y[3 * a + 2, l] - FIRST * y[2, l])
                        t[VALUE + 3 * p, l], t[VALUE + 3 * p + 1, l], t[VALUE + 3 * p + 2, l] = v0, v1, v2
                if GUIDED:
                    for l in range(LANES):
                        n = normal_of(x, near[0, l], near[1, l], near[2, l])
                        t[VALUE + 3, l], t[VALUE + 4, l], t[VALUE + 5, l] = n
                for i in range(kept.shape[0]):
                    for l in range(LANES):
                        t[MEMORY + i, l] = kept[i, l]
                for i in range(given.shape[0]):
                    for l in range(LANES):
                        t[PARAMETERS + i, l] = given[i, l]
                for l in range(LANES):
                    project(t, l)
                for i in range(kept.shape[0]):
                    for l in range(LANES):
                        kept[i, l] = t[MEMORY + i, l]
                for l in range(LANES):
                    total += w[l] * t[DISTANCE, l]
                for l in range(LANES):
                    y[0, l], y[1, l], y[2, l] = 0.0, 0.0, 0.0
                for a in range(FIRST, width):
                    for l in range(LANES):
                        f0, f1, f2 = 0.0, 0.0, 0.0
                        for p in range(ROWS):
                            share = w[l] * S[p * (width - FIRST) + a - FIRST, l]
                            f0 += share * (t[PROJECTION + 3 * p, l] - t[VALUE + 3 * p, l])
                            f1 += share * (t[PROJECTION + 3 * p + 1, l] - t[VALUE + 3 * p + 1, l])
                            f2 += share * (t[PROJECTION + 3 * p + 2, l] - t[VALUE + 3 * p + 2, l])
                        y[3 * a, l], y[3 * a + 1, l], y[3 * a + 2, l] = f0, f1, f2
                        if FIRST:
                            y[0, l], y[1, l], y[2, l] = y[0, l] - f0, y[1, l] - f1, y[2, l] - f2
                for a in range(width):
                    for l in range(LANES):
                        v = near[a, l]
                        out[v, 0] += y[3 * a, l]
                        out[v, 1] += y[3 * a + 1, l]
                        out[v, 2] += y[3 * a + 2, l]
            sums[k] = 0.5 * total


@point
def normal_of(x, a, b, c):
    """Unit normal of a triangle with corners a, b, c of positions x, zero where it has no area."""
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    unit = 1.0 / (length if length > 0.0 else 1.0)
    return n0 * unit, n1 * unit, n2 * unit


@cache
def loops(project: Callable[..., Any], rows: int, width: int, *, guided: bool, parallel: bool) -> Loops:
    """The loops of the constraint whose lane function is `project`."""
    names = {"project": project, "ROWS": rows, "WIDTH": width, "GUIDED": guided, "FIRST": int(width != 1)}
    name = project.__name__.strip("_")
    return Loops(
        compile_copy(_project, name, names),
        compile_copy(_pull, f"{name}_{rows}_{width}_{'parallel' if parallel else 'serial'}", names, parallel=parallel),
    )
