"""A rig driven as one goes: poses come from a motion or a hand on a handle, states go out frame by frame."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError
from supple.method.solver import Report
from supple.rig import Rig
from supple.solve.forces import Force
from supple.solve.inputs import Inputs, Moment

__all__ = ["follow_poses"]

FloatArray = NDArray[np.float64]
State = TypeVar("State")


class RiggedSolver(Protocol[State]):
    """A solver whose body a rig poses."""

    body: Body
    rig: Any

    def start(self, inputs: Inputs | None = None) -> State:
        """The state at the beginning."""

    def step(self, state: State, inputs: Inputs) -> tuple[State, Report]:
        """The state at the end of `inputs`."""


def follow_poses(
    solver: RiggedSolver[State],
    pose_at: Callable[[float], FloatArray],
    fps: float,
    forces: tuple[Force, ...] = (),
    begin: float = 0.0,
) -> Iterator[State]:
    """The state at the time `begin` [s] and every 1/fps [s] after it, without end; pins follow the rig.

    `pose_at` is called with the time of a frame when that frame is asked for, and not before: `Motion.at` will do, and
    so will what asks an IK handle or a sensor.
    """
    if not (np.isfinite(fps) and fps > 0.0):
        raise SceneError(f"poses cannot be followed at {fps} frames a second: give a number above 0.")
    last = _moment(solver, pose_at, begin, forces)
    state = solver.start(Inputs(last, last))
    frame = 0
    while True:
        yield state
        frame += 1
        now = _moment(solver, pose_at, begin + frame / fps, forces)
        state, _ = solver.step(state, Inputs(last, now))
        last = now


def _moment(
    solver: RiggedSolver[Any], pose_at: Callable[[float], FloatArray], time: float, forces: tuple[Force, ...]
) -> Moment:
    rig: Rig = solver.rig
    pose = np.array(pose_at(time), np.float64)
    return Moment(time, rig.positions(pose, solver.body.pins.vertices), forces, pose=pose)
