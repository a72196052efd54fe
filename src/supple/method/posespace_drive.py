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
from supple.method.posespace_colliders import no_stops
from supple.method.posespace_gaps import Stops
from supple.method.posespace_handles import PoseHandles
from supple.method.posespace_lift import PoseLift
from supple.method.posespace_model import PoseSpaceModel
from supple.method.posespace_state import PoseSpaceState
from supple.method.posespace_step import Driven
from supple.rig import Rig
from supple.rig.part import pick_part
from supple.rig.pose import check_pose
from supple.rig.root import Root
from supple.solve.inputs import Inputs, Moment
from supple.subspace.vertex_turns import VertexTurns

__all__ = ["PoseDrive"]

FloatArray = NDArray[np.float64]
_STILL = np.eye(3)


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
        return self._part.positions(pose) if self._turning is None else self._turning.place(pose)

    def gather(
        self, states: Sequence[PoseSpaceState], inputs: Sequence[Inputs], stops: Stops | None = None
    ) -> tuple[list[FloatArray], list[FloatArray], Driven]:
        """Poses at the end of steps, the turns of the root there, and what the compiled step takes."""
        poses = [self.pose_of(one.end) for one in inputs]
        turns = [self.root.turn(pose) for pose in poses] if self.root.turns else [_STILL] * len(poses)
        handles, pulls, stiffness, gravity = self._handles.gather(
            [(state.live.forces(one.end.forces), state.live) for state, one in zip(states, inputs, strict=True)],
            self._rig,
            poses,
        )
        driven = Driven(
            _stack([self.embed(pose) for pose in poses]),
            _stack([self.place(pose) for pose in poses]),
            _join_turns(turns, states),
            _stack([state.y for state in states]),
            _stack([state.w for state in states]),
            _stack([state.particles for state in states]),
            handles,
            pulls,
            stiffness,
            self._settings(states, inputs, gravity),
            self._find_stops(states, inputs, stops),
        )
        return poses, turns, driven

    def _settings(
        self, states: Sequence[PoseSpaceState], inputs: Sequence[Inputs], gravity: FloatArray | None
    ) -> FloatArray:
        """As in `Driven.scalars`, (b, 16)."""
        damping, moves = self._body.damping, float(not self._is_static)
        out = np.zeros((len(states), 16))
        for row, state, one in zip(out, states, inputs, strict=True):
            h, factor = one.duration, state.live.stiffness
            row[:12] = (
                h, h / state.step, moves, damping.mass, damping.stiffness, factor, self._tolerance,
                self._floor * factor, self._noise, *self._most, factor * state.elastic,
            )  # fmt: skip
        if self._model.turning:
            out[:, 15] = self._lift.is_black_box
            if gravity is not None:
                out[:, 12:15] = gravity
        return out

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


def _join_turns(turns: list[FloatArray], states: Sequence[PoseSpaceState]) -> FloatArray:
    """Of roots at the end, at the beginning and a step earlier, (b, 3, 3, 3)."""
    out = np.empty((len(turns), 3, 3, 3))
    for b, (turn, state) in enumerate(zip(turns, states, strict=True)):
        out[b, 0], out[b, 1:] = turn, state.turns
    return out


def _stack(arrays: list[FloatArray]) -> FloatArray:
    """The same with one more axis in front."""
    return arrays[0][None] if len(arrays) == 1 else np.array(arrays)
