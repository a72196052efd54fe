"""A step in a subspace that changes with the pose, as one compiled call for one character or many.

u = R₀ U(p) y with U(p) = Σ w_i(p) U_i. What is solved is the step of backward Euler in full space, seen from the basis
at its end:

    U(p)ᵀ M (u - û) / h² + α U(p)ᵀ M (u - u_n) / h + f(Φ(p), u) = f_ext - U(p)ᵀ M a,   û = u_n + h u̇_n,

where a is the second difference of the rig. Eq. (5) of [XB16] holds q instead and loses what the moving basis does.
Columns are not brought to unit mass: that scales y and changes no u. Drag by mass is felt by motion beside the root,
drag by stiffness by strain beside what the root carries along.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_kernels import PointLoops
from supple.elastic import VISCOUS
from supple.elastic.rest_shape import FLAT
from supple.linalg.compiled import compile_copy
from supple.linalg.dense import cholesky, cholesky_solve
from supple.method.posespace_elements import pose_elements, stiffen_elements
from supple.method.posespace_products import mix_products, turn_products
from supple.method.posespace_pushes import push_handles, push_particles
from supple.method.reduced_loads import STILL
from supple.method.reduced_newton import WHOLE, newton_kernel, square_kernel
from supple.rig.pose_weights import share_examples

__all__ = ["FLAT_REST", "Driven", "PoseTables", "step_kernel"]

FloatArray = NDArray[np.float64]
Single = NDArray[np.float32]

FLAT_REST = 9  #: status of a step whose pose flattens an element


class PoseTables(NamedTuple):
    """What does not change while a character lives; m examples, c elements, i particles."""

    points: FloatArray
    """Examples as `Rig.embed` gives them [m], (m, e)."""
    trained: FloatArray
    """(m, m)"""
    edges: Single
    """(c, m, 9, r)"""
    weights: FloatArray
    """(m, c)"""
    volumes: FloatArray
    """Of the elements at rest, with the sign of their order [m³], (c,)."""
    corners: NDArray[np.int64]
    """Of the elements among the vertices placed, (c, 4)."""
    moduli: FloatArray
    """(3, c)"""
    firmness: FloatArray
    """Logarithms of the factors of the stiffness, (m, c), or none of them."""
    bounds: NDArray[np.int64]
    gram: FloatArray
    """(m (m + 1) / 2, r, r)"""
    turned: NDArray[Any]
    """(m (m + 1) / 2, 9, r, r), or none of them for a rig without a root."""
    particles: NDArray[np.int64]
    """Among the vertices placed, (i,)."""
    masses: FloatArray
    """Masses times weights of the particles [kg], (m, i)."""
    rows: Single
    """Columns there, (i, m, 3, r)."""


class Driven(NamedTuple):
    """What a step begins with, for b characters."""

    points: FloatArray
    """Poses at the end as points [m], (b, e)."""
    placed: FloatArray
    """Vertices that the step looks at, where the rig has them at the end [m], (b, v, 3)."""
    turns: FloatArray
    """Of the root at the end, at the beginning and a step earlier, (b, 3, 3, 3)."""
    y: FloatArray
    """Coordinates at the beginning and a step earlier, (b, 2, r)."""
    w: FloatArray
    """Weights of the examples then, (b, 2, m)."""
    places: FloatArray
    """Particles at the beginning, where the rig has them [m], and the rig's velocities there [m/s], (b, 2, i, 3)."""
    handles: FloatArray
    """What is pushed or held: sums of columns, (k, m, 3, r)."""
    pulls: FloatArray
    """On the handles [N], (b, k, 3)."""
    stiffness: FloatArray
    """Of springs at the handles [N/m], (b, k, 3)."""
    scalars: FloatArray
    """Length of the step [s], that by the one before, whether there is inertia, drag by mass and by stiffness,
    factor of the stiffness, tolerance, floor, round-off of inertia, most iterations, elastic force at the beginning;
    (b, 11)."""


