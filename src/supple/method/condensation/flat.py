"""The potential of a condensed step over flat arrays: its energy and its gradient are one compiled call each.

In a small region loops take far less time than what lies between them. So bodies of one material, in one piece, whose
rule is that of one subspace, are asked here; all others part by part (method/condensation/potential.py). The functions
below are templates: descend and height are the exact tets' (elastic/descent.py, kernels.py), energy and stress the
rule's. Contacts come on top, for they change where nothing else does.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, get_num_threads, int32, int64
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.reduced_kernels import PointLoops
from supple.elastic import Elements
from supple.elastic.descent import descent
from supple.elastic.kernels import LIGHT_PARALLEL_FROM, kernels
from supple.linalg.apart import call_apart
from supple.linalg.compiled import compile_copy
from supple.linalg.jit import njit
from supple.linalg.vectors import add_to
from supple.material.response import Response
from supple.method.condensation.footing import Footing
from supple.method.reduced.newton import call_materials

__all__ = ["NO_SPRINGS", "Flat", "Known", "Quadratic", "Springs", "list_elements"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Springs(NamedTuple):
    """Contacts without friction, as contact/potential.py has them."""

    vertices: IntArray
    """(m, 4)"""
    weights: FloatArray
    """(m, 4)"""
    offset: FloatArray
    """(m, 3)"""
    normal: FloatArray
    """(m, 3)"""
    along: FloatArray
    """(m,)"""
    across: FloatArray
    """(m,)"""

    @classmethod
    def of(cls, potential: ContactPotential) -> "Springs":
        """Of a potential whose friction does not count."""
        contacts, penalty = potential.contacts, potential.penalty
        return cls(
            contacts.vertices, contacts.weights, contacts.offset, penalty.normal, penalty.along, penalty.across
        )  # fmt: skip


NO_SPRINGS = Springs(
    np.zeros((0, 4), np.int32), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
)  # fmt: skip


class Quadratic(NamedTuple):
    """Inertia, drag by mass and loads: ½ uᵀ D u - b·u with u = z - z₀, and D diagonal above, a matrix below."""

    above: FloatArray
    """(3 f,)"""
    matrix: FloatArray
    """(r, r)"""
    origin: FloatArray
    """z₀, (3 f + r,)."""
    pull: FloatArray
    """b, (3 f + r,)."""


class Known(NamedTuple):
    """What a step without its contacts is at one z."""

    z: FloatArray
    y: FloatArray
    """Positions [m], (l, 3)."""
    strain: FloatArray | None
    """Deformation gradients of the rule's elements, (9 c,), where they are known."""
    slope: FloatArray
    """∇Φ, (3 f + r,)."""
    height: tuple[float, float]
    """Φ, and the sizes of what it is the sum of [J]."""


class Flat(NamedTuple):
    """A step without its contacts, as compiled loops take it."""

    elements: tuple[Any, ...]
    """Exact tets, as `list_elements` has them."""
    origin: FloatArray
    """Of the region's vertices [m], (l, 3)."""
    U: FloatArray
    """(3 l, r)"""
    rule: tuple[Any, ...]
    """G (9 c, r), F₀ (9 c,), table (4, c), bounds."""
    quadratic: Quadratic
    subtracts: bool
    loops: tuple[Callable[..., Any], Callable[..., Any]]

    @classmethod
    def of(
        cls, part: Elements, footing: Footing, rule: ReducedElements, quadratic: Quadratic, subtracts: bool
    ) -> "Flat":
        """Exact tets of one material on a footing, and the elements of a rule."""
        known = rule.gradient, rule.rest, rule.table, rule.bounds
        loops = _loops(part.material.response, rule.loops, len(part.ids) >= LIGHT_PARALLEL_FROM)
        U = np.ascontiguousarray(footing.U)
        return cls(list_elements(part), footing.origin, U, known, quadratic, subtracts, loops)

    def differentiate(self, z: FloatArray) -> Known:
        """Φ and its gradient."""
        total, y, F = np.empty_like(z), np.empty_like(self.origin), np.empty_like(self.rule[1])
        height: tuple[float, float] = self.loops[0](
            z, self.elements, self.origin, self.U, self.rule, self.quadratic, self.subtracts, total, y, F
        )
        return Known(z, y, F, total, height)

    def weigh(self, z: FloatArray) -> tuple[float, float, FloatArray]:
        """Φ, the sizes of what it is the sum of [J], and positions [m], (l, 3)."""
        y = np.empty_like(self.origin)
        found: tuple[float, float] = self.loops[1](
            z, self.elements, self.origin, self.U, self.rule, self.quadratic, self.subtracts, y
        )
        return *found, y

    def push(self, known: Known, springs: Springs) -> FloatArray:
        """∇Φ with contacts, (3 f + r,)."""
        total = known.slope.copy()
        push(springs, known.y, self.U, total)
        return total


