"""What displacements mean to a body that learns: beside its rest shape, before skinning where bones take it along, in
its own frame where nothing holds it.

x = A (X + u) + t with A and t of a pose. What was learned of u becomes, pose by pose, a subspace of positions: A U
about A (X + u₀) + t. Blends of matrices are no rotations and would change the masses of a subspace: in motion it is
x = A X + t + Q u with the turn Q of A. A free body has x = R (X + u) + c with the rigid motion that lies nearest.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.offered_problem import offered_problem, offered_skinned_problem
from supple.cubature.problem import IntArray, Problem
from supple.cubature.skinned_samples import SkinnedSamples
from supple.elastic import Body, Pins
from supple.linalg.rigid import fit_rigid
from supple.linalg.turns import turn, turn_back
from supple.method.skipping.model import Learned, LearnedModel, Placed
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs, Moment
from supple.solve.live import Live
from supple.subspace import Basis
from supple.subspace.window import Window

__all__ = ["CarriedModels", "Carrier"]

FloatArray = NDArray[np.float64]
# Shapes of the window that a rule is trained on: in motion its errors go one way step by step and add up to a drift
_POSES, _POSES_MOVING = 16, 48
_SAME = 1e-6  # of the body's size: how far a pin may be from the bones it follows


class Carrier:
    """A body, and the bones that take it along where it has any."""

    def __init__(self, body: Body, rig: SkinnedRig | None, *, static: bool = True) -> None:
        self.body, self.rig, self.is_static = body, rig, static
        self.is_free = rig is None and not len(body.pins.vertices)
        """Whether nothing holds the body."""
        self._held = body.mesh.vertices[body.pins.vertices]
        self._away = _SAME * body.mesh.size()

    def pose(self, moment: Moment) -> FloatArray:
        """(p,); (0,) where there is no rig."""
        return np.zeros(0) if self.rig is None or moment.pose is None else np.asarray(moment.pose, np.float64)

    def displacement(self, x: FloatArray, pose: FloatArray, pins: Pins) -> FloatArray:
        """u [m], (n, 3), of positions x [m], zero where pins hold."""
        rest = self.body.mesh.vertices
        if self.is_free:
            R, c = fit_rigid(x, rest, self.body.mass)
            return np.asarray((x - c) @ R - rest)
        if self.rig is None:
            u = x - rest
        elif self.is_static:
            u = self.rig.pull_back(pose, x) - self.rig.rest
        else:
            u = turn_back(self.rig.turns(pose), x - self.rig.positions(pose))
        u[pins.vertices] = np.where(pins.held, 0.0, u[pins.vertices])
        return np.asarray(u)

    def problem(self, basis: Basis, window: Window, who: IntArray) -> Problem:
        """The training of forces at shapes of a window; `who` are the elements on offer, ascending."""
        shapes = window.spread(_POSES if self.is_static else _POSES_MOVING)
        fields = np.stack([window.fields[k].ravel() for k in shapes], axis=1)
        if self.rig is None:
            return offered_problem(self.body, self.elements, basis, fields, who)
        coordinates = basis.columns.T @ (basis.metric[:, None] * fields)
        samples = SkinnedSamples(np.stack([window.poses[k] for k in shapes]), np.arange(len(shapes)), coordinates)
        return offered_skinned_problem(self.body, self.rig, self.elements, basis, samples, who)

    @cached_property
    def elements(self) -> ElementMap:
        """Of the body."""
        return ElementMap(self.body)

    def place(self, learned: Learned, pose: FloatArray) -> Placed | None:
        """Where bones take what was learned in a pose; None where there are none."""
        if self.rig is None:
            return None
        Q = self._axes(pose)
        return Placed(self.rig.positions(pose) + turn(Q, learned.offset), Q)

    def _axes(self, pose: FloatArray) -> FloatArray:
        """A or Q, (n, 3, 3)."""
        assert self.rig is not None
        return self.rig.frames(pose)[0] if self.is_static else self.rig.turns(pose)

    def stance(self, x: FloatArray, moment: Moment) -> FloatArray:
        """What says how a body at positions x [m], (n, 3), is turned: its pose, or the nine entries of its frame."""
        return fit_rigid(x, self.body.mesh.vertices, self.body.mass)[0].ravel() if self.is_free else self.pose(moment)

    def turns(self, begin: FloatArray | None, end: FloatArray) -> FloatArray | None:
        """How vertices turn from one stance to another, (n, 3, 3); None where they do not."""
        if begin is None or np.array_equal(begin, end):
            return None
        if self.is_free:
            turn = end.reshape(3, 3) @ begin.reshape(3, 3).T
            return np.broadcast_to(turn, (len(self.body.mass), 3, 3))
        if self.rig is None:
            return None
        return np.asarray(np.einsum("nik,njk->nij", self.rig.turns(end), self.rig.turns(begin)))

    def follows(self, live: Live, inputs: Inputs) -> bool:
        """Whether what holds the body goes with its bones, or stands where it was made if there are none: grabs and
        other pins that move need full steps."""
        if live.grabs:
            return False
        if self.rig is None and not self.is_free:
            away = np.abs(np.stack([inputs.begin.targets, inputs.end.targets]) - self._held)
            return bool((away <= self._away)[:, self.body.pins.held].all())
        if len(live.added.vertices) or len(live.released.vertices):
            return False
        if self.rig is None:
            return True
        pins = self.body.pins
        away = np.abs(self.rig.positions(self.pose(inputs.end), pins.vertices) - inputs.end.targets)
        return bool((away <= self._away)[pins.held].all())


class CarriedModels:
    """Models of what was learned, in poses; the last one is kept."""

    def __init__(self, carrier: Carrier, integrator: str, tolerance: float) -> None:
        """`tolerance` is Newton's."""
        self._carrier, self._integrator, self._tolerance = carrier, integrator, tolerance
        self._map, self._size = carrier.elements, carrier.body.mesh.size()
        self._made: tuple[Learned, FloatArray, LearnedModel] | None = None

    def of(self, learned: Learned, pose: FloatArray) -> LearnedModel:
        """Steps to a pose (p,)."""
        if self._made is None or self._made[0] is not learned or not np.array_equal(self._made[1], pose):
            placed = self._carrier.place(learned, pose)
            model = LearnedModel(
                self._carrier.body, learned, self._integrator, self._tolerance, self._map, placed, self._size
            )
            self._made = learned, pose, model
        return self._made[2]