@cache
def step_kernel(loops: PointLoops, large: bool) -> Callable[..., Any]:
    """The compiled step for materials: y (b, r), w (b, m) and outcomes (b, 6) of scratch, tables, characters."""
    names = {"minimise": newton_kernel(loops, STILL, large), "square": square_kernel(loops, large), "join": WHOLE.join}
    single = compile_copy(_step, f"{loops.name}_{large}", {**names, "stress": loops.stress})
    return compile_copy(_steps, f"{loops.name}_{large}", {"step": single})


def _steps(address, G, single, L, signs, stack, halves, K, tables, driven):
    count, rank = driven.y.shape[0], driven.y.shape[2]
    y, w, told = np.empty((count, rank)), np.empty((count, tables.points.shape[0])), np.empty((count, 6))
    for b in range(count):
        step(address, G, single, L, signs, stack, halves, K, tables, driven, b, y[b], w[b], told[b])
    return y, w, told


def _step(address, G, single, L, signs, stack, halves, K, t, driven, b, y, w, told):
    """told: iterations, stiffnesses made, residual, elastic force, status, and the flattest element with FLAT_REST."""
    rank, count = y.size, t.volumes.size
    h, ratio, moves, alpha, beta, scale, tolerance, floor, noise, most, elastic = driven.scalars[b]
    before, begin, R, placed = driven.w[b], driven.y[b], driven.turns[b, 0], driven.placed[b]
    w[:] = share_examples(t.points, t.trained, driven.points[b])
    table, rows = np.empty((4, count)), np.empty((9, rank), np.float32)
    table[1:] = t.moduli
    worst, who = pose_elements(t.edges, t.weights, t.volumes, t.corners, w, placed, R, scale, rows, single, G, table)
    told[:] = 0.0
    if not worst > FLAT:
        told[4], told[5] = FLAT_REST, who
        y[:] = begin[0]
        return
    stiffen_elements(t.firmness, w, table)
    M, S, load = np.zeros((rank, rank)), np.zeros((rank, rank)), np.zeros(rank)
    push_handles(driven.handles, w, R, driven.pulls[b], driven.stiffness[b], S, load)
    ahead, carried = np.zeros(rank), np.zeros((2, rank))
    guess = begin[0].copy()
    if moves > 0.0:
        push_particles(t.particles, t.masses, t.rows, w, R, placed, driven.places[b], h, load)
        mix_products(t.gram, w, before, begin, M, carried)
        ahead += (1.0 + ratio) * carried[0] - ratio * carried[1]
        guess += ratio * (begin[0] - begin[1])
        if t.turned.shape[0]:
            turns = np.empty((2, 3, 3))
            turns[0] = (1.0 + ratio) * (np.dot(R.T, driven.turns[b, 1]) - np.eye(3))
            turns[1] = -ratio * (np.dot(R.T, driven.turns[b, 2]) - np.eye(3))
            if np.abs(turns).max() > 0.0:
                turn_products(t.turned, w, before, begin, turns, ahead)
    acting = load - np.dot(S, begin[0])  # springs by how far they are from their ends
    ca, cv = moves / (h * h), moves * alpha / h
    settings = np.array((tolerance, elastic + np.sqrt(np.dot(acting, acting)), floor + ca * noise, most))
    load += ca * ahead + cv * carried[0]
    rest = np.zeros(9 * count)
    for e in range(count):
        rest[9 * e] = rest[9 * e + 4] = rest[9 * e + 8] = 1.0
    if moves * beta > 0.0:
        K[:] = M
        origin = carried[0].copy()
        if cholesky(K):
            cholesky_solve(K, origin)
        else:
            origin[:] = begin[0]
        F = np.dot(G, origin) + rest
        square(address, single, G, F, table, t.bounds, VISCOUS, L, signs, stack, halves)
        join(halves, G, K)
        for i in range(rank):
            for j in range(i + 1):
                S[i, j] += beta / h * K[i, j]
                load[i] += beta / h * K[i, j] * origin[j]
                if j < i:
                    S[j, i] += beta / h * K[i, j]
                    load[j] += beta / h * K[i, j] * origin[i]
    S += (ca + cv) * M
    z, told[0], told[1], told[2], told[3], told[4] = minimise(
        address, G, single, rest, table, t.bounds, (0.0, S, load), begin[0].copy(), guess, settings, L, signs, stack,
        halves, K,
    )  # fmt: skip
    y[:] = z
