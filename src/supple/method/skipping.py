"""Skipping steps: full steps teach a subspace, reduced steps are taken in it while a full residual finds them right.

After [KJ09], with another basis, measure and test than printed there (docs/skipping.md). All decisions compare one
number with the tolerance: ε(d) = c rms(d) / scale, the velocity error that an error d of one step's displacement makes,
relative to the largest velocity lately; c is what the integrator turns displacements into velocities by. In statics
c is one and the scale the largest displacement.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SceneError
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.multigrid import rigid_modes
from supple.method.checks import check_duration
from supple.method.full import FullSolver
from supple.method.skipping_factor import OldFactor
from supple.method.skipping_learning import FAILS, Learner
from supple.method.skipping_measure import Measure, rms
from supple.method.skipping_model import Arrival, LearnedModel
from supple.method.skipping_state import Memory, Progress, Situation, SkippingState, pack_skipping, unpack_skipping
from supple.method.solver import Arrays, Report, Skip
from supple.method.state import FullState
from supple.solve.forces import external_force
from supple.solve.inputs import Inputs
from supple.solve.live import Live
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System
from supple.subspace.window import Window

__all__ = ["SkippingSolver"]

FloatArray = NDArray[np.float64]
_CLOSE = 1.5  # tolerances above which checks come more often
_LONGEST = 10  # reduced steps between checks
_FADES = 0.5 ** (1 / 1000)  # of the scale, a step: it halves in a thousand quiet ones
_LEFT = 0.01  # share of the tolerance that the corrections of a full step may leave
_JUMP = 0.5  # a load whose change differs by more than this share from its last change has jumped
_SLIGHT = 0.02  # cv β, damping beside elastic forces, up to which checks take it from the subspace
_LONGEST_AVOIDED = 64  # full steps without the old factor after it failed
_WORTH = 20  # reduced steps in a row that pay for training


class SkippingSolver:
    """Static, implicit Euler or Newmark steps of a pinned body: full where it must learn, reduced where it can."""

    name = "skipping"

    def __init__(
        self,
        body: Body,
        *,
        integrator: str = "implicit_euler",
        tolerance: float = 1e-3,
        throttle: float = 1.0,
        max_rank: int = 45,
        newton_tolerance: float = 1e-4,
        linear_solver: str = "auto",
        max_iterations: int | None = None,
        time_step: float = 0.01,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
    ) -> None:
        """`tolerance`: relative error of a step; `throttle` multiplies it, and nothing is skipped where either is 0.

        The other settings are those of `FullSolver`.
        """
        if not (np.isfinite(tolerance) and 0.0 <= tolerance < 1.0):
            raise SceneError(f"a tolerance of {tolerance:g} is no relative error: give one from 0 to below 1.")
        if not (np.isfinite(throttle) and throttle >= 0.0):
            raise SceneError(f"a throttle of {throttle:g} makes no sense: give a number from 0 on.")
        if max_rank < 1:
            raise SceneError(f"a max_rank of {max_rank} leaves no subspace: give 1 or more.")
        held = rigid_modes(body.mesh.vertices).reshape(-1, 3, 6)[body.pins.vertices][body.pins.held]
        if not len(held) or np.linalg.matrix_rank(held) < 6:
            raise SceneError(
                "the pins leave the body free to move as a whole, which skipping does not follow yet: pin three "
                'vertices that are not in a line, or use method.name = "full".'
            )
        self.body, self.tolerance, self.throttle, self.max_rank = body, tolerance, throttle, max_rank
        self.is_static = integrator == "static"
        self._integrator = integrator
        self._full = FullSolver(
            body, integrator=integrator, tolerance=newton_tolerance, linear_solver=linear_solver,
            max_iterations=max_iterations, time_step=time_step, colliders=colliders, contact=contact,
        )  # fmt: skip
        self._newton = newton_tolerance
        self._learner = Learner(body, integrator, max_rank, newton_tolerance)
        self._old: OldFactor | None = None

    def start(self, inputs: Inputs | None = None) -> SkippingState:
        return self._begin(self._full.start(inputs))

    def step(self, state: SkippingState, inputs: Inputs) -> tuple[SkippingState, Report]:
        check_duration(inputs)
        if inputs.events:
            state = replace(state, live=state.live.after(inputs.events, self.positions(state)))
            inputs = replace(inputs, events=())
        tolerance = self.tolerance * self.throttle * state.live.throttle
        if not tolerance > 0.0:
            full, report = self._full.step(self._lift(state), inputs)
            return replace(state, time=full.time, full=full, motion=None, live=full.live), replace(report, skip=Skip())
        watch = Stopwatch()
        state = self._enter(state, inputs)
        load = external_force(state.live.forces(inputs.end.forces), self.body.mass)
        jumps, state = self._follow_load(state, load)
        rejected = False
        if state.motion is not None:
            if self._is_still(state.live, inputs):
                reached = self._step_reduced(state, inputs, load, tolerance, jumps, watch)
                if reached is not None:
                    return reached
                rejected = True
            state = self._leave(state, rejected)
        return self._step_full(state, inputs, tolerance, rejected, watch)

    def positions(self, state: SkippingState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        if state.full is not None:
            return self._full.positions(state.full, vertices)
        assert state.motion is not None
        return self._model(state).positions(state.motion[0], vertices)

    def to_full(self, state: SkippingState) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._full.to_full(self._lift(state))

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> SkippingState:
        return self._begin(self._full.from_full(x, v, a, time))

    def pack(self, state: SkippingState) -> dict[str, NDArray[np.generic]]:
        return pack_skipping(state)

    def unpack(self, arrays: Arrays) -> SkippingState:
        return unpack_skipping(arrays, self.body.mass)

    def describe(self) -> list[str]:
        return [
            *self._full.describe(),
            f"steps are skipped where a subspace learned on the way, of at most {self.max_rank} coordinates, makes "
            f"errors below {self.tolerance * self.throttle:g} of the motion a step",
        ]

    def _begin(self, full: FullState) -> SkippingState:
        return SkippingState(full.time, Memory(Window(self.body.mass)), full, live=full.live)

    def _lift(self, state: SkippingState) -> FullState:
        """The motion of every vertex."""
        if state.full is not None:
            return replace(state.full, live=state.live)
        assert state.motion is not None
        basis, (q, v, a) = self._model(state).learned.basis, state.motion
        return FullState(state.time, self._model(state).positions(q), basis.lift(v), basis.lift(a), state.live)

    def _model(self, state: SkippingState) -> LearnedModel:
        assert state.memory.learned is not None
        return self._learner.model(state.memory.learned)

    def _enter(self, state: SkippingState, inputs: Inputs) -> SkippingState:
        """The state with a memory for the situation of a step: other pins forget all, another stiffness or length of
        the step the matrix and the model."""
        live, memory = state.live, state.memory
        pins = live.pins(self.body.pins)
        duration = memory.situation.duration
        if not np.isclose(inputs.duration, duration, rtol=1e-6, atol=0.0):
            duration = inputs.duration  # what differs is more than the round-off of a clock
        now = Situation(duration, live.stiffness, pins.vertices.tobytes() + pins.held.tobytes())
        if now == memory.situation:
            return state
        full = self._lift(state)
        if now.pins != memory.situation.pins:
            memory = Memory(Window(self.body.mass), now)
        else:
            memory = replace(memory, situation=now, progress=memory.progress._replace(passes=0), matrix=None)
        return replace(state, full=full, motion=None, memory=memory)

    def _follow_load(self, state: SkippingState, load: FloatArray) -> tuple[bool, SkippingState]:
        """Whether loads jump in this step, and the state that knows them."""
        if state.load is None or state.trend is None:
            return True, replace(state, load=load, trend=np.zeros_like(load))
        trend = load - state.load
        jumps = float(np.linalg.norm(trend - state.trend)) > _JUMP * float(np.linalg.norm(state.trend))
        return jumps, replace(state, load=load, trend=trend)

    def _is_still(self, live: Live, inputs: Inputs) -> bool:
        """Whether nothing holds the body that moves: pins on their way and grabs need full steps."""
        return not live.grabs and np.array_equal(inputs.begin.targets, inputs.end.targets)

    def _leave(self, state: SkippingState, rejected: bool) -> SkippingState:
        """Back to full space; a stretch of reduced steps that was short lets the next training wait."""
        memory = state.memory
        if rejected and state.skipped < _WORTH:
            memory = self._learner.pause(memory)
        else:
            memory = replace(memory, progress=Progress(avoided=memory.progress.avoided))
        return replace(state, full=self._lift(state), motion=None, memory=memory, skipped=0)

    def _measure(self, inputs: Inputs, scale: float) -> Measure:
        return Measure.of(self._integrator, inputs.duration, scale)

    def _step_reduced(
        self,
        state: SkippingState,
        inputs: Inputs,
        load: FloatArray,
        tolerance: float,
        jumps: bool,
        watch: Stopwatch,
    ) -> tuple[SkippingState, Report] | None:
        """A step in the subspace; None where it cannot be taken, or a check refuses it."""
        model, motion = self._model(state), state.motion
        assert motion is not None
        with watch.phase("step"):
            end = model.step(motion, load, inputs.duration, state.elastic)
        if end is None:
            return None
        moved = end.motion[0] if self.is_static else end.motion[1]
        largest = float(np.linalg.norm(moved) / np.sqrt(self.body.mass.sum()))
        scale, since, interval, estimate = max(largest, _FADES * state.scale), state.since + 1, state.interval, None
        if self._full.is_touchable:
            with watch.phase("contact"):
                if self._full.foresee_contacts(self._lift(state), model.positions(end.motion[0]), inputs):
                    return None
        if jumps or since >= interval:
            with watch.phase("check"):
                error = self._estimate(state, model, inputs, end)
            if error is None:
                return None
            estimate = self._measure(inputs, scale).step(rms(error, self.body.mass))
            if not estimate <= FAILS * tolerance:
                return None
            since, interval = 0, max(1, interval // 2) if estimate > _CLOSE * tolerance else min(_LONGEST, 2 * interval)
            with watch.phase("learning"):
                corrected = model.positions(end.motion[0]) - error
                state = replace(state, memory=self._learner.remember(state.memory, corrected, state.live))
        new = replace(
            state, time=inputs.end.time, motion=end.motion, elastic=end.elastic, scale=scale, since=since,
            interval=interval, skipped=state.skipped + 1, estimate=state.estimate if estimate is None else estimate,
        )  # fmt: skip
        learned = model.learned
        skip = Skip(checked=estimate is not None, rank=learned.basis.rank, elements=learned.rule.size)
        return new, Report(
            watch.finish(), end.iterations, kind="reduced", full_share=0.0, estimated_error=new.estimate,
            residual=end.residual, skip=skip,
        )  # fmt: skip

    def _estimate(self, state: SkippingState, model: LearnedModel, inputs: Inputs, end: Arrival) -> FloatArray | None:
        """d = A⁻¹ r [m], (n, 3), with the residual r that the end of a reduced step leaves in full space and the factor
        of an earlier step; None where its matrix has none."""
        basis, h = model.learned.basis, inputs.duration
        damping, cv = self.body.damping.stiffness, (2.0 if self._integrator == "newmark" else 1.0) / h
        slight = cv * damping <= _SLIGHT
        step, system = self._full.formulate(self._lift(state), inputs, drags=not slight)
        gradient = step.gradient(model.positions(end.motion[0]))
        if slight and damping > 0.0 and not self.is_static:
            gradient += system.map.unknowns(self.body.mass[:, None] * basis.lift(end.drag))
        matrix, old = state.memory.matrix, self._factor_of(system)
        assert matrix is not None
        error = np.zeros_like(self.body.mesh.vertices)
        try:
            error[system.map.free] = old.solve(matrix, gradient).reshape(-1, 3)
        except NotPositiveDefinite:
            return None
        return error

    def _factor_of(self, system: System) -> OldFactor:
        if self._old is None or self._old.system is not system:
            self._old = OldFactor(system, self.body.mass)
        return self._old

    def _step_full(
        self, state: SkippingState, inputs: Inputs, tolerance: float, rejected: bool, watch: Stopwatch
    ) -> tuple[SkippingState, Report]:
        """A full step, and what is learned from it."""
        begin = self._lift(state)
        state, end, report = self._advance(begin, state, inputs, tolerance, watch)
        largest = rms(end.x - self.body.mesh.vertices if self.is_static else end.v, self.body.mass)
        scale = max(largest, _FADES * state.scale)
        state = replace(
            state, time=end.time, full=end, live=end.live, scale=scale, since=0, interval=1, skipped=0,
        )  # fmt: skip
        held = not len(state.live.released.vertices)  # else the body may be free to move as a whole
        ready = held and self._is_still(state.live, inputs) and report.touching is None
        with watch.phase("learning"):
            state, learned = self._learn(state, begin, inputs, tolerance, ready)
        basis = state.memory.basis
        skip = Skip(
            rejected=rejected, learned=learned, rank=0 if basis is None else basis.rank,
            elements=state.memory.learned.rule.size if state.motion is not None and state.memory.learned else 0,
        )  # fmt: skip
        return state, replace(report, milliseconds={**report.milliseconds, **watch.finish()}, skip=skip)

    def _advance(
        self, begin: FullState, state: SkippingState, inputs: Inputs, tolerance: float, watch: Stopwatch
    ) -> tuple[SkippingState, FullState, Report]:
        """A full step by the old factor where nothing touches, else as the full solver does.

        The prediction goes on with the acceleration, xa + a / ca. Where that fails, it is tried ever more seldom.
        """
        progress = state.memory.progress
        if progress.avoid == 0 and state.scale > 0.0 and not begin.live.grabs:
            with watch.phase("assembly"):
                step, system = self._full.formulate(begin, inputs)
            if system.unknowns:
                motion = step.motion
                guess = begin.x if self.is_static else motion.xa + begin.a / motion.ca
                guess = begin.live.place(guess, self.body.pins, inputs.end.targets)
                goal = self._measure(inputs, state.scale).length(_LEFT * tolerance)
                found = self._factor_of(system).correct(step, guess, state.memory.matrix, goal, watch)
                if found is not None and not self._full.foresee_contacts(begin, found.x, inputs):
                    end = self._full.arrive(motion, found.x, begin, inputs.duration, inputs.end)
                    memory = replace(state.memory, matrix=found.matrix, progress=progress._replace(avoided=0))
                    return replace(state, memory=memory), end, Report({}, found.corrections, residual=found.residual)
                avoided = min(max(1, 4 * progress.avoided), _LONGEST_AVOIDED)
                progress = progress._replace(avoid=avoided + 1, avoided=avoided)
        end, report = self._full.step(begin, inputs)
        progress = progress._replace(avoid=max(0, progress.avoid - 1))
        return replace(state, memory=replace(state.memory, matrix=None, progress=progress)), end, report

    def _learn(
        self, state: SkippingState, begin: FullState, inputs: Inputs, tolerance: float, ready: bool
    ) -> tuple[SkippingState, bool]:
        """The state after a full step was looked at, reduced where a model repeats that step; and whether one was
        trained."""
        end, load, learner = state.full, state.load, self._learner
        assert end is not None
        assert load is not None
        pins, measure = state.live.pins(self.body.pins), self._measure(inputs, state.scale)
        memory = learner.observe(state.memory, begin, end, pins, measure, tolerance)
        if not ready or not learner.is_due(memory):
            return replace(state, memory=memory), False
        memory, model = learner.train(memory, begin, end, load, pins, measure, tolerance)
        if model is None:
            return replace(state, memory=memory), True
        if memory.matrix is None:
            memory = replace(memory, matrix=self._make_matrix(begin, end, inputs))
        motion = model.project(end.x, end.v, end.a)
        return replace(state, memory=memory, full=None, motion=motion, elastic=model.elastic(motion[0])), True

    def _make_matrix(self, begin: FullState, end: FullState, inputs: Inputs) -> FloatArray:
        """The matrix of a full step where that ended."""
        step, system = self._full.formulate(begin, inputs)
        matrix = np.empty(system.map.pattern.nonzeros)
        step.stiffen(end.x, matrix, project=True)
        return matrix
