"""The reduced solver: a body moves in a subspace, its forces come from the elements of a rule.

x = c + R (X + S p + U q): bodies held by pins that stand still have R = I; where pins move, R and c follow them and p
takes what is not rigid in their motion; the frame of a body that nothing holds is among the unknowns.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from supple.arguments import check_type
from supple.contact.collider import Collider
from supple.contact.detector import Detector
from supple.contact.sets import NO_PAIRS
from supple.contact.settings import ContactSettings
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import VISCOUS, Body
from supple.errors import SceneError
from supple.method.checks import check_settings, check_step
from supple.method.halving import Tally, advance
from supple.method.look_ahead import shorten
from supple.method.measured import Measured, check_volumes, find_load_points
from supple.method.model import ReducedModel
from supple.method.novelty import Novelty
from supple.method.reach import Reach
from supple.method.reduced.carry import Carrier
from supple.method.reduced.contact import Touching
from supple.method.reduced.fit import refuse_unfit
from supple.method.reduced.frame import FRAMED
from supple.method.reduced.framed import Moving, sum_loads
from supple.method.reduced.handles import Handle, Handles
from supple.method.reduced.inertia import Frames
from supple.method.reduced.newton import CONVERGED, REASONS, Scratch, is_large, minimise_whole
from supple.method.reduced.state import ReducedState
from supple.method.reduced.step import Limits, ReducedStep
from supple.method.reduced.still import KINDS, still_kernel
from supple.method.reduced.touch import TOUCHING
from supple.method.sit import find_hold
from supple.method.solver import Arrays, Report
from supple.solve.forces import initial_acceleration
from supple.solve.inputs import Inputs, Moment
from supple.solve.live import Live
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

__all__ = ["ReducedSolver"]

FloatArray = NDArray[np.float64]
_NOTHING = np.zeros((0, 0))


class ReducedSolver:
    """Static, implicit Euler or Newmark steps of a body in the subspace of a model."""

    name = "reduced"

    def __init__(
        self,
        body: Body,
        model: ReducedModel,
        *,
        integrator: str = "implicit_euler",
        tolerance: float = 1e-4,
        max_iterations: int | None = None,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        offset: FloatArray | None = None,
    ) -> None:
        """`tolerance` is Newton's, relative to the forces that act.

        The placements of `colliders` come with each moment; `contact` says how they and the body itself are touched.
        Displacements are `offset` [m], (n, 3), beside those of the subspace; it must be orthogonal to that.
        """
        check_settings(body, integrator, tolerance, contact)
        check_type(model, "model", ReducedModel, "a ReducedModel", "Use supple.io.load_model.")
        refuse_unfit(body, model)
        self.body, self.model, self.tolerance = body, model, tolerance
        self.is_static, self._integrator, self._kind = integrator == "static", integrator, KINDS[integrator]
        self.is_free = len(body.pins.vertices) == 0
        self.rank = model.basis.rank
        self._nothing = np.zeros(self.rank)
        touches = bool(colliders) or (contact is not None and contact.self_contact)
        self._most = float(max_iterations or (200 if touches else 50))  # contacts that rub take many short steps
        rule = model.rule
        self._elements = ReducedElements.build(body, model.basis.columns, rule.members, rule.weights, offset)
        self._origin = body.mesh.vertices if offset is None else body.mesh.vertices + offset
        # Forces of a strain of 1e-13: below it all is round-off
        self._floor = 1e-13 * float(np.sqrt(model.basis.importance.max() * body.mass.sum())) * body.mesh.size()
        self._scaled: tuple[float, ReducedElements] = (1.0, self._elements)
        self._scratch = Scratch.of(self._elements, self.rank)
        self._still = still_kernel(self._elements.loops, is_large(self._elements))
        self._held = body.mesh.vertices[body.pins.vertices].tobytes()
        trained = model.facts.get("loads")  # a model made by hand says nothing about loads
        self._novelty = None if trained is None else Novelty(body, lambda: model.basis, trained)
        self._reach = Reach(model.basis.importance, model.reach, "train with stronger loads")
        self._touching: Touching | None = None
        if touches:
            self._touching = Touching(body, self.shapes, self.rank, Detector(body, colliders, contact))

    def start(self, inputs: Inputs | None = None) -> ReducedState:
        x = self.body.mesh.vertices
        if inputs is None:
            return self.from_full(x, np.zeros_like(x), np.zeros_like(x))
        x = Live().place(x, self.body.pins, inputs.begin.targets)
        a = np.zeros_like(x)
        if not self.is_static:
            a = initial_acceleration(self.body, x, inputs.begin.forces)
        return self.from_full(x, np.zeros_like(x), a, inputs.begin.time)

    def step(self, state: ReducedState, inputs: Inputs) -> tuple[ReducedState, Report]:
        check_step(inputs, self.body.pins)
        watch, tally = Stopwatch(), Tally()
        if inputs.events:
            live = state.live.after(inputs.events, self.positions(state))
            if self.body.pins.without(live.released).held.sum() < self.body.pins.held.sum():
                raise SceneError(
                    "a pin of the scene cannot be released in a subspace that was trained with it: train without it "
                    "and pin it by an event, or use the full solver."
                )
            state, inputs = state._replace(live=live), replace(inputs, events=())
        state = advance(partial(self._single, watch=watch), state, inputs, tally, self.body, self.is_static)
        spent = watch.finish()
        phases = {**spent, "step": spent["other"], "other": 0.0}
        return state, tally.report(phases, "reduced", 0.0, self._trained_error())

    def _trained_error(self) -> float | None:
        """The model's error, until it was said that it is not known."""
        is_left = self._reach.is_left or (self._novelty is not None and self._novelty.is_left)
        return None if is_left else self.model.error

    def positions(self, state: ReducedState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        if state.is_framed:
            return self.moving.field(state, 0, vertices)
        origin = self._origin
        return (origin if vertices is None else origin[vertices]) + self.model.basis.lift(state.shapes[0], vertices)

    def to_full(self, state: ReducedState) -> tuple[FloatArray, FloatArray, FloatArray]:
        if state.is_framed:
            return self.moving.field(state, 0), self.moving.field(state, 1), self.moving.field(state, 2)
        v, a = (self.model.basis.lift(state.shapes[k]) for k in (1, 2))
        return self.positions(state), v, a

    def measure(self, state: ReducedState, inputs: Inputs) -> Measured:
        live, rank = state.live, self.rank
        if state.is_framed:
            kinetic = self.moving.frames.kinetic_energy(state)
            q, F = state.shapes[0, 1 : 1 + rank], self.strained @ state.shapes[0, 1 + rank :]
        else:
            kinetic, q, F = 0.5 * float(state.shapes[1] @ state.shapes[1]), state.shapes[0], np.zeros(())
        elements = self._elements
        F = F + elements.strain(q)
        return Measured(
            kinetic,
            live.stiffness * elements.energy_of(F),
            check_volumes(elements.volume_ratios(F), elements.ids),
            False,
            find_load_points(
                live.forces(inputs.end.forces),
                lambda: self._place_handle(self._handles.gravity, state),
                lambda vertices, weights: self._place_handle(self._handles.of_points(vertices, weights), state),
            ),
        )

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> ReducedState:
        x, v, a = (np.asarray(field, np.float64) for field in (x, v, a))
        held, rest = self.body.pins.vertices, self.body.mesh.vertices
        if self.is_free or not np.array_equal(x[held], rest[held]):
            state = self.moving.project(x, v, a, time)
        else:
            q = np.array([self.model.basis.project(field) for field in (x - rest, v, a)])
            state = ReducedState(time, q)
        q = state.shapes[0, 1 : 1 + self.rank] if state.is_framed else state.shapes[0]
        return state._replace(elastic=float(np.linalg.norm(self._elements.force(q))))

    def pack(self, state: ReducedState) -> dict[str, NDArray[np.generic]]:
        return state.pack()

    def unpack(self, arrays: Arrays) -> ReducedState:
        return ReducedState.unpack(arrays)

    def describe(self) -> list[str]:
        rule, error = self.model.rule, self.model.error
        frame = "a frame of its own" if self.is_free else "a frame that follows its pins"
        known = "" if error is None else f", error of held-out cases {100 * error:.2g} %"
        return [
            f"reduced space, {self.rank} coordinates ({self.model.basis.source}) and {frame}, "
            f"{self._integrator.replace('_', ' ')}, Newton to {self.tolerance:g} of the forces that act",
            f"forces from {rule.size:,} of {len(self.body.mesh.tets):,} elements{known}",
        ]

    def _single(self, state: ReducedState, inputs: Inputs, tally: Tally, watch: Stopwatch) -> ReducedState:
        if state.is_framed or self._touching is not None or not self.rests(inputs.end):
            return self._step_framed(state, inputs, tally, watch)
        live = state.live
        scale, elements = self._stiffened(live.stiffness)
        handles, forces = self._pushes(live, inputs.end)
        M, pull = self._extras(state, elements, inputs.duration)
        scalars = np.array(
            (inputs.duration, self._kind, self.body.damping.mass, self.tolerance, self._floor * scale, self._most,
             scale * state.elastic)
        )  # fmt: skip
        s = self._scratch
        motion, iterations, residual, elastic, status, bent = self._still(
            s.address, elements.gradient, elements.single, elements.rest, elements.table, elements.bounds,
            state.shapes, handles, forces, M, pull, self._reach.weights, scalars, s.L, s.signs, s.stack, s.halves, s.K,
        )  # fmt: skip
        tally.newton += iterations
        if status != CONVERGED:
            raise self._failure(ReducedState(inputs.end.time, motion), residual, status, inputs)
        tally.residual = max(tally.residual, residual)
        self._reach.tell(bent, inputs.end.time)
        return ReducedState(inputs.end.time, motion, elastic=elastic / scale, live=live)

    def _pushes(self, live: Live, end: Moment) -> tuple[FloatArray, FloatArray]:
        """What forces act on (k, 3, r), kept while the same patches are pushed, and their vectors (k, 3)."""
        found = self._act(live, end)
        handles = self._handles.stack([handle for handle, _ in found], slice(1, 1 + self.rank))
        return handles, np.array([vector for _, vector in found], np.float64).reshape(-1, 3)

    def _act(self, live: Live, end: Moment) -> list[tuple[Handle, FloatArray]]:
        """What the forces of a moment act on, and their vectors [N]."""
        forces = live.forces(end.forces)
        if self._novelty is not None:
            self._novelty.look(forces)
            if live.grabs or len(live.added.vertices):
                self._novelty.look_live(live, self.rests(end))
        return [self._handles.of_force(force) for force in forces]

    def _extras(self, state: ReducedState, elements: ReducedElements, h: float) -> tuple[FloatArray, FloatArray]:
        """Springs and drag by stiffness as ½ qᵀM q - pull·q."""
        live, beta = state.live, self.body.damping.stiffness
        drags = beta > 0.0 and not self.is_static
        if not live.grabs and not len(live.added.vertices) and not drags:
            return _NOTHING, self._nothing
        M, pull = np.zeros((self.rank, self.rank)), np.zeros(self.rank)
        springs = self._handles.of_live(live)
        for handle, stiffness, target in zip(springs.handles, springs.stiffness, springs.targets, strict=True):
            J = handle.J[:, 1 : 1 + self.rank]
            M += J.T @ (stiffness[:, None] * J)
            pull += J.T @ (stiffness * (target - self._centre * handle.weight - handle.J[:, 0]))
        if drags:
            drag, origin = self._drag(state.shapes[0], state.shapes[1], elements, h)
            M += drag
            pull += drag @ origin
        return M, pull

    def _drag(
        self, q: FloatArray, speed: FloatArray, elements: ReducedElements, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """cv β K, and the coordinates it pulls to."""
        beta = self.body.damping.stiffness
        if self._integrator == "newmark":
            ahead = q + shorten(h * speed, elements.gradient @ (h * speed))
            return 2.0 / h * beta * elements.stiffness(ahead, form=VISCOUS), q + 0.5 * h * speed
        return beta / h * elements.stiffness(q, form=VISCOUS), q

    def _step_framed(self, state: ReducedState, inputs: Inputs, tally: Tally, watch: Stopwatch) -> ReducedState:
        moving, live, h = self.moving, state.live, inputs.duration
        state = moving.centre_rates(state if state.is_framed else moving.enframe(state), inputs.end, h)
        scale, elements = self._stiffened(live.stiffness)
        pushed = self._act(live, inputs.end)
        springs = self._handles.of_live(live)
        alone = self.is_free and self.is_static and not springs.handles
        if alone:
            state = self._find_hold(state, pushed, inputs)
        drag = (_NOTHING, np.zeros(self.rank))
        if self.body.damping.stiffness > 0.0 and not self.is_static:
            q, speed = moving.coordinates(state)
            drag = self._drag(q, speed, elements, h)
        step = moving.prepare(state, inputs.end, h, pushed, springs, drag)

        def fail(z: FloatArray, residual: float, status: int) -> NewtonFailure:
            return self._failure(moving.arrive(state, step, z, inputs.end.time, h), residual, status, inputs)

        limits = Limits(
            scale * state.elastic + moving.acting(state, pushed, springs),
            self._floor * scale + moving.round_off(step),
            self.tolerance,
            self._most,
        )
        rest = elements.rest + self.strained @ step.loads.tail
        minimise = partial(minimise_whole, elements, rest, self._framed_scratch)
        newton = ReducedStep(step, (FRAMED, TOUCHING), minimise, limits, tally, fail)
        relief, pairs = None, NO_PAIRS
        if self._touching is None:
            newton.solve(step.begin, step.guess)
        else:
            outcome = self._touching.settle(newton, state, sum_loads(pushed)[0], inputs, watch, alone=alone)
            tally.note(outcome)
            pairs = outcome.pairs
            relief = self._touching.relieve(outcome, newton, h)
        reached = moving.arrive(state, step, newton.z, inputs.end.time, h, relief)
        q = newton.z[: self.rank]
        self._reach.look(q, inputs.end.time)
        return reached._replace(elastic=newton.elastic / scale, live=live, pairs=pairs)

    def _find_hold(self, state: ReducedState, pushed: list[tuple[Handle, FloatArray]], inputs: Inputs) -> ReducedState:
        """Where the statics of a body that no pin holds begins."""
        detector, x = (None, state.offsets) if self._touching is None else self._touching.look(state)
        shift = find_hold(detector, x, *sum_loads(pushed), self.body.mesh.size(), inputs)
        return state._replace(offsets=state.offsets + np.outer([1.0, 0.0, 0.0], shift))

    def _failure(self, state: ReducedState, residual: float, status: int, inputs: Inputs) -> NewtonFailure:
        x = self.positions(state)
        failure = NewtonFailure(REASONS[status], x, residual)
        external = np.zeros_like(x)
        for force in inputs.end.forces:
            force.add_to(external, self.body.mass)
        failure.terms = {"elastic force": self.body.forces(x), "external force": external}
        return failure

    def _stiffened(self, factor: float) -> tuple[float, ReducedElements]:
        """The factor, and the elements with their energy multiplied by it."""
        if self._scaled[0] != factor:
            self._scaled = factor, self._elements.with_stiffness(factor)
        return self._scaled

    def _place_handle(self, handle: Handle, state: ReducedState) -> FloatArray:
        """Where a weighted sum of vertices is, (3,)."""
        if state.is_framed:
            turned = (turn @ (handle.J @ s) for turn, s in zip(state.turns[0], state.shapes, strict=True))
            return np.asarray(handle.weight * state.offsets[0] + sum(turned))
        J = handle.J[:, 1 : 1 + self.rank]
        return np.asarray(handle.weight * self._centre + handle.J[:, 0] + J @ state.shapes[0])

    def rests(self, end: Moment) -> bool:
        """Whether the pins are where they are at rest."""
        return not self.is_free and end.targets.tobytes() == self._held  # bytes: a step has no time for array_equal

    @cached_property
    def _centre(self) -> FloatArray:
        return np.asarray(self.body.mass @ self.body.mesh.vertices / self.body.mass.sum())

    @cached_property
    def shapes(self) -> FloatArray:
        """Ψ = (X, U, S), X from the centre of mass, (n, 3, m)."""
        n, model = len(self.body.mass), self.model
        about = (self._origin - self._centre)[:, :, None]
        columns = [fields.reshape(n, 3, fields.shape[1]) for fields in (model.basis.columns, model.carried)]
        return np.concatenate([about, *columns], axis=2)

    @cached_property
    def _handles(self) -> Handles:
        hold = float(self.body.mass.sum() * self.model.basis.importance.max())
        return Handles(self.shapes, self.body.mass, hold)

    @cached_property
    def moving(self) -> Moving:
        """What takes it along with a frame."""
        carrier = None if self.is_free else Carrier(self.body, self.model.carried)
        frames = Frames(self.shapes, self.body.mass, self.rank)
        return Moving(self.body, self.shapes, self._centre, frames, carrier, self._integrator)

    @cached_property
    def strained(self) -> FloatArray:
        """Deformation gradients by p, (9 c, s)."""
        rule = self.model.rule
        return ReducedElements.build(self.body, self.model.carried, rule.members, rule.weights).gradient

    @cached_property
    def _framed_scratch(self) -> Scratch:
        return Scratch.of(self._elements, self.rank + (6 if self.is_free else 0))
