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
from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SceneError
from supple.linalg.rigid import rigid_modes
from supple.method.checks import check_settings, check_skipping, check_step
from supple.method.full.solver import FullSolver
from supple.method.measured import Measured, measure_body
from supple.method.model import ReducedModel
from supple.method.skipping.carried import Carrier
from supple.method.skipping.check import FullSpace
from supple.method.skipping.correcting import LEFT, Correcting
from supple.method.skipping.deciding import (
    LONGEST,
    News,
    Refusal,
    follow_load,
    follow_pose,
    follow_touch,
    identify_pins,
    list_touched,
    next_check,
    remember_situation,
    situation_of,
)
from supple.method.skipping.framed import FramedSteps
from supple.method.skipping.keeping import keep_model, model_of
from supple.method.skipping.learning import FullStep, Learner
from supple.method.skipping.measure import Measure, rms
from supple.method.skipping.state import Memory, Situation, SkippingState, pack_skipping, unpack_skipping
from supple.method.skipping.still import StillSteps, Taken
from supple.method.solver import Arrays, Report, Skip
from supple.method.state import FullState
from supple.rig import SkinnedRig
from supple.solve.forces import Force, Gravity, external_force
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch
from supple.subspace.window import Window

__all__ = ["SkippingSolver"]

FloatArray = NDArray[np.float64]
_USUAL, _STATIC = 1e-3, 1e-2  # tolerances
_FADES = 0.5 ** (1 / 1000)  # of the scale, a step: it halves in a thousand quiet ones
# Share of the tolerance that corrections of a full step and of a static one may leave
_LEFT, _LEFT_STATIC = 0.03, 0.1
_NEAR = 0.2  # of the tolerance: a correction of a rule's step after which little is left
_SMALL = 0.15  # of the tolerance: errors up to which static steps are checked half as often


