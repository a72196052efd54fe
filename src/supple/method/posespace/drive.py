"""What a step in pose space begins with, gathered from states, from what drives them and from the rig.

It is what a step does outside its compiled call, so it makes no array that is there already: one character's are looked
at where they are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError
from supple.method.outer import CREEP, STATIC_CREEP
from supple.method.posespace.colliders import no_stops
from supple.method.posespace.gaps import Stops
from supple.method.posespace.handles import PoseHandles
from supple.method.posespace.lift import PoseLift
from supple.method.posespace.model import PoseSpaceModel
from supple.method.posespace.state import PoseSpaceState
from supple.method.posespace.step import Driven
from supple.rig import Rig
from supple.rig.part import pick_part
from supple.rig.pose import check_pose
from supple.rig.root import Root
from supple.rig.skin_look import SkinLook
from supple.solve.inputs import Inputs, Moment
from supple.subspace.vertex_turns import VertexTurns

__all__ = ["PoseDrive"]

FloatArray = NDArray[np.float64]
_STILL = np.tile(np.eye(3), (3, 1, 1))  # turns of what has no root


class PoseDrive:
    """A rig, and how the steps of characters on it are to be taken."""

    def __init__(
        self,
        body: Body,
        rig: Rig,
        model: PoseSpaceModel,
        lift: PoseLift,
        tolerance: float,
        most: tuple[float, float],
        is_static: bool,
        friction: float | None,
    ) -> None:
        """`most`: iterations and stiffnesses; `friction`: of the body's own pairs, None where nothing touches."""
        self._body, self._rig, self._model, self._lift, self.root = body, rig, model, lift, Root.of(rig)
        mass, size = float(body.mass.sum()), body.mesh.size()
        # Forces of a strain of 1e-13, and of places that are known to so many digits: below it all is round-off
        self._floor = 1e-13 * float(np.sqrt(model.stiffest * mass)) * size
        self._noise = 1e-14 * float(np.sqrt(mass)) * size
        self._tolerance, self._most, self._is_static, self._friction = tolerance, most, is_static, friction
        self._handles = PoseHandles(lift, model.gravity, mass * model.stiffest)
        self._part = pick_part(rig, model.watched)
        damping = body.damping
        drags = not is_static and (damping.mass > 0.0 or damping.stiffness > 0.0) and not lift.is_black_box
        self._turning = VertexTurns(body, rig, model.watched) if model.turning or drags else None
        self._skin = SkinLook.of(self._part, self.root)
        self._nothing = no_stops(1, model.rank)
        self._row = np.array([
            0.0, 0.0, not is_static, damping.mass, damping.stiffness, 1.0, tolerance, self._floor, self._noise, *most,
            0.0, 0.0, 0.0, 0.0, model.turning and lift.is_black_box,
        ])  # fmt: skip

    def pose_of(self, moment: Moment) -> FloatArray:
        """The pose of a moment, which must have one."""
        if moment.pose is None:
            raise SceneError(f"the moment {moment.time:.6g} s of a posed body has no pose: give one at every moment.")
        return check_pose(moment.pose, self._rig.controls)

    def embed(self, pose: FloatArray) -> FloatArray:
        """A pose among others [m], (e,), wherever its root is."""
        return self._rig.embed(self.root.still(pose))

    def place(self, pose: FloatArray) -> FloatArray:
        """Vertices that a step looks at, as in `Driven.placed`, (v, 3 or 12)."""
        return self._look(pose, pose[None], np.zeros((2, 3, 3)))[0]

    @property
    def width(self) -> int:
        """Numbers that a step knows of a vertex: its place, and its turn where that is looked at."""
        return 3 if self._turning is None else 12

    def refit(self, state: PoseSpaceState) -> PoseSpaceState:
        """The same state with turns of the flesh at its particles, or without, as steps look at them: whether they do
        depends on damping, too, which may have changed."""
        places = state.particles[..., :3]
        if self._turning is None:
            return state._replace(particles=np.ascontiguousarray(places))
        who = np.searchsorted(self._model.watched, self._model.particles)
        turns = [self.place(pose)[who, 3:] for pose in state.poses]
        return state._replace(particles=np.concatenate([places, turns], axis=2))

    def _look(
        self, pose: FloatArray, poses: FloatArray, turns: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """What `SkinLook.at` tells, of any rig."""
        if self._skin is not None:
            return self._skin.at(pose, poses, turns, self._turning is not None)
        placed = self._part.positions(pose) if self._turning is None else self._turning.place(pose)
        root = np.array((self.root.turn(pose), *turns)) if self.root.turns else _STILL
        return placed, self.embed(pose), root, np.array((pose, poses[0]))

    def gather(
        self, states: Sequence[PoseSpaceState], inputs: Sequence[Inputs], stops: Stops | None = None
    ) -> tuple[list[FloatArray], Driven]:
        """Poses at the end of steps and before, (2, p) each, and what the compiled step takes."""
        if len(states) == 1:
            both, driven = self.gather_one(states[0], inputs[0], stops)
            return [both], driven
        poses = [self.pose_of(one.end) for one in inputs]
        looks = [self._look(pose, state.poses, state.turns) for pose, state in zip(poses, states, strict=True)]
        acting = [(state.live.forces(one.end.forces), state.live) for state, one in zip(states, inputs, strict=True)]
        handles, pulls, stiffness, gravity = self._handles.gather(acting, self._rig, poses)
        rows = np.array([self._settings(state, one) for state, one in zip(states, inputs, strict=True)])
        if self._model.turning and gravity is not None:
            rows[:, 12:15] = gravity
        driven = Driven(
            np.array([point for _, point, _, _ in looks]),
            np.array([placed for placed, _, _, _ in looks]),
            np.array([turns for _, _, turns, _ in looks]),
            np.array([state.y for state in states]),
            np.array([state.w for state in states]),
            np.array([state.particles for state in states]),
            handles,
            pulls,
            stiffness,
            rows,
            self._find_stops(states, inputs, stops),
        )
        return [both for _, _, _, both in looks], driven

    def gather_one(
        self, state: PoseSpaceState, inputs: Inputs, stops: Stops | None = None
    ) -> tuple[FloatArray, Driven]:
        """The same of one character, whose arrays are looked at where they are: this is done in every step of most."""
        end, live = inputs.end, state.live
        pose = self.pose_of(end)
        placed, point, turns, both = self._look(pose, state.poses, state.turns)
        acting = end.forces if live.gravity is None else live.forces(end.forces)
        handles, pulls, stiffness, gravity = self._handles.gather([(acting, live)], self._rig, [pose])
        row = self._settings(state, inputs)
        if gravity is not None and self._model.turning:
            row[12:15] = gravity[0]
        if stops is None or self._friction is not None:
            stops = self._nothing if self._friction is None else self._find_stops([state], [inputs], stops)
        driven = Driven(
            point[None], placed[None], turns[None], state.y[None], state.w[None], state.particles[None],
            handles, pulls, stiffness, row[None], stops,
        )  # fmt: skip
        return both, driven

    def _settings(self, state: PoseSpaceState, inputs: Inputs) -> FloatArray:
        """As in `Driven.scalars`, without gravity, (16,)."""
        row, h, factor = self._row.copy(), inputs.duration, state.live.stiffness
        row[0], row[1], row[11] = h, h / state.step, factor * state.elastic
        if factor != 1.0:
            row[5], row[7] = factor, self._floor * factor
        return row

    def _find_stops(self, states: Sequence[PoseSpaceState], inputs: Sequence[Inputs], stops: Stops | None) -> Stops:
        """What steps may touch, with what friction asks of pairs and of the steps."""
        stops = stops or no_stops(len(states), self._model.rank)
        if self._friction is None:
            return stops
        slip = self._body.mesh.size() * np.array(
            [STATIC_CREEP if self._is_static else CREEP * one.duration for one in inputs]
        )  # as in full space
        return stops._replace(
            pairs=np.array([self._part_pairs(state) for state in states]),
            own=np.column_stack([np.full(len(states), self._friction), slip]),
        )

    def _part_pairs(self, state: PoseSpaceState) -> FloatArray:
        """How far apart the points of pairs are, seen from the root [m], (k, 3); only friction asks."""
        pairs = self._model.pairs
        if not len(pairs) or not self._friction:
            return np.zeros((len(pairs), 3))
        x = self._lift.place(state, pairs.ravel()).reshape(-1, 4, 3)
        return np.asarray(np.einsum("kv,kvi->ki", self._model.pair_weights, x) @ state.turns[0])
