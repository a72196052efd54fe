"""A subspace learned while a body moves: displacements u₀ + U q, with u₀ what the subspace does not hold at the switch.

u₀ stays as it is, so that nothing pops when steps become reduced; it is orthogonal to U in the mass metric, so that
the inertia of q is that of the body.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.cubature.element_map import ElementMap
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import VISCOUS, Body, elastic_gradient
from supple.linalg.dense import cholesky, cholesky_solve
from supple.linalg.turns import turn, turn_back
from supple.method.full.drag import mean_edge
from supple.method.look_ahead import shorten
from supple.method.reduced.newton import CONVERGED, Scratch, is_large, square_kernel
from supple.method.reduced.still import KINDS, still_kernel
from supple.subspace import Basis

__all__ = ["Arrival", "Kept", "Learned", "LearnedModel", "Placed", "rest_of"]

FloatArray = NDArray[np.float64]
_ITERATIONS = 50
_ROUND_OFF = 1e-9  # of the coordinates: corrections below it may grow
_CORRECTIONS = 2  # of a rule's step by all elements: each leaves about a seventh of what the last one found
_NOTHING = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class Learned:
    """What reduced steps need; everything else follows from it."""

    basis: Basis
    """U, mass-orthonormal, the rest stiffness diagonal in its coordinates."""
    rule: Rule
    offset: FloatArray
    """u₀ [m], (n, 3)."""
    stiffness: float
    """The factor by events that it was learned with."""


class Kept(NamedTuple):
    """What of something learned serves again, wherever the body is then."""

    basis: Basis
    rule: Rule
    tried: bool = False
    """Whether it is in use, or has failed since something else was learned."""

    def about(self, u: FloatArray, stiffness: float) -> Learned:
        """Learned about a displacement u [m], (n, 3), under a factor of stiffness by events."""
        return Learned(self.basis, self.rule, rest_of(u, self.basis), stiffness)


class Arrival(NamedTuple):
    """The end of a reduced step."""

    motion: FloatArray
    """Coordinates, velocities and accelerations, (3, r)."""
    iterations: int
    residual: float
    elastic: float
    """Size of the elastic force on the coordinates."""
    drag: FloatArray
    """Damping force by stiffness on the coordinates at the end, (r,)."""
    excess: FloatArray | None = None
    """What the rule has more of elastic forces on the coordinates than all elements, where the step knew it, (r,)."""


class Placed(NamedTuple):
    """Where bones take a body whose displacement is U q: x = origin + turn U q."""

    origin: FloatArray
    """[m], (n, 3)"""
    turn: FloatArray
    """(n, 3, 3)"""


class LearnedModel:
    """Steps in a learned subspace."""

    def __init__(
        self,
        body: Body,
        learned: Learned,
        integrator: str,
        tolerance: float,
        elements: ElementMap | None = None,
        placed: Placed | None = None,
        size: float | None = None,
    ) -> None:
        """`tolerance` is Newton's, relative to the forces that act; `elements` is the body's map and `size` its size
        [m] where they were made before, `placed` where bones take the body."""
        self._body, self.learned, self._rank = body, learned, learned.basis.rank
        self._kind, self._tolerance, self._damping = KINDS[integrator], tolerance, body.damping
        self._map, self._edge = elements, mean_edge(body.parts)
        self._origin = body.mesh.vertices + learned.offset if placed is None else placed.origin
        self._turn = None if placed is None else placed.turn
        # In statics nothing adds up: a displacement and a load to seven digits are enough, pose by pose
        self._rough = placed is not None and not self._kind
        self._elements = self._build(self._columns())
        self._scratch = Scratch.of(self._elements, self._rank)
        large = is_large(self._elements)
        self._step, self._square = still_kernel(self._elements.loops, large), square_kernel(self._elements.loops, large)
        size = np.sqrt(learned.basis.importance.max() * body.mass.sum()) * (size or body.mesh.size())
        self._floor = 1e-13 * learned.stiffness * float(size)  # forces of a strain of 1e-13: below it all is round-off
        # Only reading all columns costs more on larger meshes: what they gave last is kept
        self._pulled = self._placed = (np.full(1, np.nan), np.zeros(0))

    def positions(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Of all or of chosen vertices [m], (k, 3)."""
        if vertices is not None:
            return np.asarray(self._origin[vertices] + self.lift(q, vertices))
        if not np.array_equal(self._placed[0], q):
            self._placed = q.copy(), self._origin + self.lift(q)
        return self._placed[1]

    def lift(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """What coordinates, velocities or accelerations are at all or chosen vertices, (k, 3)."""
        if self._turn is None:
            return self.learned.basis.lift(q, vertices)
        if self._rough and vertices is None:
            field = np.asarray(self.learned.basis.single @ q.astype(np.float32), np.float64).reshape(-1, 3)
        else:
            field = self.learned.basis.lift(q, vertices)
        return np.asarray(turn(self._turn if vertices is None else self._turn[vertices], field))

    def pull(self, force: FloatArray) -> FloatArray:
        """What forces on the vertices (n, 3) do to the coordinates, (r,)."""
        if self._turn is not None:
            force = turn_back(self._turn, force)
        if self._rough:
            return np.asarray(self.learned.basis.single.T @ force.ravel().astype(np.float32), np.float64)
        return np.asarray(self.learned.basis.columns.T @ force.ravel())

    def rest_of(self, field: FloatArray) -> FloatArray:
        """What the subspace leaves of a vertex field (n, 3)."""
        return field - self.lift(self._coordinates(field))

    def project(self, x: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        """Coordinates of a motion (n, 3) each, (3, r)."""
        return np.array([self._coordinates(field) for field in (x - self._origin, v, a)])

    def _coordinates(self, field: FloatArray) -> FloatArray:
        return self.pull(self._body.mass[:, None] * field)

    def elastic(self, q: FloatArray) -> float:
        """Size of the elastic force on the coordinates."""
        return float(np.linalg.norm(self._elements.force(q)))

    @property
    def is_ruled(self) -> bool:
        """Whether some elements stand for all."""
        return self.learned.rule.size < len(self._body.mesh.tets)

    def excess(self, q: FloatArray) -> FloatArray:
        """What the rule has more of elastic forces on the coordinates than all elements, (r,)."""
        force = elastic_gradient(self._body.parts, self.positions(q)).ravel().astype(np.float32)
        return self._elements.force(q) - self.learned.stiffness * (self.learned.basis.single.T @ force)

    def residual(self, q: FloatArray, load: FloatArray) -> FloatArray:
        """Elastic forces on the coordinates less those on the vertices [N], (n, 3), as coordinates feel them, (r,)."""
        return self._elements.force(q) - self.pull(load)

    def step(
        self,
        motion: FloatArray,
        load: FloatArray,
        h: float,
        elastic: float,
        places: tuple[FloatArray, FloatArray] | None = None,
        defect: FloatArray | None = None,
        excess: FloatArray | None = None,
        near: float = 0.0,
    ) -> Arrival | None:
        """A step of h [s] under forces on the vertices `load` [N], (n, 3); None where Newton's method fails.

        `places`: positions whose stiffness damps it, and positions that are no motion, where the subspace does not hold
        them. `defect` (r,) acts on the coordinates besides. Where the `excess` of the rule at the step's beginning is
        given, the step ends where the forces of all elements have it; a first correction up to `near` [m] (root of the
        mean square) is enough.
        """
        e, s = self._elements, self._scratch
        if self._pulled[0] is not load and not np.array_equal(self._pulled[0], load):
            self._pulled = load, self.pull(load)
        pull, M, back = self._pulled[1], _NOTHING, np.zeros(self._rank)
        for more in (defect, excess):
            pull = pull if more is None else pull + more
        if self._damping.stiffness > 0.0 and self._kind:
            M, back = self._drag(motion, h) if places is None else self._drag_from(*places, h)
            pull = pull + back
        ready = len(M) > 0 and places is None and self._prepare(M, h)
        scalars = np.array(
            (h, self._kind, self._damping.mass, self._tolerance, self._floor, _ITERATIONS, elastic, ready)
        )
        end, iterations, residual, elastic, status, _ = self._step(
            s.address, e.gradient, e.single, e.rest, e.table, e.bounds, motion, np.zeros((0, 3, self._rank)),
            np.zeros((0, 3)), M, pull, np.zeros(self._rank), scalars, s.L, s.signs, s.stack, s.halves, s.K,
        )  # fmt: skip
        if status != CONVERGED or not np.isfinite(end).all():
            return None
        if excess is not None and (iterations or ready):
            excess = self._correct(end, h, excess, near * float(np.sqrt(self._body.mass.sum())))
            if excess is None:
                return None
        drag = M @ end[0] - back if len(M) else back
        return Arrival(end, iterations, residual, elastic, drag, excess)

    def _correct(self, end: FloatArray, h: float, excess: FloatArray, near: float) -> FloatArray | None:
        """What the rule has too much of where a step ended, (r,), and that end (3, r) without it; None where it does
        not get nearer. These are more iterations of Newton's method with the last matrix, whose factor is still there.
        """
        rate, before = self._kind / h, np.inf  # 1/h and 2/h
        for _ in range(_CORRECTIONS):
            found = self.excess(end[0])
            d = found - excess
            cholesky_solve(self._scratch.K, d)
            end += np.outer((1.0, rate, rate * rate), d)
            excess, length = found, float(np.linalg.norm(d))
            if not length <= before:
                return None
            if length <= near:
                break
            before = max(length, _ROUND_OFF * float(np.linalg.norm(end[0])))
        return excess

    def _drag(self, motion: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """M and b of the force M q - b by which stiffness damps a step of h [s]."""
        e, s, (q, v) = self._elements, self._scratch, motion[:2]
        shape, origin = q, q
        if self._kind == KINDS["newmark"]:
            shape = q + shorten(
                h * v, self.learned.basis.single @ np.float32(h / self._edge * v)
            )  # as far as in full space
            origin = q + 0.5 * h * v
        self._square(
            s.address, e.single, e.gradient, e.strain(shape), e.table, e.bounds, VISCOUS, s.L, s.signs, s.stack,
            s.halves,
        )  # fmt: skip
        lower = np.tril(s.halves[0].astype(np.float64) + s.halves[1])
        M = self._kind / h * self._damping.stiffness * (lower + np.tril(lower, -1).T)  # 1/h and 2/h
        return M, M @ origin

    def _prepare(self, M: FloatArray, h: float) -> bool:
        """Factorise a first guess of the step's matrix from what damps it, which is a share of a stiffness."""
        K, rate = self._scratch.K, self._kind / h  # 1/h and 2/h
        np.multiply(M, 1.0 + 1.0 / (rate * self._damping.stiffness), out=K)
        K[np.diag_indices(self._rank)] += rate * (rate + self._damping.mass)
        return bool(cholesky(K))

    def _drag_from(self, shape: FloatArray, origin: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """The same with the stiffness at positions `shape`, for motion from positions `origin` [m], (n, 3), which the
        subspace does not hold: what it leaves of both are two columns more."""
        here, still = ((self._coordinates(x - self._origin), self.rest_of(x - self._origin)) for x in (shape, origin))
        elements = self._build(np.column_stack([self._columns(), here[1].ravel(), still[1].ravel()]))
        K = elements.stiffness(np.append(here[0], (1.0, 0.0)), form=VISCOUS)
        M = self._kind / h * self._damping.stiffness * K[: self._rank]
        return np.ascontiguousarray(M[:, : self._rank]), M @ np.append(still[0], (0.0, 1.0))

    def _build(self, columns: FloatArray) -> ReducedElements:
        """The rule's elements as seen from columns (3 n, k)."""
        rule, offset = self.learned.rule, self._origin - self._body.mesh.vertices
        built = ReducedElements.build(self._body, columns, rule.members, rule.weights, offset, self._map)
        return built.with_stiffness(self.learned.stiffness)

    def _columns(self) -> FloatArray:
        """The basis as the bones turn it, (3 n, r); only the rows that the rule's elements need where they do."""
        basis = self.learned.basis
        if self._turn is None:
            return basis.columns
        corners = np.unique(self._body.mesh.tets[self.learned.rule.members])
        columns = np.empty((len(self._turn), 3, self._rank))
        columns[corners] = np.matmul(self._turn[corners], basis.rows(corners))
        return columns.reshape(-1, self._rank)


def rest_of(field: FloatArray, basis: Basis) -> FloatArray:
    """What a basis leaves of a vertex field (n, 3)."""
    return field - basis.lift(basis.project(field))
