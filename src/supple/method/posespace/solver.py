"""Pose-space dynamics ([XB16]): flesh that springs back to the shape of the moment, in the subspace of the moment."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.settings import ContactSettings
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body
from supple.errors import SceneError
from supple.linalg.work_clock import work_clock
from supple.method.checks import check_settings, check_step, refuse_other_pins
from supple.method.halving import Tally, advance
from supple.method.measured import Measured, check_volumes, find_load_points, kinetic_energy
from supple.method.posespace.colliders import PoseColliders
from supple.method.posespace.drive import PoseDrive
from supple.method.posespace.gaps import Stops
from supple.method.posespace.lift import PoseLift
from supple.method.posespace.model import PoseSpaceModel
from supple.method.posespace.regions import pack_regions
from supple.method.posespace.state import PoseSpaceState
from supple.method.posespace.step import FLAT_REST, PoseTables, step_kernel
from supple.method.reduced.newton import CAPPED, CONVERGED, REASONS, Scratch
from supple.method.rigged import RiggedBody
from supple.method.solver import Arrays, Report
from supple.rig import Rig
from supple.rig.pose import check_pose
from supple.rig.pose_weights import PoseWeights
from supple.solve.forces import external_force
from supple.solve.inputs import Inputs, Moment
from supple.solve.newton import NewtonFailure

__all__ = ["PoseSpaceSolver"]

FloatArray = NDArray[np.float64]


class PoseSpaceSolver:
    """Implicit Euler or static steps of a body that a rig poses, any rig; the rig's shape is the rest shape."""

    name = "posespace"

    def __init__(
        self,
        body: Body,
        rig: Rig,
        model: PoseSpaceModel,
        *,
        integrator: str = "implicit_euler",
        tolerance: float = 1e-4,
        max_iterations: int = 50,
        max_stiffnesses: int = 4,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
    ) -> None:
        """`body` is held by pins that follow `rig`; `tolerance` is Newton's.

        The placements of `colliders` come with each moment; `contact` says how rough they, and the pairs of the model,
        are.

        A step for which so many stiffness matrices do not suffice is taken as it is, for its time is up; its report
        says that it has not converged.
        """
        check_settings(body, integrator, tolerance, contact)
        if integrator == "newmark":
            raise SceneError('integrator "newmark" is not known in pose space: use "implicit_euler" or "static".')
        _refuse_unfit(body, rig, model)
        rig = model.correct(rig)
        self.body, self.rig, self.model, self.tolerance = body, rig, model, tolerance
        self.is_static, self.rank = integrator == "static", model.rank
        self._rigged, self._examples = RiggedBody(body, rig, "posed"), PoseWeights(model.points)
        self._lift = PoseLift(body, rig, model)
        kinds = ReducedElements.build(
            body, np.zeros((3 * len(body.mass), model.rank)), model.elements, np.ones(len(model.elements))
        )
        self._kinds = kinds
        self._cornered, self._corners = np.unique(model.corners, return_inverse=True)
        # A step fills G with that of its pose
        packed = pack_regions(model.owners, model.edges)
        self._tables = PoseTables.of(model, self._examples, body, kinds.bounds, packed)
        width, s = packed.width, Scratch.of(kinds, model.rank)
        single, stack = np.zeros((kinds.count, 9, width), np.float32), np.empty((9 * kinds.count, width), np.float32)
        self._scratch = s.address, single, s.L, s.signs, stack, np.empty(packed.blocks, np.float32), s.K
        touches = len(model.pairs) > 0 or len(colliders) > 0
        self._kernel = step_kernel(kinds.loops, touches)
        contact = contact or ContactSettings()
        self._colliders = PoseColliders(body, rig, model, self._lift, colliders, contact) if colliders else None
        most = float(max_iterations), np.inf if self.is_static else float(max_stiffnesses)
        friction = contact.friction if touches else None
        self._drive = PoseDrive(body, rig, model, self._lift, tolerance, most, self.is_static, friction)

    def start(self, inputs: Inputs | None = None) -> PoseSpaceState:
        if inputs is None:
            x = self.rig.rest
            return self.from_full(x, np.zeros_like(x), np.zeros_like(x))
        pose = self._drive.pose_of(inputs.begin)
        refuse_other_pins(self.body, self.rig, inputs.begin, pose)
        x = self.rig.positions(pose)
        return self.from_full(x, np.zeros_like(x), np.zeros_like(x), inputs.begin.time, pose=pose)

    def step(self, state: PoseSpaceState, inputs: Inputs) -> tuple[PoseSpaceState, Report]:
        began, tally = work_clock(), Tally()
        state, inputs = self._take_events(state, inputs)
        state = advance(self._single, state, inputs, tally, self.body, self.is_static)
        spent = 1e3 * (work_clock() - began)
        return state, tally.report({"step": spent, "other": 0.0, "total": spent}, "reduced", 0.0, self.model.error)

    def step_all(self, states: Sequence[PoseSpaceState], inputs: Sequence[Inputs]) -> list[PoseSpaceState]:
        """Characters that share this model, each a step on, in one compiled call; as `step` takes them, bit for bit.

        Those that may touch colliders are taken one by one.
        """
        if self._colliders is not None:
            return [self.step(state, one)[0] for state, one in zip(states, inputs, strict=True)]
        ready = [self._take_events(state, one) for state, one in zip(states, inputs, strict=True)]
        poses, driven = self._drive.gather([state for state, _ in ready], [one for _, one in ready])
        y, w, places, told = self._kernel(*self._scratch, self._tables, driven)
        stepped = [
            self._finish(state, one, Tally(), poses[b], driven.turns[b], y[b], w[b], places[b], told[b])
            for b, (state, one) in enumerate(ready)
        ]
        return [
            self.step(state, one)[0] if isinstance(new, NewtonFailure) else new
            for (state, one), new in zip(ready, stepped, strict=True)
        ]

    def positions(self, state: PoseSpaceState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        return self._lift.place(state, vertices)

    def to_full(self, state: PoseSpaceState) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Velocities are those of the last step; accelerations, of which the state knows nothing, are 0."""
        x = self.positions(state)
        return x, (x - self._lift.place(state, when=1)) / state.step, np.zeros_like(x)

    def measure(self, state: PoseSpaceState, inputs: Inputs) -> Measured:
        live, model, w = state.live, self.model, state.w[0]
        edges, rest = (
            _edges_of(x[self._corners.reshape(-1, 4)])
            for x in (self._lift.place(state, self._cornered), self.rig.positions(state.poses[0], self._cornered))
        )
        F = (edges @ np.linalg.inv(rest)).reshape(-1)
        volumes = np.abs(np.linalg.det(rest)) / 6.0 * (w @ model.weights)
        if len(model.stiffness):
            volumes = volumes * np.exp(w @ np.log(model.stiffness))
        elements = replace(self._kinds, table=np.vstack([volumes, model.moduli]))
        mass = w @ model.masses
        now, before = (self._lift.place(state, model.particles, when) for when in (0, 1))
        return Measured(
            0.0 if self.is_static else kinetic_energy(mass, (now - before) / state.step),
            live.stiffness * elements.energy_of(F),
            check_volumes(elements.volume_ratios(F), model.elements),
            False,
            find_load_points(
                live.forces(inputs.end.forces),
                lambda: mass @ now,
                lambda vertices, weights: weights @ self._lift.place(state, vertices),
            ),
        )

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> PoseSpaceState:
        """The state nearest to given positions in a pose, the neutral one by default.

        Velocities are taken for the rig's, at the particles that feel its acceleration.
        """
        pose = self.rig.neutral if pose is None else check_pose(pose, self.rig.controls)
        x, v = np.asarray(x, np.float64), np.asarray(v, np.float64)
        w, R = self._examples.shares(self._drive.embed(pose)), self._drive.root.turn(pose)
        U = self._lift.rows(pose, w).reshape(-1, self.rank)
        heavy = np.repeat(self.body.mass, 3)[:, None] * U
        u = (x - self.rig.positions(pose)) @ R
        y = np.linalg.solve(U.T @ heavy, heavy.T @ u.ravel())
        posed = self._rigged.at(Moment(time, np.zeros((0, 3)), pose=pose))
        elastic = float(np.linalg.norm(U.T @ (posed.forces(x) @ R).ravel()))
        placed = self._drive.place(pose)[np.searchsorted(self.model.watched, self.model.particles)]
        places = np.array([placed, placed])
        places[1, :, :3] = v[self.model.particles]
        poses, both, shares, turns = (np.array([one, one]) for one in (pose, y, w, R))
        return PoseSpaceState(time, poses, both, shares, turns, places, 1.0, elastic)

    def pack(self, state: PoseSpaceState) -> dict[str, NDArray[np.generic]]:
        return state.pack()

    def unpack(self, arrays: Arrays) -> PoseSpaceState:
        state = PoseSpaceState.unpack(arrays)
        return state if state.particles.shape[2] == self._drive.width else self._drive.refit(state)

    def describe(self) -> list[str]:
        model = self.model
        kind = "static" if self.is_static else "implicit euler"
        root = "turns with its root" if self._drive.root.turns else "stands in the world"
        return [
            f"pose space, {self.rank} coordinates about {len(model.poses)} poses in a frame that {root}, {kind}, "
            f"Newton to {self.tolerance:g} of the forces that act",
            f"forces from {len(model.elements):,} of {len(self.body.mesh.tets):,} elements, the rig's acceleration "
            f"from {len(model.particles):,} of {len(self.body.mass):,} vertices",
        ]

    def _single(self, state: PoseSpaceState, inputs: Inputs, tally: Tally) -> PoseSpaceState:
        if self._colliders is None:
            return self._take(state, inputs, tally, None)
        return self._colliders.settle(
            state, self._look_ahead(state, inputs), inputs, lambda stops: self._take(state, inputs, tally, stops), tally
        )

    def _take(self, state: PoseSpaceState, inputs: Inputs, tally: Tally, stops: Stops | None) -> PoseSpaceState:
        """A step with what it may touch."""
        both, driven = self._drive.gather_one(state, inputs, stops)
        y, w, places, told = self._kernel(*self._scratch, self._tables, driven)
        found = self._finish(state, inputs, tally, both, driven.turns[0], y[0], w[0], places[0], told[0])
        if isinstance(found, NewtonFailure):
            raise found
        return found

    def _look_ahead(self, state: PoseSpaceState, inputs: Inputs) -> PoseSpaceState:
        """Where a step would end if flesh went on as it does."""
        pose = self._drive.pose_of(inputs.end)
        ratio = 0.0 if self.is_static else inputs.duration / state.step
        y = state.y[0] + ratio * (state.y[0] - state.y[1])
        w, turn = self._examples.shares(self._drive.embed(pose)), self._drive.root.turn(pose)
        return state._replace(poses=pose[None], y=y[None], w=w[None], turns=turn[None])

    def _finish(
        self,
        state: PoseSpaceState,
        inputs: Inputs,
        tally: Tally,
        poses: FloatArray,
        turns: FloatArray,
        y: FloatArray,
        w: FloatArray,
        places: FloatArray,
        told: FloatArray,
    ) -> PoseSpaceState | NewtonFailure:
        """The state at the end of a step, or why there is none, from what `step_kernel` left of it."""
        iterations, _, residual, elastic, status, _ = told.tolist()
        tally.newton += int(iterations)
        if status == FLAT_REST:
            self._rigged.at(inputs.end)  # says which
        if status not in (CONVERGED, CAPPED):
            return self._failure(state, inputs, poses[0], y[0], w[0], residual, int(status))
        tally.residual = max(tally.residual, residual)
        tally.converged &= status == CONVERGED
        own = elastic / state.live.stiffness
        return PoseSpaceState(inputs.end.time, poses, y, w, turns[:2], places, inputs.duration, own, state.live)

    def _take_events(self, state: PoseSpaceState, inputs: Inputs) -> tuple[PoseSpaceState, Inputs]:
        """The state after what the user did, and the step without it."""
        check_step(inputs, self.body.pins)
        if not inputs.events:
            return state, inputs
        live = state.live.after(inputs.events, self.positions(state))
        if self.body.pins.without(live.released).held.sum() < self.body.pins.held.sum():
            raise SceneError(
                "a rig cannot let go of a body in a subspace that was trained with it: use the full solver."
            )
        return state._replace(live=live), replace(inputs, events=())

    def _failure(
        self,
        state: PoseSpaceState,
        inputs: Inputs,
        pose: FloatArray,
        y: FloatArray,
        w: FloatArray,
        residual: float,
        status: int,
    ) -> NewtonFailure:
        turn = self._drive.root.turn(pose)
        there = state._replace(poses=pose[None], y=y[None], w=w[None], turns=turn[None])
        x = self.positions(there)
        failure = NewtonFailure(REASONS[status], x, residual)
        external = external_force(state.live.forces(inputs.end.forces), self.body.mass)
        failure.terms = {"elastic force": self._rigged.at(inputs.end).forces(x), "external force": external}
        return failure


def _edges_of(corners: FloatArray) -> FloatArray:
    """Edges from the first corner of tets (c, 4, 3) to the others, as columns, (c, 3, 3)."""
    return np.asarray((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1))


def _refuse_unfit(body: Body, rig: Rig, model: PoseSpaceModel) -> None:
    if model.columns.shape[1] != len(body.mass):
        raise SceneError(
            f"the model is of a body with {model.columns.shape[1]} vertices where this one has {len(body.mass)}: "
            "train again."
        )
    if model.poses.shape[1] != len(rig.controls):
        raise SceneError(
            f"the model is of a rig with {model.poses.shape[1]} controls where this one has {len(rig.controls)}: "
            "train again."
        )
