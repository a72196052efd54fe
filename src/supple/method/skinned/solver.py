"""The reduced solver of a skinned body: x = φ(p, X + U q), energy measured against X (`rest = "neutral"`).

In full space skinning is a change of coordinates; in a subspace it is what lets few coordinates serve large poses.
Forces come from the elements of one rule, gravity and the inertia of the moving frame from the vertices of another.
Drag by stiffness resists all strain, that by bending bones too, but no turn of them all together.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.detector import Detector
from supple.contact.ruled_detector import RuledDetector
from supple.contact.sets import NO_PAIRS
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SceneError
from supple.method.articulated.domain_space import DomainSpace
from supple.method.articulated.model import ArticulatedModel
from supple.method.checks import check_settings, check_step, refuse_other_pins
from supple.method.contact_samples import find_flesh
from supple.method.halving import Tally, advance
from supple.method.measured import Measured, check_volumes, find_load_points
from supple.method.novelty import Novelty
from supple.method.reach import Reach
from supple.method.reduced.loads import STILL
from supple.method.reduced.newton import REASONS, Found, Given, LoadLoops
from supple.method.reduced.step import Limits, ReducedStep
from supple.method.selfcontact.touching import RuledTouching
from supple.method.skinned.balance import Balance, SkinnedStep
from supple.method.skinned.contact import SkinnedTouching
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.novelty import PoseNovelty
from supple.method.skinned.rates import find_rig_velocity, lift_rates
from supple.method.skinned.space import Space, WholeSpace
from supple.method.skinned.state import SkinnedState
from supple.method.skinned.touch import STILL_TOUCHING
from supple.method.solver import Arrays, Report
from supple.rig import SkinnedRig
from supple.solve.forces import Force, external_force, initial_acceleration
from supple.solve.inputs import Inputs, Moment
from supple.solve.live import Live
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

__all__ = ["SkinnedSolver"]

FloatArray = NDArray[np.float64]


class SkinnedSolver:
    """Static, implicit Euler or Newmark steps of a body that bones move, in the subspace of a model."""

    name = "skinned"

    def __init__(
        self,
        body: Body,
        rig: SkinnedRig,
        model: SkinnedModel | ArticulatedModel,
        *,
        integrator: str = "implicit_euler",
        tolerance: float = 1e-4,
        max_iterations: int | None = None,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
    ) -> None:
        """`body` is held where its bones are, by pins that follow `rig`; `tolerance` is Newton's.

        The placements of `colliders` come with each moment; `contact` says how they and the body itself are touched.
        """
        check_settings(body, integrator, tolerance, contact)
        _refuse_unfit(body, rig, model)
        self.body, self.rig, self.model, self.tolerance = body, rig, model, tolerance
        self.is_static, self._integrator = integrator == "static", integrator
        self.rank = model.basis.rank
        touches = bool(colliders) or (contact is not None and contact.self_contact)
        self._most = float(max_iterations or (200 if touches else 50))  # contacts that rub take many short steps
        self._space: Space[Any] = (
            WholeSpace(body, rig, model) if isinstance(model, SkinnedModel) else DomainSpace(rig, model)
        )
        self._balance = Balance(body, rig, model.basis, self._space, integrator)
        importance, size, mass = model.basis.importance, body.mesh.size(), float(body.mass.sum())
        # Forces of a strain of 1e-13, and of places that are known to so many digits: below it all is round-off
        self._floor = 1e-13 * float(np.sqrt(importance.max() * mass)) * size
        self._shake = 1e-14 * float(np.sqrt(mass)) * size
        self._reach = Reach(importance, model.reach, "train with stronger loads or these poses")
        self._poses_known = PoseNovelty(rig, model.poses)
        trained = model.facts.get("loads")  # a model made by hand says nothing about loads
        self._loads_known = None if trained is None else Novelty(body, self._space.draw, trained)
        self._touching: SkinnedTouching | None = None
        if touches:
            self._touching = _make_touching(body, rig, model, colliders, contact or ContactSettings())

    def start(self, inputs: Inputs | None = None) -> SkinnedState:
        if inputs is None:
            x = self.rig.rest
            return self.from_full(x, np.zeros_like(x), np.zeros_like(x))
        pose = self.pose_of(inputs.begin)
        refuse_other_pins(self.body, self.rig, inputs.begin, pose)
        x = self.rig.positions(pose)
        a = np.zeros_like(x) if self.is_static else initial_acceleration(self.body, x, inputs.begin.forces)
        return self.from_full(x, np.zeros_like(x), a, inputs.begin.time, pose=pose)

    def step(self, state: SkinnedState, inputs: Inputs) -> tuple[SkinnedState, Report]:
        check_step(inputs, self.body.pins)
        watch, tally = Stopwatch(), Tally()
        if inputs.events:
            live = state.live.after(inputs.events, self.positions(state))
            if self.body.pins.without(live.released).held.sum() < self.body.pins.held.sum():
                raise SceneError(
                    "bones cannot let go of a body in a subspace that was trained with them: use the full solver."
                )
            state, inputs = state._replace(live=live), replace(inputs, events=())
        state = advance(partial(self._single, watch=watch), state, inputs, tally, self.body, self.is_static)
        spent = watch.finish()
        phases = {**spent, "step": spent["other"], "other": 0.0}
        return state, tally.report(phases, "reduced", 0.0, self._trained_error())

    def _trained_error(self) -> float | None:
        """The model's error, until it was said that it is not known."""
        loads = self._loads_known is not None and self._loads_known.is_left
        return None if self._reach.is_left or self._poses_known.is_left or loads else self.model.error

    def positions(self, state: SkinnedState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        rest = self.rig.rest if vertices is None else self.rig.rest[vertices]
        return self.rig.push_forward(state.pose, rest + self.model.basis.lift(state.shapes[0], vertices), vertices)

    def to_full(self, state: SkinnedState) -> tuple[FloatArray, FloatArray, FloatArray]:
        x = self.positions(state)
        return x, *lift_rates(self.rig, self.model.basis, state)

    def measure(self, state: SkinnedState, inputs: Inputs) -> Measured:
        live, q, particles = state.live, state.shapes[0], self._space.particles
        elements = self._space.pose(state.pose)
        F = elements.strain(q)
        elastic = elements.energy_of(F)
        if self._space.springs is not None:
            elastic += 0.5 * float(q @ self._space.springs @ q)
        x, v = state.particles
        return Measured(
            particles.kinetic_energy(v),
            live.stiffness * elastic,
            check_volumes(elements.volume_ratios(F), elements.ids),
            False,
            find_load_points(
                live.forces(inputs.end.forces),
                lambda: particles.moment(x),
                lambda vertices, weights: weights @ self.positions(state, vertices),
            ),
        )

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> SkinnedState:
        """The state nearest to given motion in a pose, the neutral one by default."""
        pose = self.rig.neutral if pose is None else self.rig.skeleton.check(pose)
        x, v, a = (np.asarray(field, np.float64) for field in (x, v, a))
        basis, particles = self.model.basis, self._space.particles
        A, _ = self.rig.frames(pose)
        back = np.linalg.pinv(A)
        u, pins = self.rig.pull_back(pose, x) - self.rig.rest, self.body.pins.vertices
        own = v - find_rig_velocity(self.rig, pose, pins, v[pins])
        rates = ((back @ field[:, :, None])[:, :, 0] for field in (own, a))
        shapes = np.array([basis.project(field) for field in (u, *rates)])
        held = particles.positions(particles.place(pose), shapes[0])
        return SkinnedState(
            time, shapes, pose, np.array([held, v[particles.vertices]]),
            np.zeros((2, len(pose))), np.zeros((2, self.rank)), np.zeros(2), Live(),
        )  # fmt: skip

    def pack(self, state: SkinnedState) -> dict[str, NDArray[np.generic]]:
        return state.pack()

    def unpack(self, arrays: Arrays) -> SkinnedState:
        return SkinnedState.unpack(arrays)

    def describe(self) -> list[str]:
        model = self.model
        known = "" if model.error is None else f", error of held-out cases {100 * model.error:.2g} %"
        skinning = self.rig.mode.replace("_", " ")
        return [
            f"reduced space about a skinned pose ({skinning}), {self.rank} coordinates ({model.basis.source}), "
            f"{self._integrator.replace('_', ' ')}, Newton to {self.tolerance:g} of the forces that act",
            f"forces from {model.rule.size:,} of {len(self.body.mesh.tets):,} elements, gravity and inertia of the "
            f"frame from {model.particles.size:,} of {len(self.body.mass):,} vertices{known}",
            *self._space.describe(),
        ]

    def _single(self, state: SkinnedState, inputs: Inputs, tally: Tally, watch: Stopwatch) -> SkinnedState:
        h, time, pose, live = inputs.duration, inputs.end.time, self.pose_of(inputs.end), state.live
        self._look_at_loads(live.forces(inputs.end.forces), live, pose)
        step = self._balance.prepare(state, inputs, pose)

        coupled = bool(live.grabs) or len(live.added.vertices) > 0

        def minimise(loops: LoadLoops, given: Given) -> Found:
            touch = given[0][1] if loops is STILL_TOUCHING else None
            return self._space.minimise(step.elements, loops, given, coupled=coupled, touch=touch)

        def search(given: Any) -> Any:
            return self._space.settle(step.elements, given, coupled=coupled)

        def fail(q: FloatArray, residual: float, status: int) -> NewtonFailure:
            return self._failure(state, pose, q, residual, status, inputs)

        limits = Limits(step.reference, self._floor + self._shake * step.motion.ca, self.tolerance, self._most)
        newton = ReducedStep(step, (STILL, STILL_TOUCHING), minimise, limits, tally, fail, search)
        relief, pairs = None, NO_PAIRS
        if self._touching is None:
            newton.solve(step.begin, step.guess)
        else:
            outcome = self._touching.settle(newton, state, inputs, watch)
            tally.note(outcome)
            relief, pairs = self._touching.relieve(outcome, step, h), outcome.pairs
        self._reach.look(newton.z, time)
        self._poses_known.look(pose, time)
        return self._arrive(state, step, newton.z, time, h, relief)._replace(pairs=pairs)

    def _look_at_loads(self, forces: Sequence[Force], live: Live, pose: FloatArray) -> None:
        """Warn of loads that the subspace was not trained for, as they would act in the neutral pose."""
        if self._loads_known is not None:
            self._loads_known.look(forces)
            if live.grabs or len(live.added.vertices):
                self._loads_known.look_live(live, np.array_equal(pose, self.rig.neutral))

    def _arrive(
        self, state: SkinnedState, step: SkinnedStep, q: FloatArray, time: float, h: float, relief: FloatArray | None
    ) -> SkinnedState:
        """The state that Newton's answer means; the acceleration that Newmark's method goes on with lacks `relief`."""
        motion, particles = step.motion, self._space.particles
        a = motion.acceleration(q)
        if relief is not None:
            a -= particles.ease(step.placed, relief)
        x = particles.positions(step.placed, q)
        speed = np.zeros_like(x) if self.is_static else (x - state.particles[0]) / h
        shapes = np.array([q, motion.velocity(q), a])
        return state.follow(time, shapes, step.pose, np.array([x, speed]), 0.0 if self.is_static else h)

    def pose_of(self, moment: Moment) -> FloatArray:
        """The pose of a moment, checked, (p,)."""
        if moment.pose is None:
            raise SceneError(f"the moment {moment.time:.6g} s of a skinned body has no pose: give one at every moment.")
        return self.rig.skeleton.check(moment.pose)

    def _failure(
        self, state: SkinnedState, pose: FloatArray, q: FloatArray, residual: float, status: int, inputs: Inputs
    ) -> NewtonFailure:
        x = self.rig.push_forward(pose, self.rig.rest + self.model.basis.lift(q))
        failure = NewtonFailure(REASONS[status], x, residual)
        external = external_force(state.live.forces(inputs.end.forces), self.body.mass)
        failure.terms = {"elastic force": self.body.forces(x), "external force": external}
        return failure


def _make_touching(
    body: Body,
    rig: SkinnedRig,
    model: SkinnedModel | ArticulatedModel,
    colliders: Sequence[Collider],
    contact: ContactSettings,
) -> SkinnedTouching:
    """What sees to contact: all of it, or by rules where these are asked for."""
    if not (contact.self_contact and contact.rules):
        return SkinnedTouching(body, rig, model.basis, Detector(body, colliders, contact))
    if model.contacts is None:
        raise SceneError('the model has no rules for contact.self = "rules": train again, or use "all".')
    detector = RuledDetector(body, colliders, contact, find_flesh(body, rig).triangle_owners())
    return RuledTouching(body, rig, model.basis, detector, model.contacts)


def _refuse_unfit(body: Body, rig: SkinnedRig, model: SkinnedModel | ArticulatedModel) -> None:
    count = len(body.mass)
    particles = count if isinstance(model, SkinnedModel) else len(model.basis.domains.vertex_of)
    rules = (model.rule.members, len(body.mesh.tets)), (model.particles.members, particles)
    if len(model.basis.mass) != count or any(len(who) and who.max() >= most for who, most in rules):
        raise SceneError(
            f"the model is of a body with {len(model.basis.mass)} vertices where this one has {count}: train again."
        )
    if rig.rest.shape != body.mesh.vertices.shape or not np.allclose(rig.rest, body.mesh.vertices, atol=1e-9):
        raise SceneError("the rig moves other vertices than the body's: make it from the vertices of this mesh.")
    if not len(model.rule.members):
        raise SceneError("the model's rule has no elements, so nothing would resist: train again.")
    if not len(body.pins.vertices):
        raise SceneError(
            "no vertex of the body is held by a bone, so nothing ties it to its rig: pin the vertices of the tets that "
            "bones cross."
        )