def list_elements(part: Elements) -> tuple[Any, ...]:
    """Exact tets as kernels take them."""
    return (
        part.tets, part.inverse, part.volume, part.moduli, part.clusters.start.astype(np.int64, copy=False),
        part.clusters.colour.astype(np.int64, copy=False),
    )  # fmt: skip


@cache
def _loops(response: Response, loops: PointLoops, parallel: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled gradient and energy for a material, and for those of a rule."""
    if parallel:
        get_num_threads()  # starts the threads: a loop from the cache that calls a parallel one does not
    own, flat, wide = kernels(response, parallel, parallel), float64[::1], float64[:, ::1]
    some = wide, int32[:, ::1], wide, flat, wide, int64[::1]
    names = call_materials(loops) | {
        "descend": call_apart(descent(response, parallel), (*some, int64[::1], wide, flat)),
        "height": call_apart(own.energy, (*some, flat)),
    }
    kind = f"{response.name}_{loops.name}_{parallel}"
    return compile_copy(_differentiate, kind, names), compile_copy(_weigh, kind, names)


@njit(cache=True)
def place(z, origin, U, everything, y, under):
    """Fill positions of a region's vertices [m], (l, 3): y as z has them, and as the subspace has them; `everything`:
    full ones, too."""
    size = z.size - U.shape[1]
    q, flat, where, known = z[size:], under.reshape(-1), y.reshape(-1), origin.reshape(-1)
    first = 0 if everything else size
    np.dot(U[first:], q, flat[first:])
    for i in range(first, flat.size):
        flat[i] += known[i]
    for i in range(size):
        where[i] = z[i]
    for i in range(size, flat.size):
        where[i] = flat[i]


@njit(cache=True)
def push(springs, y, U, total):
    """Add forces of contacts at y [m], (l, 3), less their signs, to those on z, (3 f + r,) [N]."""
    vertices, weights, offset, normal, along, across = springs
    size = total.size - U.shape[1]
    below, force = total[size:], np.empty(3)
    for m in range(len(along)):
        a, b, c = -offset[m, 0], -offset[m, 1], -offset[m, 2]
        for k in range(4):
            w, v = weights[m, k], vertices[m, k]
            if w != 0.0:
                a, b, c = a + w * y[v, 0], b + w * y[v, 1], c + w * y[v, 2]
        height = a * normal[m, 0] + b * normal[m, 1] + c * normal[m, 2]
        out = along[m] * min(height, 0.0) - across[m] * height
        if out == 0.0 and across[m] == 0.0:
            continue
        force[0] = across[m] * a + out * normal[m, 0]
        force[1] = across[m] * b + out * normal[m, 1]
        force[2] = across[m] * c + out * normal[m, 2]
        for k in range(4):
            w, row = weights[m, k], 3 * vertices[m, k]
            if w != 0.0:
                for i in range(3):
                    if row < size:
                        total[row + i] += w * force[i]
                    else:
                        for j in range(below.size):
                            below[j] += w * force[i] * U[row + i, j]


@njit(cache=True)
def press(springs, y):
    """Energy of contacts at y [m], (l, 3) [J]."""
    vertices, weights, offset, normal, along, across = springs
    total = 0.0
    for m in range(len(along)):
        a, b, c = -offset[m, 0], -offset[m, 1], -offset[m, 2]
        for k in range(4):
            w, v = weights[m, k], vertices[m, k]
            if w != 0.0:
                a, b, c = a + w * y[v, 0], b + w * y[v, 1], c + w * y[v, 2]
        height = a * normal[m, 0] + b * normal[m, 1] + c * normal[m, 2]
        deep = min(height, 0.0)
        total += 0.5 * (along[m] * deep * deep + across[m] * (a * a + b * b + c * c - height * height))
    return total


def _differentiate(z, elements, origin, U, rule, quadratic, subtracts, total, y, F):
    """Fill ∇Φ, (3 f + r,), and what else `Flat.differentiate` knows; Φ, and the sizes of its terms [J]."""
    tets, inverse, volume, moduli, start, colour = elements
    G, rest, table, bounds = rule
    above, matrix, z0, pull = quadratic
    size, under, field = above.size, np.empty_like(origin), np.zeros_like(origin)
    sums = np.zeros(start.size - 1)
    place(z, origin, U, subtracts, y, under)
    descend(y, tets, inverse, volume, moduli, start, colour, field, sums)
    height = np.sum(sums)
    scale = abs(height)
    q, flat, below, more = z[size:], field.reshape(-1), total[size:], np.empty(U.shape[1])
    for i in range(size):
        total[i] = flat[i] + above[i] * (z[i] - z0[i]) - pull[i]
    if subtracts:
        taken = np.zeros_like(origin)
        descend(under, tets, inverse, volume, moduli, start, colour, taken, sums)
        lost = np.sum(sums)
        height, scale = height - lost, scale + abs(lost)
        other = taken.reshape(-1)
        for i in range(flat.size):
            flat[i] = (flat[i] if i >= size else 0.0) - other[i]
        np.dot(flat, U, below)
    else:
        np.dot(flat[size:], U[size:], below)
    np.dot(G, q, F)
    add_to(F, rest)
    P = np.empty_like(F)
    stress(F, table, bounds, 0, 0, table.shape[1], P)
    np.dot(P, G, more)
    add_to(below, more)
    gone = z - z0
    np.dot(matrix, gone[size:], more)
    for i in range(more.size):
        below[i] += more[i] - pull[size + i]
    inside, (inertia, load) = energy(F, table, bounds, 0), rest_on(gone, above, more, pull)
    return height + (inside + inertia + load), scale + abs(inside) + abs(inertia) + abs(load)


@njit(cache=True)
def rest_on(gone, above, moved, pull):
    """½ uᵀ D u and -b·u of u = z - z₀ (3 f + r,), where the matrix below has `moved` it by (r,) [J]."""
    size, inertia, load = above.size, 0.0, 0.0
    for i in range(gone.size):
        inertia += 0.5 * gone[i] * (above[i] * gone[i] if i < size else moved[i - size])
        load -= pull[i] * gone[i]
    return inertia, load


def _weigh(z, elements, origin, U, rule, quadratic, subtracts, y):
    """Fill positions y [m], (l, 3); Φ, and the sizes of its terms [J]."""
    tets, inverse, volume, moduli, start, _ = elements
    G, rest, table, bounds = rule
    above, matrix, z0, pull = quadratic
    size, under, sums = above.size, np.empty_like(origin), np.zeros(start.size - 1)
    place(z, origin, U, subtracts, y, under)
    height(y, tets, inverse, volume, moduli, start, sums)
    total = np.sum(sums)
    scale = abs(total)
    if subtracts:
        height(under, tets, inverse, volume, moduli, start, sums)
        taken = np.sum(sums)
        total, scale = total - taken, scale + abs(taken)
    F = np.empty_like(rest)
    np.dot(G, z[size:], F)
    add_to(F, rest)
    gone = z - z0
    moved = np.dot(matrix, gone[size:])
    inside, (inertia, load) = energy(F, table, bounds, 0), rest_on(gone, above, moved, pull)
    return total + (inside + inertia + load), scale + abs(inside) + abs(inertia) + abs(load)