class SkippingSolver:
    """Static, implicit Euler or Newmark steps of a pinned body: full where it must learn, reduced where it can."""

    name = "skipping"

    def __init__(
        self,
        body: Body,
        *,
        integrator: str = "implicit_euler",
        tolerance: float | None = None,
        throttle: float = 1.0,
        max_rank: int | None = None,
        newton_tolerance: float = 1e-4,
        linear_solver: str = "auto",
        max_iterations: int | None = None,
        time_step: float = 0.01,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        rig: SkinnedRig | None = None,
        model: ReducedModel | None = None,
    ) -> None:
        """`tolerance`: relative error of a step; where None, 1e-3, and 1e-2 in statics, where errors of steps do not
        add up. `throttle` multiplies it, and nothing is skipped where either is 0.

        `max_rank`: largest subspace; where None, as large as reduced steps are cheap beside full ones. The other
        settings are those of `FullSolver`; flesh on the bones of `rig` springs back to its neutral shape.
        What a `model` of the body holds is tried before anything is learned.
        """
        if tolerance is None:
            tolerance = _STATIC if integrator == "static" else _USUAL
        check_skipping(tolerance, throttle)
        check_settings(body, integrator, newton_tolerance, contact)
        if max_rank is not None and max_rank < 1:
            raise SceneError(f"a max_rank of {max_rank} leaves no subspace: give 1 or more.")
        held = rigid_modes(body.mesh.vertices).reshape(-1, 3, 6)[body.pins.vertices][body.pins.held]
        if (len(held) or integrator == "static") and np.linalg.matrix_rank(held) < 6:
            raise SceneError(
                "the pins leave the body free to move as a whole, which skipping follows only where there are none "
                'and time.integrator is not "static": pin three vertices that are not in a line, or use method.name = '
                '"full".'
            )
        self.body, self.tolerance, self.throttle = body, tolerance, throttle
        self.is_static = integrator == "static"
        self._integrator = integrator
        self._full = FullSolver(
            body, integrator=integrator, tolerance=newton_tolerance, linear_solver=linear_solver,
            max_iterations=max_iterations, time_step=time_step, colliders=colliders, contact=contact, rig=rig,
        )  # fmt: skip
        self._kept = () if model is None else (keep_model(model, body, rig),)
        self._carrier = Carrier(body, rig, static=self.is_static)
        self._steps: StillSteps | FramedSteps
        self._meets = rig is None and self._full.is_touchable
        if self._carrier.is_free or self._meets:
            self._steps = FramedSteps(body, integrator, newton_tolerance, colliders, contact)
        else:
            self._steps = StillSteps(self._carrier, self._full, integrator, newton_tolerance)
        self._learner = Learner(self._carrier, self._steps, integrator, max_rank)
        self._correcting = Correcting(self._learner, self._steps)
        self._space = FullSpace(self._carrier, self._full, integrator)
        self._weight = b"", np.zeros(0)

    def start(self, inputs: Inputs | None = None) -> SkippingState:
        return self._begin(self._full.start(inputs))

    def step(self, state: SkippingState, inputs: Inputs) -> tuple[SkippingState, Report]:
        check_step(inputs, self.body.pins)
        if inputs.events:
            state = replace(state, live=state.live.after(inputs.events, self.positions(state)))
            inputs = replace(inputs, events=())
        tolerance = self.tolerance * self.throttle * state.live.throttle
        if not tolerance > 0.0:
            full, report = self._full.step(self._lift(state), inputs)
            return replace(state, time=full.time, full=full, motion=None, live=full.live, defect=None), replace(
                report, skip=Skip()
            )
        watch = Stopwatch()
        now = situation_of(state.memory.situation, state.live, state.live.pins(self.body.pins), inputs.duration)
        if now != state.memory.situation:
            state = remember_situation(state, now, self._lift(state), self.body.mass)
        load = self._load_of(state.live.forces(inputs.end.forces))
        jumps, state = follow_load(state, load)
        if self._carrier.rig is not None:
            starts, state = follow_pose(state, self._carrier.pose(inputs.begin), self._carrier.pose(inputs.end))
            jumps |= starts
        why = None
        if state.motion is not None:
            if self._carrier.follows(state.live, inputs):
                reached = self._step_reduced(state, inputs, load, tolerance, jumps, watch)
                if not isinstance(reached, Refusal):
                    return reached
                why = reached
            memory = self._learner.leave(state.memory, state.skipped, why)
            state = replace(state, full=self._lift(state), motion=None, memory=memory, skipped=0, defect=None)
        return self._step_full(state, inputs, tolerance, why is not None, watch)

    def positions(self, state: SkippingState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        if state.full is not None:
            return self._full.positions(state.full, vertices)
        return self._steps.positions(state, vertices)

    def to_full(self, state: SkippingState) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._full.to_full(self._lift(state))

    def measure(self, state: SkippingState, inputs: Inputs) -> Measured:
        x, v, _ = self.to_full(state)
        return measure_body(self.body, x, v, state.live.forces(inputs.end.forces), state.live.stiffness)

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
            f"steps are skipped where a subspace learned on the way, of at most {self._learner.max_rank} coordinates, "
            f"makes errors below {self.tolerance * self.throttle:g} of the motion a step",
        ]

    def tell_learned(self, state: SkippingState) -> ReducedModel | None:
        """What was learned as a model of the body, if there is any."""
        return model_of(state.memory, self._carrier, self.tolerance * self.throttle)

    def _begin(self, full: FullState) -> SkippingState:
        situation = Situation(pins=identify_pins(self.body.pins))
        basis = self._kept[0].basis if self._kept else None
        memory = Memory(Window(self.body.mass), situation, basis=basis, kept=self._kept)
        return SkippingState(full.time, memory, full, live=full.live)

    def _lift(self, state: SkippingState) -> FullState:
        """The motion of every vertex."""
        return self._steps.lift(state) if state.full is None else replace(state.full, live=state.live)

    def _load_of(self, forces: tuple[Force, ...]) -> FloatArray:
        """Forces on the vertices [N], (n, 3); weight alone, which seldom changes, is kept."""
        if len(forces) != 1 or not isinstance(forces[0], Gravity):
            return external_force(forces, self.body.mass)
        key = np.asarray(forces[0].acceleration).tobytes()
        if key != self._weight[0]:
            self._weight = key, external_force(forces, self.body.mass)
        return self._weight[1]

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
        *,
        renewed: bool = False,
    ) -> tuple[SkippingState, Report] | Refusal:
        """A step in the subspace, which may be `renewed` for it, or why there is none."""
        with watch.phase("step"):
            near = self._measure(inputs, state.scale).length(_NEAR * tolerance)
            end = self._steps.take(state, load, inputs, near)
        if end is None:
            return Refusal.ERROR
        touched, news = follow_touch(state.touched, end.touching)
        if news is News.MORE or (not self._meets and self._foresees(state, end, inputs, watch)):
            return Refusal.CONTACT
        scale, since, interval = max(end.moved, _FADES * state.scale), state.since + 1, state.interval
        measure, memory = self._measure(inputs, scale), state.memory
        estimate = None
        if jumps or news is News.LESS or since >= interval:
            begin = self._lift(state)
            with watch.phase("check"):
                drag = None if end.drag is None else end.drag()
                checked = self._space.check(begin, memory, inputs, end.place(), drag, measure.length(LEFT * tolerance))
            if checked is None:
                return Refusal.ERROR
            estimate = measure.step(rms(checked.error, self.body.mass))
            memory = self._learner.judge(checked.memory, estimate, tolerance)
            if checked.end is not None and self.is_static and isinstance(self._steps, StillSteps):
                if self._full.is_touchable and self._full.foresee_contacts(begin, checked.end, inputs):
                    return Refusal.CONTACT
                step = FullStep(begin, replace(begin, x=checked.end), inputs, load, measure, tolerance)
                return self._correcting.settle(state, memory, step, end, estimate, (since, jumps), watch)
            if checked.end is not None and not jumps:  # what is new altogether is a full step's to learn
                step = FullStep(begin, replace(begin, x=checked.end), inputs, load, measure, tolerance)
                with watch.phase("learning"):
                    memory, better = self._correcting.renew(state, memory, step, estimate)
                if better is not None:
                    return self._step_reduced(better, inputs, load, tolerance, True, watch, renewed=True)
            if not estimate <= measure.refused * tolerance:
                return Refusal.ERROR
            interval = next_check(
                state.estimate, estimate, 1 if jumps else interval, since, measure.refused * tolerance,
                self.is_static, longest=self._longest(estimate, tolerance),
            )  # fmt: skip
            since = 0
        new = replace(
            state, time=inputs.end.time, full=end.full, motion=end.motion, elastic=end.elastic, scale=scale,
            since=since, interval=interval, skipped=state.skipped + 1, memory=memory, touched=touched,
            excess=end.excess, estimate=state.estimate if estimate is None else estimate,
        )  # fmt: skip
        used = memory.learned
        assert used is not None
        skip = Skip(checked=estimate is not None, learned=renewed, rank=used.basis.rank, elements=used.rule.size)
        return new, Report(
            watch.finish(), end.iterations, kind="reduced", full_share=0.0, estimated_error=new.estimate,
            residual=end.residual, contacts=0 if end.touching is None else len(end.touching), touching=end.touching,
            skip=skip,
        )  # fmt: skip

    def _longest(self, estimate: float, tolerance: float) -> int:
        """Reduced steps between checks at most: more in statics, which forgets errors, while these are small."""
        return 2 * LONGEST if self.is_static and estimate < _SMALL * tolerance else LONGEST

    def _foresees(self, state: SkippingState, end: Taken, inputs: Inputs, watch: Stopwatch) -> bool:
        """Whether anything may be touched in a reduced step."""
        if not self._full.is_touchable:
            return False
        with watch.phase("contact"):
            return self._full.foresee_contacts(self._lift(state), end.place(), inputs) > 0

    def _step_full(
        self, state: SkippingState, inputs: Inputs, tolerance: float, rejected: bool, watch: Stopwatch
    ) -> tuple[SkippingState, Report]:
        """A full step, and what is learned from it."""
        begin = self._lift(state)
        left = (_LEFT_STATIC if self.is_static else _LEFT) * tolerance
        goal = self._measure(inputs, state.scale).length(left)
        share = left if self.is_static and state.scale == 0.0 else 0.0  # of its way, before anything has moved
        memory, end, report = self._space.advance(begin, state.memory, inputs, goal, watch, share)
        scale = max(rms(self._learner.moved(begin, end, inputs), self.body.mass), _FADES * state.scale)
        state = replace(
            state, time=end.time, memory=memory, full=end, live=end.live, scale=scale, since=0, interval=1, skipped=0,
            estimate=0.0, touched=list_touched(report.touching),
        )  # fmt: skip
        held = not len(state.live.released.vertices)  # else the body may be free to move as a whole
        ready = held and self._carrier.follows(state.live, inputs) and self._is_met(report.touching)
        with watch.phase("learning"):
            state, learned = self._learn(state, begin, inputs, tolerance, ready)
        basis = state.memory.basis
        skip = Skip(
            rejected=rejected, learned=learned, rank=0 if basis is None else basis.rank,
            elements=state.memory.learned.rule.size if state.motion is not None and state.memory.learned else 0,
        )  # fmt: skip
        return state, replace(report, milliseconds={**report.milliseconds, **watch.finish()}, skip=skip)

    def _learn(
        self, state: SkippingState, begin: FullState, inputs: Inputs, tolerance: float, ready: bool
    ) -> tuple[SkippingState, bool]:
        """The state after a full step was looked at, reduced where a model repeats that step; and whether one was
        trained."""
        end, load, learner = state.full, state.load, self._learner
        assert end is not None
        assert load is not None
        step = FullStep(begin, end, inputs, load, self._measure(inputs, state.scale), tolerance)
        memory = learner.observe(state.memory, step)
        recalled, trained = learner.recall(memory, step) if ready else None, False
        if recalled is None:
            if not ready or not learner.is_due(memory):
                return replace(state, memory=memory), False
            memory, repeats = learner.train(memory, step)
            if not repeats:
                return replace(state, memory=memory), True
            recalled, trained = memory, True
        memory = self._space.with_matrix(recalled, begin, end, inputs)
        used = memory.learned
        assert used is not None
        if self.is_static and isinstance(self._steps, StillSteps):
            settled, entry = self._steps.settle(used, begin.x, end, load, inputs)
            memory = replace(memory, learned=settled)
        else:
            entry = self._steps.enter(used, end, inputs)
        return replace(
            state, memory=memory, full=entry.full, motion=entry.motion, elastic=entry.elastic, defect=entry.defect,
            excess=entry.excess,
        ), trained  # fmt: skip

    def _is_met(self, touching: Touch | None) -> bool:
        """Whether reduced steps know what is touched: colliders, where no bones move the body."""
        return touching is None or (self._meets and not (touching.source == SELF).any())
