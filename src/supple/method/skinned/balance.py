"""What acts on the coordinates of a skinned body in one step: inertia, drag, forces and springs as one potential."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.packed_elements import PackedElements
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body
from supple.method.look_ahead import shorten
from supple.method.skinned.drag import make_drag, turn_gradients
from supple.method.skinned.frame import HeldFrame
from supple.method.skinned.particles import Placed
from supple.method.skinned.patches import Patches
from supple.method.skinned.space import Space
from supple.method.skinned.state import SkinnedState
from supple.method.skinned.track import Past, recall, recall_last
from supple.rig import SkinnedRig
from supple.solve.increment import Motion
from supple.solve.inputs import Inputs
from supple.solve.integrator import INTEGRATORS
from supple.subspace import Basis, DomainBases

__all__ = ["Balance", "SkinnedStep"]

FloatArray = NDArray[np.float64]
_NOTHING = np.zeros((0, 0))


class SkinnedStep(NamedTuple):
    """A step as Newton's kernel takes it, and what is needed to read its answer."""

    loads: tuple[float, FloatArray, FloatArray]
    """c, M (r, r) or (0, 0), b (r,) of method/reduced/loads.py."""
    begin: FloatArray
    guess: FloatArray
    motion: Motion
    elements: ReducedElements | PackedElements
    """In the pose of the end."""
    pose: FloatArray
    placed: Placed
    """The particles there."""
    reference: float
    """Size of what acts on the coordinates."""
    push: FloatArray
    """Forces from outside among that, (r,)."""


class Balance:
    """Makes the steps of a body in a space."""

    def __init__(
        self, body: Body, rig: SkinnedRig, basis: Basis | DomainBases, space: Space[Any], integrator: str
    ) -> None:
        self._damping, self._integrator = body.damping, INTEGRATORS[integrator]
        self._is_static, self._averages = integrator == "static", integrator == "newmark"
        self._space, self._patches = space, Patches(rig, basis, space.particles)
        self._held = HeldFrame(rig, body.pins)

    def prepare(self, state: SkinnedState, inputs: Inputs, pose: FloatArray) -> SkinnedStep:
        """The step to a pose."""
        h, live, damping, particles = inputs.duration, state.live, self._damping, self._space.particles
        placed, (q, v, a) = particles.place(pose), state.shapes
        past = recall(state, h) if self._averages else recall_last(state, h)
        load = self._patches.load(live.forces(inputs.end.forces), pose, placed)
        push = load.copy()
        ahead, share = (q + h * v, 2.0) if self._averages else (q, 1.0)
        if self._is_static:
            thrust = np.zeros_like(q)
        elif len(past.second):
            thrust = particles.thrust(placed, past, ahead, v + h * a)
        else:
            thrust = share / h**2 * particles.leave(placed, state, h)
            if self._averages:
                a = a + particles.ease(placed, thrust)  # a run begins with what the vertices have, skinning and all
        load += thrust
        if damping.mass > 0.0 and not self._is_static:
            load += damping.mass * particles.brake(placed, past, ahead)
        motion = self._integrator(q, v, a, h)
        drags = motion.cv > 0.0 and damping.stiffness > 0.0
        strained = self._recall_strains(past, pose, ahead) if drags else np.zeros((0, 0))
        elements = self._space.pose(pose)
        if live.stiffness != 1.0:
            elements = elements.with_stiffness(live.stiffness)
        joints = [] if self._is_static else particles.widen(placed, motion, damping.mass)
        if live.grabs or len(live.added.vertices):
            joints.append(self._patches.springs(live, pose))
        if drags:
            joints.append(self._resist(elements, past, strained, q, ahead, motion, damping.stiffness))
        M = _NOTHING if self._space.springs is None else live.stiffness * self._space.springs
        for stiffness, pull in joints:
            load += pull
            M = stiffness + M if len(M) else stiffness
        acting = load - M @ q if len(M) else load  # springs by how far they are from their ends
        reference = float(np.linalg.norm(elements.force(q)) + np.linalg.norm(acting))
        b = load + motion.ca * motion.xa + motion.cv * damping.mass * motion.xv
        guess = motion.xa + a / motion.ca if motion.ca else q  # as if the acceleration stayed
        loads = motion.ca + motion.cv * damping.mass, M, b
        return SkinnedStep(loads, q.copy(), guess, motion, elements, pose, placed, reference, push)

    def strain_before(self, state: SkinnedState, pose: FloatArray, h: float) -> FloatArray:
        """Deformation gradients as a step of implicit Euler to a pose begins, turned along to it, (1, 9 c)."""
        return self._recall_strains(recall_last(state, h), pose, state.shapes[0])

    def resist(
        self,
        elements: ReducedElements | PackedElements,
        state: SkinnedState,
        strained: FloatArray,
        h: float,
        beta: float,
        motion: Motion,
    ) -> tuple[FloatArray, FloatArray]:
        """M (r, r) and pull (r,) of drag β K of elements in the pose of such a step's end."""
        q = state.shapes[0]
        return self._resist(elements, recall_last(state, h), strained, q, q, motion, beta)

    def turn_between(self, begin: FloatArray, end: FloatArray) -> FloatArray:
        """How what bones hold turns from one pose to another, as one piece, (3, 3)."""
        return np.asarray(self._held.turn(end) @ self._held.turn(begin).T)

    def _recall_strains(self, past: Past, pose: FloatArray, q: FloatArray) -> FloatArray:
        """Deformation gradients of the elements at coordinates q in the poses before one, turned along by the bones to
        it, (k, 9 c)."""
        turn, found = self._held.turn(pose), []
        for then in past.poses[: len(past.first)]:
            back = turn @ self._held.turn(then).T
            found.append(turn_gradients(back, self._space.pose(then).strain(q)))
        return np.array(found)

    def _resist(
        self,
        elements: ReducedElements | PackedElements,
        past: Past,
        strained: FloatArray,
        q: FloatArray,
        ahead: FloatArray,
        motion: Motion,
        beta: float,
    ) -> tuple[FloatArray, FloatArray]:
        """M (r, r) and pull (r,) of drag by stiffness in a step from coordinates q to those foreseen, `ahead`."""
        there, shape = elements.strain(ahead), strained[0]
        if self._averages:
            change = there - elements.strain(q)
            shape = there - change + shorten(change, change)
        drag = make_drag(elements, shape, past.first @ (strained - there))
        M = motion.cv * beta * drag.stiffness
        return M, M @ motion.xv - beta * drag.carried
