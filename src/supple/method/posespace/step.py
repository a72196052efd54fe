"""A step in a subspace that changes with the pose, as one compiled call for one character or many.

u = R₀ U(p) y with U(p) = Σ w_i(p) U_i, or with columns that turn with the flesh (turning.py). What is solved
is the step of backward Euler in full space, seen from the basis at its end:

    U(p)ᵀ M (u - û) / h² + α U(p)ᵀ M (u - u_n) / h + f(Φ(p), u) = f_ext - U(p)ᵀ M a,   û = u_n + h u̇_n,

where a is the second difference of the rig. Eq. (5) of [XB16] holds q instead and loses what the moving basis does.
Columns are not brought to unit mass: that scales y and changes no u. Drag is that of full space: by mass it is felt by
motion beside the rig, by stiffness by strain beside what the rig takes along.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_kernels import PointLoops
from supple.elastic import VISCOUS, Body
from supple.elastic.rest_shape import FLAT
from supple.linalg.apart import call_apart
from supple.linalg.compiled import compile_copy
from supple.linalg.dense import mirror
from supple.linalg.jit import njit
from supple.linalg.vectors import add_to, copy_into
from supple.method.posespace.carry import carry_motion
from supple.method.posespace.contact import ONE_SIDED, settle_touching
from supple.method.posespace.elements import pose_elements, stiffen_elements
from supple.method.posespace.gaps import Stops
from supple.method.posespace.model import CORNERS, PoseSpaceModel
from supple.method.posespace.products import find_blocks, pack_products
from supple.method.posespace.pushes import find_reach, push_handles
from supple.method.posespace.regions import POSED, Packed
from supple.method.posespace.types import PIECES, SQUARE, minimise_types
from supple.method.reduced.loads import STILL
from supple.method.reduced.newton import newton_kernel, square_kernel
from supple.rig.pose_weights import PoseWeights, share_examples_into

__all__ = ["FLAT_REST", "Driven", "PoseTables", "step_kernel"]

FloatArray = NDArray[np.float64]
Single = NDArray[np.float32]

_SLACK = 1e-5  # of the body's size: how far flesh may close a gap beyond contact
FLAT_REST = 9  #: status of a step whose pose flattens an element


class PoseTables(NamedTuple):
    """What does not change while a character lives; m examples, c elements, i particles."""

    points: FloatArray
    """Examples as `Rig.embed` gives them [m], (m, e)."""
    trained: FloatArray
    """(m, m)"""
    edges: Single
    """(m, 9 or 12, columns) of one element after another, and where each begins with how many: `spans`, (c, 2)."""
    spans: NDArray[np.int64]
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
    """(m (m + 1) / 2, size) in blocks, (k, 4); see products.py."""
    turned: NDArray[Any]
    """(m (m + 1) / 2, 9, size), or none of them for a rig without a root."""
    blocks: NDArray[np.int64]
    particles: NDArray[np.int64]
    """Among the vertices placed, (i,)."""
    masses: FloatArray
    """Masses times weights of the particles [kg], (m, i)."""
    rows: Single
    """Columns there, (i, m, 3, r), and which of them are not zero, from the first to the last: `reach`, (i, 2)."""
    reach: NDArray[np.int64]
    groups: NDArray[np.int64]
    """Of elements that the same regions reach, (g, 5), and their coordinates `members`; see regions.py."""
    members: NDArray[np.int64]
    pairs: NDArray[np.int64]
    """Of contacts, among the vertices placed, (k, 4)."""
    pair_weights: FloatArray
    """(k, 4)"""
    pair_normals: FloatArray
    """(m, k, 3)"""
    pair_rows: FloatArray
    """What columns do to the difference of the two points, (k, m, 3, r); those that turn with the flesh, by each of its
    four vertices, (k, m, 12, r)."""
    pair_thickness: FloatArray
    """[m], (k,)"""
    grip: FloatArray
    """Stiffest motion [1/s²], mass of the body [kg], depth that is none [m], (3,)."""

    @classmethod
    def of(
        cls, model: PoseSpaceModel, examples: PoseWeights, body: Body, bounds: NDArray[np.int64], packed: Packed
    ) -> "PoseTables":
        """The tables of a model; `bounds` of its elements by material, `packed` by region."""
        rows = np.ascontiguousarray(model.columns[:, model.particles].transpose(1, 0, 2, 3))
        blocks = find_blocks(model.owners, model.gram)
        sides = np.einsum("kv,mkvar->kmvar", model.pair_weights, model.columns[:, model.pairs])
        arrays = (
            examples.points,
            examples.trained,
            packed.edges,
            packed.spans,
            model.weights,
            model.volumes,
            np.searchsorted(model.watched, model.corners),
            model.moduli,
            np.log(model.stiffness),
            bounds,
            pack_products(blocks, model.gram),
            pack_products(blocks, model.turned),
            blocks,
            np.searchsorted(model.watched, model.particles),
            model.masses,
            rows,
            find_reach(rows),
            packed.groups,
            packed.members,
            np.searchsorted(model.watched, model.pairs),
            model.pair_weights,
            model.pair_normals,
            sides.reshape(*sides.shape[:2], CORNERS, model.rank) if model.turning else sides.sum(axis=2),
            model.pair_thickness,
            np.array([model.stiffest, body.mass.sum(), _SLACK * body.mesh.size()]),
        )
        fit: Any = [np.require(array, requirements=["C", "W"]) for array in arrays]  # as the compiled step takes them
        return cls(*fit)

    @property
    def nbytes(self) -> int:
        """Of all that a step looks at."""
        return sum(array.nbytes for array in self)


class Driven(NamedTuple):
    """What a step begins with, for b characters."""

    points: FloatArray
    """Poses at the end as points [m], (b, e)."""
    placed: FloatArray
    """Vertices that the step looks at, where the rig has them at the end [m], (b, v, 3); with turns of the flesh there,
    row by row, (b, v, 12), if columns turn with it or if there is drag and the rig knows its turns."""
    turns: FloatArray
    """Of the root at the end, at the beginning and a step earlier, (b, 3, 3, 3)."""
    y: FloatArray
    """Coordinates at the beginning and a step earlier, (b, 2, r)."""
    w: FloatArray
    """Weights of the examples then, (b, 2, m)."""
    places: FloatArray
    """Particles at the beginning, where the rig has them [m], and the rig's velocities there [m/s], (b, 2, i, 3); with
    turns then and a step earlier beside them, (b, 2, i, 12), as above."""
    handles: FloatArray
    """What is pushed or held: sums of columns, (k, m, 3, r)."""
    pulls: FloatArray
    """On the handles [N], (b, k, 3)."""
    stiffness: FloatArray
    """Of springs at the handles [N/m], (b, k, 3)."""
    scalars: FloatArray
    """Length of the step [s], that by the one before, whether there is inertia, drag by mass and by stiffness,
    factor of the stiffness, tolerance, floor, round-off of inertia, most iterations and stiffnesses, elastic force at
    the beginning, gravity as it is felt at the particles (3), whether drag feels flesh turn; (b, 16)."""
    stops: Stops


_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


@cache
def step_kernel(loops: PointLoops, touching: bool) -> Callable[..., Any]:
    """The compiled step for materials, without contacts or with some, of scratch, tables and b characters.

    It leaves y (b, 2, r), w (b, 2, m) and places (b, 2, i, 3 or 12) as `Driven` has them, those that it began with as
    the past; and what there is to tell, (b, 6): iterations, stiffnesses made, residual, elastic force, status, and with
    FLAT_REST the flattest element.
    """
    suffix = f"{loops.name}_{touching}"
    # On one thread: a second one gained 5 % of a quiet step, and takes milliseconds where others use the cores
    minimise = newton_kernel(loops, ONE_SIDED if touching else STILL, False, POSED)
    apart = {"minimise": call_apart(minimise, minimise_types(touching))}
    # What is called once is written into its caller: by itself it would be compiled once more
    settle = settle_touching if touching else _settle
    pieces = {kernel.__name__: call_apart(kernel, arguments) for kernel, arguments in PIECES}
    names = {
        "settle": compile_copy(settle, suffix, apart, inline="always"),
        "carry": compile_copy(carry_motion, suffix, pieces, inline="always"),
        "square": call_apart(square_kernel(loops, False, POSED), SQUARE),
        **{name: getattr(POSED, name) for name in ("strain", "join", "factor", "solve")},
        **pieces,
    }
    single = compile_copy(_step, suffix, names, inline="always")
    return compile_copy(_steps, suffix, {"step": single})


def _steps(address, single, L, signs, stack, halves, K, tables, driven):
    count, rank = driven.y.shape[0], driven.y.shape[2]
    y, w = np.empty((count, 2, rank)), np.empty((count, 2, tables.points.shape[0]))
    places, told = np.empty(driven.places.shape), np.empty((count, 6))
    for b in range(count):
        step(address, single, L, signs, stack, halves, K, tables, driven, b, y[b], w[b], told[b])
        leave_places(tables.particles, driven.placed[b], driven.places[b], driven.scalars[b], places[b])
    return y, w, places, told


def _step(address, single, L, signs, stack, halves, K, t, driven, b, y, shares, told):
    rank, count = y.shape[1], t.volumes.size
    G = single.reshape(9 * count, single.shape[2]), rank, t.groups, t.members
    h, _, moves, alpha, beta, scale, tolerance, floor, noise, most, most_made, elastic = driven.scalars[b, :12]
    before, begin, R, placed = driven.w[b], driven.y[b], driven.turns[b, 0], driven.placed[b]
    share_examples_into(t.points, t.trained, driven.points[b], shares[0])
    w = shares[0]
    copy_into(before[0], shares[1])
    copy_into(begin[0], y[1])
    copy_into(begin[0], y[0])
    table = np.empty((4, count))
    copy_into(t.moduli.reshape(3 * count), table.reshape(4 * count)[count:])
    turning = t.pair_rows.shape[2] > 3
    own = np.eye(3) if turning else R  # turned columns are seen from the world
    worst, who = pose_elements(
        t.edges, t.spans, t.weights, t.volumes, t.corners, w, placed, turning, own, scale, single, table
    )
    for i in range(6):
        told[i] = 0.0
    if not worst > FLAT:
        told[4], told[5] = FLAT_REST, who
        return
    stiffen_elements(t.firmness, w, table)
    M, S, load = np.empty((rank, rank)), np.zeros((rank, rank)), np.zeros(rank)
    push_handles(driven.handles, w, R, driven.pulls[b], driven.stiffness[b], S, load)
    ahead, origin, guess = carry(t, driven, b, w, turning, M, load)
    ca, cv = moves / (h * h), moves * alpha / h
    reference = elastic + size_acting(S, load, begin[0])
    for i in range(rank):
        load[i] += ca * ahead[i] + cv * origin[i]
        for j in range(rank):
            S[i, j] += (ca + cv) * M[i, j] if moves > 0.0 else 0.0
    rest, F = np.zeros(9 * count), np.empty(9 * count)
    for e in range(count):
        rest[9 * e] = rest[9 * e + 4] = rest[9 * e + 8] = 1.0
    ready = 0.0
    if moves * beta > 0.0:
        copy_into(M.reshape(rank * rank), K.reshape(rank * rank))
        if factor(K, G):
            solve(K, G, origin)
        else:
            copy_into(begin[0], origin)
        strain(G, origin, F)
        add_to(F, rest)
        square(address, single, G, F, table, t.bounds, np.int64(VISCOUS), L, signs, stack, halves)
        join(halves, G, K)
        add_drag(K, beta / h, origin, S, load)
        # Near enough to the stiffness at the guess to begin with, and it is there already
        for i in range(rank):
            for j in range(i + 1):
                K[i, j] += S[i, j]
        ready = 1.0 if factor(K, G) else 0.0
    settings = np.array((tolerance, reference, floor + ca * noise, most, most_made, ready))
    z, told[0], told[1], told[2], told[3], told[4] = settle(
        address, G, single, rest, table, t.bounds, S, load, begin[0], guess, settings, L, signs, stack, halves, K, t,
        w, R, placed, scale, driven.stops, b,
    )  # fmt: skip
    copy_into(z, y[0])


def _settle(
    address, G, single, rest, table, bounds, S, load, begin, guess, settings, L, signs, stack, halves, K, t, w, R,
    placed, scale, stops, b,
):  # fmt: skip
    return minimise(
        address, G, single, rest, table, bounds, (0.0, S, load), begin, guess, settings, L, signs, stack, halves, K
    )


@_kernel
def size_acting(S, load, y):
    """|load - S y|: springs count by how far they are from their ends."""
    square = 0.0
    for i in range(y.size):
        force = load[i]
        for j in range(y.size):
            force -= S[i, j] * y[j]
        square += force * force
    return np.sqrt(square)


@_kernel
def add_drag(K, rate, origin, S, load):
    """Add rate K to S (r, r), of which K has the lower triangle, and what it pulls from `origin` (r,) to load (r,)."""
    for i in range(origin.size):
        row, out, x, total = K[i], S[i], origin[i], 0.0
        for j in range(i):
            drag = rate * row[j]
            out[j] += drag
            total += drag * origin[j]
            load[j] += drag * x
        out[i] += rate * row[i]
        load[i] += total + rate * row[i] * x
    mirror(S)


@njit(cache=True)
def leave_places(particles, placed, before, scalars, out):
    """Where the rig has the particles at the end of a step, and how fast it moved them, as `Driven.places`."""
    h, moves = scalars[0], scalars[2]
    for k in range(particles.size):
        for i in range(3):
            out[0, k, i] = placed[particles[k], i]
            out[1, k, i] = (out[0, k, i] - before[0, k, i]) / h if moves > 0.0 else 0.0
        for i in range(3, out.shape[2]):
            out[0, k, i] = placed[particles[k], i]
            out[1, k, i] = before[0, k, i]
