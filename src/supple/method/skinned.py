"""The reduced solver of a skinned body: x = φ(p, X + U q), energy measured against X (`rest = "neutral"`).

In full space skinning is a change of coordinates; in a subspace it is what lets few coordinates serve large poses.
Forces come from the elements of one rule, gravity and the inertia of the moving frame from the vertices of another.
Drag by stiffness resists all strain, that by bending bones too, but no turn of them all together.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError
from supple.method.articulated_model import ArticulatedModel
from supple.method.checks import check_duration, check_settings, refuse_other_pins
from supple.method.domain_space import DomainSpace
from supple.method.halving import Tally, advance
from supple.method.novelty import Novelty
from supple.method.reach import Reach
from supple.method.reduced_newton import CONVERGED, REASONS
from supple.method.skinned_drag import Drag, make_drag, turn_gradients
from supple.method.skinned_frame import HeldFrame
from supple.method.skinned_model import SkinnedModel
from supple.method.skinned_novelty import PoseNovelty
from supple.method.skinned_particles import Drift
from supple.method.skinned_patches import Patches
from supple.method.skinned_rates import lift_rates
from supple.method.skinned_space import Space, WholeSpace
from supple.method.skinned_state import SkinnedState
from supple.method.solver import Arrays, Report
from supple.rig import SkinnedRig
from supple.solve.forces import Force, external_force, initial_acceleration
from supple.solve.increment import Motion
from supple.solve.inputs import Inputs, Moment
from supple.solve.integrator import INTEGRATORS
from supple.solve.live import Live
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

__all__ = ["SkinnedSolver"]

FloatArray = NDArray[np.float64]
_NOTHING = np.zeros((0, 0))


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
        max_iterations: int = 50,
    ) -> None:
        """`body` is held where its bones are, by pins that follow `rig`; `tolerance` is Newton's."""
        check_settings(integrator, tolerance)
        _refuse_unfit(body, rig, model)
        self.body, self.rig, self.model, self.tolerance = body, rig, model, tolerance
        self.is_static, self._integrator, self._name = integrator == "static", INTEGRATORS[integrator], integrator
        self.rank, self._most = model.basis.rank, float(max_iterations)
        self._space: Space[Any] = (
            WholeSpace(body, rig, model) if isinstance(model, SkinnedModel) else DomainSpace(rig, model)
        )
        self._particles = self._space.particles
        self._patches = Patches(rig, model.basis, self._particles)
        self._held = HeldFrame(rig, body.pins)
        importance, size, mass = model.basis.importance, body.mesh.size(), float(body.mass.sum())
        # Forces of a strain of 1e-13, and of places that are known to so many digits: below it all is round-off
        self._floor = 1e-13 * float(np.sqrt(importance.max() * mass)) * size
        self._shake = 1e-14 * float(np.sqrt(mass)) * size
        self._reach = Reach(importance, model.reach, "train with stronger loads or these poses")
        self._poses_known = PoseNovelty(rig, model.poses)
        trained = model.facts.get("loads")  # a model made by hand says nothing about loads
        self._loads_known = None if trained is None else Novelty(body, self._space.draw, trained)

    def start(self, inputs: Inputs | None = None) -> SkinnedState:
        if inputs is None:
            x = self.rig.rest
            return self.from_full(x, np.zeros_like(x), np.zeros_like(x))
        pose = self._pose_of(inputs.begin)
        refuse_other_pins(self.body, self.rig, inputs.begin, pose)
        x = self.rig.positions(pose)
        a = np.zeros_like(x) if self.is_static else initial_acceleration(self.body, x, inputs.begin.forces)
        return self.from_full(x, np.zeros_like(x), a, inputs.begin.time, pose=pose)

    def step(self, state: SkinnedState, inputs: Inputs) -> tuple[SkinnedState, Report]:
        check_duration(inputs)
        watch, tally = Stopwatch(), Tally()
        if inputs.events:
            live = state.live.after(inputs.events, self.positions(state))
            if self.body.pins.without(live.released).held.sum() < self.body.pins.held.sum():
                raise SceneError(
                    "bones cannot let go of a body in a subspace that was trained with them: use the full solver."
                )
            state, inputs = state._replace(live=live), replace(inputs, events=())
        state = advance(self._single, state, inputs, tally, self.body, self.is_static)
        spent = watch.finish()
        return state, Report(
            {**spent, "step": spent["other"], "other": 0.0}, tally.newton, 0, "reduced", 0.0,
            estimated_error=self.model.error, residual=tally.residual, halvings=tally.halvings,
        )  # fmt: skip

    def positions(self, state: SkinnedState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        rest = self.rig.rest if vertices is None else self.rig.rest[vertices]
        return self.rig.push_forward(state.pose, rest + self.model.basis.lift(state.shapes[0], vertices), vertices)

    def to_full(self, state: SkinnedState) -> tuple[FloatArray, FloatArray, FloatArray]:
        x = self.positions(state)
        return x, *lift_rates(self.rig, self.model.basis, state)

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> SkinnedState:
        """The state nearest to given motion in a pose, the neutral one by default."""
        pose = self.rig.neutral if pose is None else self.rig.skeleton.check(pose)
        x, v, a = (np.asarray(field, np.float64) for field in (x, v, a))
        basis, who = self.model.basis, self._particles.vertices
        A, _ = self.rig.frames(pose)
        back = np.linalg.pinv(A)
        u = self.rig.pull_back(pose, x) - self.rig.rest
        rates = ((back @ field[:, :, None])[:, :, 0] for field in (v, a))
        shapes = np.array([basis.project(field) for field in (u, *rates)])
        held = self._particles.positions(self._particles.place(pose), shapes[0])
        return SkinnedState(
            time, shapes, pose, np.array([held, v[who]]),
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
            f"{self._name.replace('_', ' ')}, Newton to {self.tolerance:g} of the forces that act",
            f"forces from {model.rule.size:,} of {len(self.body.mesh.tets):,} elements, gravity and inertia of the "
            f"frame from {model.particles.size:,} of {len(self.body.mass):,} vertices{known}",
            *self._space.describe(),
        ]

    def _single(self, state: SkinnedState, inputs: Inputs, tally: Tally) -> SkinnedState:
        h, end, live = inputs.duration, inputs.end, state.live
        pose = self._pose_of(end)
        placed = self._particles.place(pose)
        motion = self._integrator(state.shapes[0], state.shapes[1], state.shapes[2], h)
        forces = live.forces(end.forces)
        self._look_at_loads(forces, live, pose)
        load = self._patches.load(forces, pose, placed)
        begin = self._strained(state, pose) if motion.cv and self.body.damping.stiffness > 0.0 else None
        elements = self._space.pose(pose)
        if live.stiffness != 1.0:
            elements = elements.with_stiffness(live.stiffness)
        joints: list[tuple[FloatArray | None, FloatArray]] = []
        if motion.ca:
            drift = Drift(state.particles[0], state.particles[1], state.shapes[0], state.drift)
            joints.append(self._particles.inertia(placed, motion, drift, h, self.body.damping.mass))
        if live.grabs or len(live.added.vertices):
            joints.append(self._patches.springs(live, pose))
        if begin is not None:
            joints.append(self._resist(make_drag(elements, state.shapes[0], begin), motion, h))
        M = _NOTHING if self._space.springs is None else live.stiffness * self._space.springs
        for stiffness, pull in joints:
            load += pull
            if stiffness is not None:
                M = stiffness + M if len(M) else stiffness
        q, iterations, residual, status = self._solve(elements, motion, M, load, state)
        tally.newton += iterations
        if status != CONVERGED:
            raise self._failure(state, pose, q, residual, status, inputs)
        tally.residual = max(tally.residual, residual)
        self._reach.look(q, end.time)
        self._poses_known.look(pose, end.time)
        x = self._particles.positions(placed, q)
        shapes = np.array([q, motion.velocity(q), motion.acceleration(q)])
        speed = np.zeros_like(x) if self.is_static else (x - state.particles[0]) / h
        return state.follow(end.time, shapes, pose, np.array([x, speed]), 0.0 if self.is_static else h)

    def _look_at_loads(self, forces: Sequence[Force], live: Live, pose: FloatArray) -> None:
        """Warn of loads that the subspace was not trained for, as they would act in the neutral pose."""
        if self._loads_known is not None:
            self._loads_known.look(forces)
            if live.grabs or len(live.added.vertices):
                self._loads_known.look_live(live, np.array_equal(pose, self.rig.neutral))

    def _solve(
        self, elements: Any, motion: Motion, M: FloatArray, load: FloatArray, state: SkinnedState
    ) -> tuple[FloatArray, int, float, int]:
        """Coordinates at the end, iterations, residual and status."""
        begin, damping = state.shapes[0].copy(), self.body.damping.mass
        acting = load - M @ begin if len(M) else load  # springs by how far they are from their ends
        reference = float(np.linalg.norm(elements.force(begin)) + np.linalg.norm(acting))
        b = load + motion.ca * motion.xa + motion.cv * damping * motion.xv
        guess = motion.xa + state.shapes[2] / motion.ca if motion.ca else begin  # as if the acceleration stayed
        settings = np.array((self.tolerance, reference, self._floor + self._shake * motion.ca, self._most))
        given = (motion.ca + motion.cv * damping, M, b), begin, guess, settings
        coupled = bool(state.live.grabs) or len(state.live.added.vertices) > 0
        q, iterations, _, residual, _, status = self._space.minimise(elements, given, coupled)
        return q, iterations, residual, status

    def _strained(self, state: SkinnedState, pose: FloatArray) -> FloatArray:
        """Deformation gradients of the elements as a step to a pose begins, turned along with the bones, (9 c,)."""
        elements = self._space.pose(state.pose)
        turn = self._held.turn(pose) @ self._held.turn(state.pose).T
        return turn_gradients(turn, elements.strain(state.shapes[0]))

    def _resist(self, drag: Drag, motion: Motion, h: float) -> tuple[FloatArray, FloatArray]:
        """M (r, r) and pull (r,) of drag by stiffness; what the pose strains counts as steady over the step."""
        beta = self.body.damping.stiffness
        M = motion.cv * beta * drag.stiffness
        return M, M @ motion.xv - beta / h * drag.carried

    def _pose_of(self, moment: Moment) -> FloatArray:
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
