"""The subspace of a skinned body below its full vertices: x = A (X + U q) + t, with A and t of a pose.

Full vertices have their own positions in the world; only what follows the coordinates is skinned ([TMDK15] 4.1). Of a
body in domains, full vertices stand beside the means of copies; a full vertex is one for all domains that have it, so
that its copies are tied, and springs between them no longer count.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Damping
from supple.method.articulated.domain_space import DomainSpace
from supple.method.articulated.model import ArticulatedModel
from supple.method.condensation.anchors import PosedAnchor, SkinAnchor, domain_lengths
from supple.method.condensation.rows import Rows
from supple.method.condensation.subspace import (
    Ahead,
    Part,
    Piece,
    Quadratic,
    Ruled,
    Vertices,
    invert_left,
    one_part,
    one_piece,
)
from supple.method.skinned.balance import Balance
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.particles import Particles
from supple.method.skinned.rates import lift_rates
from supple.method.skinned.solver import SkinnedSolver
from supple.method.skinned.space import Space, WholeSpace
from supple.method.skinned.state import SkinnedState
from supple.method.solver import Arrays, Report
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs
from supple.solve.integrator import INTEGRATORS
from supple.subspace import Basis, DomainBases

__all__ = ["SkinnedStance", "SkinnedSteps", "SkinnedSubspace"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SkinnedStance:
    """The skinning of a pose."""

    rig: SkinnedRig
    basis: Basis | DomainBases
    pose: FloatArray
    memory: dict[str, FloatArray] = field(default_factory=dict)
    """Lengths of the rows of all vertices that are ever looked at."""

    def rows(self, vertices: Vertices = None) -> FloatArray:
        """A U, (k, 3, r)."""
        A, _ = self.rig.frames(self.pose, vertices)
        return np.asarray(A @ self.basis.rows(np.arange(len(self.rig.rest)) if vertices is None else vertices))

    def parts(self, vertices: NDArray[np.integer]) -> list[Part]:
        if isinstance(self.basis, Basis):
            return one_part(self.rows(vertices))
        A, _ = self.rig.frames(self.pose, vertices)
        return [Part(where, at, A[where] @ rows) for where, at, rows in self.basis.pick(vertices)]

    def pieces(self, copies: NDArray[np.integer]) -> list[Piece]:
        if isinstance(self.basis, Basis):
            return one_piece(self.rows(copies))
        found, (A, _) = [], self.rig.frames(self.pose, self.basis.domains.vertex_of[copies])
        for basis, own, at in self.basis.each():
            some = slice(*np.searchsorted(copies, (own.start, own.stop)).tolist())
            if some.stop > some.start and basis.rank:
                rows = A[some] @ basis.rows(copies[some] - own.start)
                found.append(Piece(some, at, rows.reshape(-1, basis.rank)))
        return found

    def origin(self, vertices: Vertices = None) -> FloatArray:
        return self.rig.positions(self.pose, vertices)

    def place(self, q: FloatArray, vertices: Vertices = None) -> FloatArray:
        rest = self.rig.rest if vertices is None else self.rig.rest[vertices]
        return self.rig.push_forward(self.pose, rest + self.basis.lift(q, vertices), vertices)

    def anchor(self, q: FloatArray, vertices: NDArray[np.int32]) -> SkinAnchor:
        return SkinAnchor(self.rig, self.basis, self.pose, q, vertices, self._measure_rows("lengths", vertices))

    def hold(self, q: FloatArray, vertices: NDArray[np.int32]) -> PosedAnchor:
        return PosedAnchor(self.basis, self.pose, q, self._measure_rows("all lengths", vertices))

    def _measure_rows(self, name: str, vertices: NDArray[np.int32]) -> FloatArray:
        if name not in self.memory or len(self.memory[name]) != len(vertices):
            self.memory[name] = domain_lengths(self.basis, vertices)
        return self.memory[name]


class SkinnedSubspace:
    """Reads states."""

    def __init__(self, rig: SkinnedRig, basis: Basis | DomainBases, particles: Particles) -> None:
        self._rig, self._basis, self._particles = rig, basis, particles
        self._memory: dict[str, FloatArray] = {}
        self._rates: tuple[SkinnedState, Vertices, tuple[FloatArray, FloatArray]] | None = None

    def stance(self, below: SkinnedState) -> SkinnedStance:
        return self.pose(below.pose)

    def pose(self, pose: FloatArray) -> SkinnedStance:
        return SkinnedStance(self._rig, self._basis, pose, self._memory)

    def coordinates(self, below: SkinnedState) -> FloatArray:
        return np.asarray(below.shapes[0])

    def field(self, below: SkinnedState, level: int, vertices: Vertices = None) -> FloatArray:
        if level == 0:
            return self.stance(below).place(below.shapes[0], vertices)
        if self._rates is None or self._rates[0] is not below or self._rates[1] is not vertices:
            self._rates = below, vertices, lift_rates(self._rig, self._basis, below, vertices)  # both in one go
        return self._rates[2][level - 1].copy()

    def fold(
        self, below: SkinnedState, kept: NDArray[np.integer], gone: NDArray[np.integer], motion: FloatArray
    ) -> SkinnedState:
        """Velocities are differences, so that what the vertices had one step ago is folded back, too."""
        span, q = below.spans[0], below.shapes[0]
        shapes, former = below.shapes.copy(), below.former_shapes
        shapes[0] += self._fit(below.pose, q, kept, gone, motion[0])
        if span > 0.0:
            former = former + self._fit(below.former_poses[0], former[0], kept, gone, motion[0] - span * motion[1])
            shapes[1] = (shapes[0] - former[0]) / span
        return below._replace(shapes=shapes, former_shapes=former)

    def _fit(
        self, pose: FloatArray, q: FloatArray, kept: NDArray[np.integer], gone: NDArray[np.integer], x: FloatArray
    ) -> FloatArray:
        """The change of q by which vertices `gone` come nearest to x [m], (k, 3), in a pose."""
        stance, D = SkinnedStance(self._rig, self._basis, pose), self._particles.stretch(self._particles.place(pose))
        metric = np.eye(len(q)) if D is None else np.eye(len(q)) + D
        mass, (stay, leave) = self._basis.mass, (Rows.of_full(stance, some, len(q)) for some in (kept, gone))
        moved = leave.gather_full(mass[gone, None] * (x - stance.place(q, gone)))
        return np.asarray(invert_left(metric - stay.weigh_full(mass[kept])) @ moved)


class SkinnedSteps:
    """Moves it, with the solver of skinned bodies where no vertex is full."""

    def __init__(
        self,
        body: Body,
        rig: SkinnedRig,
        model: SkinnedModel | ArticulatedModel,
        solver: SkinnedSolver,
        integrator: str,
    ) -> None:
        self._solver, self._rig, self._model = solver, rig, model
        self._is_static, self._integrator, self._damping = integrator == "static", INTEGRATORS[integrator], body.damping
        self._space: Space[Any] = (
            WholeSpace(body, rig, model) if isinstance(model, SkinnedModel) else DomainSpace(rig, model)
        )
        self.subspace = SkinnedSubspace(rig, model.basis, self._space.particles)
        undamped = replace(body, damping=Damping(body.damping.mass))
        self._balance = Balance(undamped, rig, model.basis, self._space, integrator)

    def start(self, inputs: Inputs | None) -> SkinnedState:
        return self._solver.start(inputs)

    def from_full(
        self,
        x: FloatArray,
        v: FloatArray,
        a: FloatArray,
        time: float,
        pose: FloatArray | None = None,
        last: SkinnedState | None = None,
    ) -> SkinnedState:
        state = self._solver.from_full(x, v, a, time, pose=pose)
        if last is None:
            return state
        if self._is_static:
            return last.follow(time, state.shapes, state.pose, state.particles, 0.0)
        h = time - last.time
        before = self._model.basis.project(self._rig.pull_back(last.pose, x - h * v) - self._rig.rest)
        state.shapes[1] = (state.shapes[0] - before) / h
        made = last.follow(time, state.shapes, state.pose, state.particles, h)
        return made._replace(former_shapes=np.array([before, made.former_shapes[1]]))

    def step(self, below: SkinnedState, inputs: Inputs) -> tuple[SkinnedState, Report]:
        return self._solver.step(self._refresh(below), inputs)

    def prepare(self, below: SkinnedState, inputs: Inputs) -> Ahead:
        pose, h, beta = self._solver.pose_of(inputs.end), inputs.duration, self._damping.stiffness
        drags = beta > 0.0 and not self._is_static
        strained = self._balance.strain_before(below, pose, h) if drags else np.zeros((0, 0))
        held = below._replace(live=replace(below.live, grabs=()))  # full space sees to what a user pulls
        step = self._balance.prepare(self._refresh(held), inputs, pose)
        q, rank, motion = step.begin, len(step.begin), step.motion
        c, M, b = step.loads
        stance, turn = self.subspace.pose(pose), self._balance.turn_between(below.pose, pose)

        def carry(x: FloatArray, vertices: NDArray[np.integer]) -> FloatArray:
            return self._rig.push_forward(pose, self._rig.pull_back(below.pose, x, vertices), vertices)

        def resist(elements: Ruled) -> Quadratic:
            return self._balance.resist(elements, below, strained, h, beta, motion)

        inertia = c * np.eye(rank) + (M if len(M) else 0.0), b - step.push
        return Ahead(
            stance, step.elements, inertia, step.push, q, step.guess, carry, lambda x: np.asarray(x @ turn.T), resist,
            None if self._space.springs is None else partial(self._untie, below.live.stiffness),
        )  # fmt: skip

    def _untie(self, factor: float, vertices: NDArray[np.integer]) -> FloatArray:
        """K_s of the springs between copies of chosen vertices, ascending, (r, r)."""
        model = self._model
        assert isinstance(model, ArticulatedModel)
        whole = model.interface
        own = np.isin(model.basis.domains.vertex_of[whole.pairs[:, 0]], vertices)
        return factor * replace(whole, pairs=whole.pairs[own]).reduce(model.basis.bases)

    def serves(self, below: Any, ahead: Ahead, q: FloatArray) -> bool:
        return True

    def arrive(self, below: SkinnedState, ahead: Ahead, q: FloatArray, inputs: Inputs) -> SkinnedState:
        before, particles, h = below.shapes, self._space.particles, inputs.duration
        motion = self._integrator(before[0], before[1], before[2], h)
        stance = ahead.stance
        assert isinstance(stance, SkinnedStance)
        x, last = (
            particles.positions(particles.place(pose), coordinates)
            for pose, coordinates in ((stance.pose, q), (below.pose, before[0]))
        )
        speed = np.zeros_like(x) if self._is_static else (x - last) / h
        shapes = np.array([q, motion.velocity(q), motion.acceleration(q)])
        return below.follow(
            inputs.end.time, shapes, stance.pose, np.array([x, speed]), 0.0 if self._is_static else h
        )  # fmt: skip

    def unpack(self, arrays: Arrays) -> SkinnedState:
        return SkinnedState.unpack(arrays)

    def _refresh(self, below: SkinnedState) -> SkinnedState:
        """The state with its particles where the coordinates have them: some may just have returned to these."""
        particles = self._space.particles
        x = particles.positions(particles.place(below.pose), below.shapes[0])
        if np.array_equal(x, below.particles[0]):
            return below
        if not below.spans[0] > 0.0:
            return below._replace(particles=np.array([x, self.subspace.field(below, 1, particles.vertices)]))
        before = particles.positions(particles.place(below.former_poses[0]), below.former_shapes[0])
        return below._replace(particles=np.array([x, (x - before) / below.spans[0]]))
