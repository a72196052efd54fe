"""The full-space solver: every vertex an unknown, Newton to a set number of digits."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.detector import Detector
from supple.contact.potential import ContactPotential
from supple.contact.sets import NO_PAIRS
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Pins
from supple.errors import SceneError, SuppleWarning
from supple.method.checks import check_settings, check_step
from supple.method.full.drag import find_drag, make_drag, take_along
from supple.method.full.step import FullStep
from supple.method.halving import Tally, advance
from supple.method.measured import Measured, measure_body
from supple.method.outer import Approach, ContactLoop, Round, count_contact
from supple.method.rig_carry import RigCarry
from supple.method.rigged import Rest, RiggedBody
from supple.method.sit import find_hold
from supple.method.solver import Arrays, Report
from supple.method.state import FullState, pack_state, unpack_state
from supple.method.step_frame import foresee_frame
from supple.rig import Rig
from supple.solve.forces import external_force, initial_acceleration
from supple.solve.increment import Increment, Motion
from supple.solve.inputs import Inputs, Moment
from supple.solve.integrator import ALL_INTEGRATORS, Integrator
from supple.solve.linear import LINEAR_SOLVERS
from supple.solve.live import Live
from supple.solve.pull import Anchors, Springs
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["FullSolver"]

FloatArray = NDArray[np.float64]


class FullSolver:
    """Static, implicit Euler, Newmark or generalized-α steps of a body, over one Newton core."""

    name = "full"

    def __init__(
        self,
        body: Body,
        *,
        integrator: str = "implicit_euler",
        tolerance: float = 1e-4,
        linear_solver: str = "auto",
        max_iterations: int | None = None,
        time_step: float = 0.01,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        rig: Rig | None = None,
        rest: Rest = "neutral",
        anchors: Anchors | None = None,
    ) -> None:
        """`time_step` [s] is what steps are expected to be, for the choice of a linear solver only.

        The placements of `colliders` come with each moment; `contact` says how they and the body itself are touched.
        So do the poses of `rig`; `rest` says what they mean (method/rigged.py). Pins hold what shall follow its bones,
        `anchors` tie flesh to them by springs.
        """
        check_settings(body, integrator, tolerance, contact, ALL_INTEGRATORS)
        if linear_solver not in LINEAR_SOLVERS:
            raise SceneError(f"linear_solver {linear_solver!r} is not known: use one of {', '.join(LINEAR_SOLVERS)}.")
        self.body = body
        self.tolerance = tolerance
        self.is_static = integrator == "static"
        self._integrator = ALL_INTEGRATORS[integrator]
        self._integrator_name = integrator
        self._linear_solver = linear_solver
        self._max_iterations = max_iterations or (200 if self.is_static else 50)
        self._floor = _force_of_tiny_strain(body)
        self._reach = None if self.is_static else _wave_reach(body, self._integrator, time_step)
        self._held: tuple[bytes, System] | None = None
        self._admitted = False
        self._contact: ContactLoop | None = None
        if colliders or (contact is not None and contact.self_contact):
            self._contact = ContactLoop(Detector(body, colliders, contact), body.mass, body.mesh.size())
        self._rigged = None if rig is None else RiggedBody(body, rig, rest)
        self._rig, self._anchors = rig, anchors
        self.note: Callable[[FloatArray], None] | None = None
        """Who is told of every iterate of Newton's method [m], (n, 3)."""

    def start(self, inputs: Inputs | None = None) -> FullState:
        x = self.body.mesh.vertices.copy()
        if inputs is None:
            return self.from_full(x, np.zeros_like(x), np.zeros_like(x))
        if self._rigged is not None:
            x = self._rigged.place(inputs.begin)
        x = Live().place(x, self.body.pins, inputs.begin.targets)
        state = self.from_full(x, np.zeros_like(x), np.zeros_like(x), inputs.begin.time)
        if self.is_static:
            return state
        return replace(state, a=initial_acceleration(self._body_at(inputs.begin), x, inputs.begin.forces))

    def step(self, state: FullState, inputs: Inputs) -> tuple[FullState, Report]:
        check_step(inputs, self.body.pins)
        watch, tally = Stopwatch(), Tally()
        state = replace(state, live=state.live.after(inputs.events, state.x))
        single = partial(self._single, watch=watch)
        inputs = replace(inputs if self._rigged is None else self._rigged.follow(inputs), events=())
        state = advance(single, state, inputs, tally, self._body_at(inputs.end), self.is_static)
        return state, tally.report(watch.finish(), "full", 1.0)

    def positions(self, state: FullState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        return state.x if vertices is None else state.x[vertices]

    def to_full(self, state: FullState) -> tuple[FloatArray, FloatArray, FloatArray]:
        return state.x, state.v, state.a

    def measure(self, state: FullState, inputs: Inputs) -> Measured:
        body, live = self._body_at(inputs.end), state.live
        return measure_body(body, state.x, state.v, live.forces(inputs.end.forces), live.stiffness)

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> FullState:
        x, v, a = (np.array(field, np.float64, order="C") for field in (x, v, a))
        return FullState(time, x, v, a)

    def pack(self, state: FullState) -> dict[str, NDArray[np.generic]]:
        return pack_state(state)

    def unpack(self, arrays: Arrays) -> FullState:
        return unpack_state(arrays)

    def describe(self) -> list[str]:
        system = self._system(self.body.pins)
        if system.unknowns == 0:
            return ["full space, nothing to solve for: every vertex is pinned"]
        rigged = [] if self._rigged is None else [self._rigged.describe()]
        return [
            f"full space, {system.unknowns:,} unknowns, {self._integrator_name.replace('_', ' ')}, "
            f"Newton to {self.tolerance:g} of the forces that act",
            f"linear solver: {system.linear.name} ({system.reason})",
            *rigged,
        ]

    def formulate(self, state: FullState, inputs: Inputs, *, drags: bool = True) -> tuple[Increment, System]:
        """What a step minimises, contacts left out, and its unknowns; a rig must leave the rest shape alone.

        `drags`: with the damping by stiffness, whose matrix costs more than all the rest.
        """
        system = self._system(state.live.pins(self.body.pins))
        motion = self._integrator(state.x, state.v, state.a, inputs.duration)
        return self._increment(state, inputs, system, motion, None, drags=drags), system

    def carry(self, inputs: Inputs) -> RigCarry | None:
        """How a rig takes the body along in a step; None where there is none, or it stands still."""
        return None if self._rigged is None else self._rigged.carry(inputs)

    @property
    def is_touchable(self) -> bool:
        """Whether there is anything to touch."""
        return self._contact is not None

    def foresee_contacts(self, state: FullState, x: FloatArray, inputs: Inputs) -> int:
        """How many points may touch something in a step that ends at x [m], (n, 3)."""
        if self._contact is None:
            return 0
        return len(self._contact.detector.foresee(state.x, x, inputs, state.pairs))

    def find_drag(self, state: FullState, inputs: Inputs) -> tuple[FloatArray, FloatArray] | None:
        """Positions whose stiffness damps a step, and positions that are no motion [m], (n, 3); None where none does.

        A rig must leave the rest shape alone."""
        body = self.body
        if self.is_static or not body.damping.stiffness > 0.0:
            return None
        motion = self._integrator(state.x, state.v, state.a, inputs.duration)
        frame = foresee_frame(body.mesh.vertices, body.mass, body.pins, state, inputs)
        return find_drag(body, body.parts, motion, state, inputs, frame)

    def look(self, state: FullState, x: FloatArray, inputs: Inputs) -> ContactPotential | None:
        """What contacts do in a step that ends at x [m], (n, 3); None where nothing is near."""
        if self._contact is None:
            return None
        motion = self._integrator(state.x, state.v, state.a, inputs.duration)
        system = self._system(state.live.pins(self.body.pins))
        weight = count_contact(motion, inputs.duration)
        return self._contact.look(Approach(state.x, x, inputs, motion.ca, weight, system.map.free, state.pairs), x)

    def _single(self, state: FullState, inputs: Inputs, tally: Tally, watch: Stopwatch) -> FullState:
        live, end, h = state.live, inputs.end, inputs.duration
        system = self._system(live.pins(self.body.pins))
        motion, push, pairs = self._integrator(state.x, state.v, state.a, h), None, NO_PAIRS
        with watch.phase("assembly"):
            carry = self.carry(inputs)
            increment = self._increment(state, inputs, system, motion, carry)
        if system.unknowns == 0:
            return self.arrive(motion, live.place(state.x, self.body.pins, end.targets), state, h, end)
        begin = self._find_hold(state.x, system, increment, inputs)
        standing = [begin] if carry is None else [begin, carry.move(begin)]
        guesses = standing if self.is_static else [*standing, begin + h * state.v, motion.xa + state.a / motion.ca]
        step = FullStep(
            increment, system, [live.place(x, self.body.pins, end.targets) for x in guesses], len(standing),
            floor=self._floor * live.stiffness, tolerance=self.tolerance, max_iterations=self._max_iterations,
            tally=tally, watch=watch, note=self.note,
        )  # fmt: skip
        if self._contact is None:
            x, _ = step.solve(Round(None, None, 0.0, False, False))
        else:
            load = increment.force.sum(axis=0) if self._is_alone(system, increment) else None
            approach = Approach(
                begin, standing[-1] if self.is_static else begin + h * state.v, inputs, motion.ca,
                count_contact(motion, h), system.map.free, state.pairs, load,
            )  # fmt: skip
            outcome = self._contact.settle(approach, step.solve, watch)
            x, push, pairs = outcome.x, outcome.force, outcome.pairs
            tally.note(outcome)
        self._admit_round_off(tally.residual, increment, step.reference)
        return replace(self.arrive(motion, x, state, h, end, push), pairs=pairs)

    def arrive(
        self, motion: Motion, x: FloatArray, state: FullState, h: float, end: Moment, push: FloatArray | None = None
    ) -> FullState:
        """The state at the end of a step in which contacts pushed [N], (n, 3).

        Where pins prescribe positions, velocities follow from these alone: an integrator's own velocity of a prescribed
        coordinate is not damped by anything and would ring.
        """
        v, a = motion.velocity(x), motion.acceleration(x)
        weight = count_contact(motion, h)
        if push is not None and weight != 1.0:
            a -= weight * push / self.body.mass[:, None]  # what the next step goes on with
        a = motion.end_acceleration(a)
        pins = state.live.pins(self.body.pins)
        if not self.is_static and len(pins.vertices):
            held = pins.vertices
            carried = (x[held] - state.x[held]) / h
            v[held] = np.where(pins.held, carried, v[held])
            a[held] = np.where(pins.held, (carried - state.v[held]) / h, a[held])
        return FullState(end.time, x, v, a, state.live)

    def _body_at(self, moment: Moment) -> Body:
        """The body with the rest shape of a moment."""
        return self.body if self._rigged is None else self._rigged.at(moment)

    def _increment(
        self,
        state: FullState,
        inputs: Inputs,
        system: System,
        motion: Motion,
        carry: RigCarry | None,
        *,
        drags: bool = True,
    ) -> Increment:
        body, live = self._body_at(inputs.end), state.live
        parts = body.parts if live.stiffness == 1.0 else tuple(p.with_stiffness(live.stiffness) for p in body.parts)
        force = external_force(live.forces(inputs.end.forces), body.mass)
        drag = None
        if self._rigged is None or not self._rigged.is_posed:
            carry = None  # damping sees no rig
        if drags and body.damping.stiffness > 0.0 and not self.is_static:
            frame = carry or foresee_frame(body.mesh.vertices, body.mass, body.pins, state, inputs)
            drag = make_drag(body, parts, system, motion, state, inputs, frame)
        if carry is not None and not self.is_static:
            motion = replace(motion, xv=take_along(motion, state.x, inputs.duration, carry))
        return Increment(
            parts, body.mass, motion, body.damping.mass, drag, force, live.grabs, system.map, None,
            self._tie(inputs.end),
        )  # fmt: skip

    def _tie(self, moment: Moment) -> Springs | None:
        """The springs that tie flesh to the rig at a moment."""
        if self._anchors is None or self._rig is None or moment.pose is None:
            return None
        return self._anchors.at(self._rig.positions(moment.pose, self._anchors.vertices))

    def _admit_round_off(self, residual: float, step: Increment, reference: float) -> None:
        """Say, once, when loads are so small beside the stiffness that their digits are lost."""
        if self._admitted or residual <= max(10.0 * self.tolerance, 1e-3):
            return
        if float(np.linalg.norm(step.map.unknowns(step.force))) < 0.1 * reference:
            return  # not the loads but what the body is doing to itself
        self._admitted = True
        warnings.warn(
            f"round-off leaves a residual of {residual:.2g} instead of {self.tolerance:g}: the body is too stiff for "
            "its loads to be resolved in double precision, so lower young or hold it rigid.",
            SuppleWarning,
            stacklevel=2,
        )

    def _find_hold(self, x: FloatArray, system: System, step: Increment, inputs: Inputs) -> FloatArray:
        """Where a step begins: at x, but a static body that nothing holds must rest on a collider if loads push it."""
        if not self._is_alone(system, step):
            return x
        detector = None if self._contact is None else self._contact.detector
        total = float(np.abs(step.force).sum())
        return x + find_hold(detector, x, step.force.sum(axis=0), total, self.body.mesh.size(), inputs)

    def _is_alone(self, system: System, step: Increment) -> bool:
        """Whether a static body is held by no pin and no grab."""
        held = (
            len(system.map.free) < len(self.body.mass) or len(system.map.locked) > 0 or bool(step.grabs or step.anchors)
        )
        return self.is_static and not held

    def _system(self, pins: Pins) -> System:
        """The system of these pins; the last one is kept, because pins seldom change."""
        key = pins.vertices.tobytes() + pins.held.tobytes()
        if self._held is None or self._held[0] != key:
            self._held = None  # let the old factor go before the new one comes
            self._held = key, System(self.body, pins, self._linear_solver, self._reach)
        return self._held[1]


def _force_of_tiny_strain(body: Body) -> float:
    """Size of the residual that a strain of 1e-13 everywhere would leave [N]: below it all is round-off."""
    square = 0.0
    for part in body.parts:
        area = np.cbrt(part.size) ** 2 * part.stiffness
        square += float(np.sum((area * (part.material.mu + part.material.lam)) ** 2))
    return 1e-13 * float(np.sqrt(square))


def _wave_reach(body: Body, integrator: Integrator, step: float) -> float:
    """Elements that a pressure wave crosses in the time over which the integrator spreads inertia, 1 / sqrt(ca)."""
    still = np.zeros((1, 3))
    span = 1.0 / np.sqrt(integrator(still, still, still, step).ca)
    speed = max(part.wave_speed for part in body.parts)
    edge = float(np.cbrt(6.0 * np.sqrt(2.0) * body.mesh.volumes().mean()))  # of a regular tet of the mean volume
    return float(span * speed / edge)
