"""Reduced steps of a body that pins or bones hold: coordinates about its rest shape, or about that of a pose."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.result import Touch
from supple.method.full.solver import FullSolver
from supple.method.reduced.state import ReducedState
from supple.method.skipping.carried import CarriedModels, Carrier
from supple.method.skipping.model import Arrival, Learned, LearnedModel, rest_of
from supple.method.skipping.state import SkippingState
from supple.method.state import FullState
from supple.solve.forces import external_force
from supple.solve.inputs import Inputs

__all__ = ["Entry", "StillSteps", "Taken"]

FloatArray = NDArray[np.float64]
_NO_POSE = np.zeros(0)
_CORRECTED = 60_000  # unknowns up to which forces of all elements are looked at in every step


class Entry(NamedTuple):
    """A motion as reduced steps go on from it."""

    motion: FloatArray | ReducedState
    elastic: float = 0.0
    full: FullState | None = None
    defect: FloatArray | None = None
    """What is added to the forces on the coordinates, (r,)."""
    excess: FloatArray | None = None
    """What the rule has more of these than all elements, in motion, (r,)."""


class Taken(NamedTuple):
    """The end of a reduced step."""

    motion: FloatArray | ReducedState
    place: Callable[[], FloatArray]
    """Finds the positions of all vertices [m], (n, 3): most steps need none."""
    moved: float
    """Root of the mean square of velocities [m/s], in statics of displacements [m]."""
    iterations: int
    residual: float
    elastic: float = 0.0
    drag: Callable[[], FloatArray] | None = None
    """Finds the damping force by stiffness [N], (n, 3), where the subspace knows it."""
    full: FullState | None = None
    touching: Touch | None = None
    excess: FloatArray | None = None
    """What the rule has more of forces on the coordinates than all elements, (r,)."""


class StillSteps:
    """Steps in what a pinned body has learned, or one that bones take along."""

    def __init__(self, carrier: Carrier, full: FullSolver, integrator: str, newton_tolerance: float) -> None:
        self._carrier, self._body, self._full = carrier, carrier.body, full
        self._static = integrator == "static"
        self._models = CarriedModels(carrier, integrator, newton_tolerance)

    def enter(self, learned: Learned, full: FullState, inputs: Inputs) -> Entry:
        """A full state at the end of a step."""
        pose = self._carrier.pose(inputs.end)
        model = self._models.of(learned, pose)
        motion = model.project(full.x, full.v, full.a)
        u = self._carrier.displacement(full.x, pose, full.live.pins(self._body.pins))
        motion[0] = learned.basis.project(u)  # blends are no rotations
        kept = None if self._carrier.rig is None else full
        return Entry(motion, model.elastic(motion[0]), kept, excess=self._excess(model, motion[0]))

    @property
    def corrects(self) -> bool:
        """Whether steps end where the forces of all elements have them: in motion errors of a rule go one way step by
        step, and add up. On large bodies a finer rule costs less."""
        return not self._static and self._carrier.rig is None and 3 * len(self._body.mass) <= _CORRECTED

    def _excess(self, model: LearnedModel, q: FloatArray) -> FloatArray | None:
        """What the rule has too much of, where that is corrected, (r,)."""
        return model.excess(q) if self.corrects and model.is_ruled else None

    def repeat(
        self, learned: Learned, begin: FullState, load: FloatArray, inputs: Inputs, *, settled: bool = True
    ) -> FloatArray | None:
        """Positions [m], (n, 3), after a step from a full state, where it has `settled` there; None where it fails."""
        defect = None
        if self._static and settled:
            then = external_force(begin.live.forces(inputs.begin.forces), self._body.mass)
            learned, entry = self.settle(learned, begin.x, begin, then, replace(inputs, end=inputs.begin))
            motion, defect = np.asarray(entry.motion), entry.defect
            model = self._models.of(learned, self._carrier.pose(inputs.end))
        else:
            model = self._models.of(learned, self._carrier.pose(inputs.end))
            motion = model.project(begin.x, begin.v, begin.a)
        places = self._find_drag(begin, inputs)
        excess = self._excess(model, motion[0])
        end = model.step(motion, load, inputs.duration, model.elastic(motion[0]), places, defect, excess)
        return None if end is None else model.positions(end.motion[0])

    def take(self, state: SkippingState, load: FloatArray, inputs: Inputs, near: float) -> Taken | None:
        """A step under forces on the vertices [N], (n, 3); None where Newton's method fails. Where all elements correct
        it, a first correction up to `near` [m] is enough."""
        model, h = self._model(state, self._carrier.pose(inputs.end)), inputs.duration
        begin = motion = _coordinates(state)
        places = None
        if state.full is not None and not self._static:
            motion = model.project(state.full.x, state.full.v, state.full.a)  # as seen from the pose of the end
            places = self._find_drag(replace(state.full, live=state.live), inputs)
        end = model.step(motion, load, h, state.elastic, places, state.defect, state.excess, near)
        if end is None:
            return None
        if self._static:
            end.motion[1] = (end.motion[0] - begin[0]) / h  # no velocity, but where the next step begins to look
        moved = end.motion[0] if self._static else end.motion[1]
        if state.full is not None and not self._static:
            moved = (end.motion[0] - begin[0]) / h
        size = float(np.linalg.norm(moved) / np.sqrt(self._body.mass.sum()))
        drag = None
        if not self._static and self._body.damping.stiffness > 0.0:
            drag = partial(self._lift_force, model, end.drag)
        place = partial(model.positions, end.motion[0])
        full = None if state.full is None else self._arrive(model, end, place(), state.full, inputs)
        return Taken(end.motion, place, size, end.iterations, end.residual, end.elastic, drag, full, excess=end.excess)

    def settle(
        self, learned: Learned, begin: FloatArray, full: FullState, load: FloatArray, inputs: Inputs
    ) -> tuple[Learned, Entry]:
        """What was learned, about the end in full space of a static step from positions `begin` [m], (n, 3), and the
        motion there: that end is in balance in the subspace too, for what it leaves of the shape and what its rule
        lacks of the forces are kept as they are."""
        pins, pose = full.live.pins(self._body.pins), self._carrier.pose(inputs.end)
        u = self._carrier.displacement(full.x, pose, pins)
        learned = replace(learned, offset=rest_of(u, learned.basis))
        entry = self.enter(learned, full, inputs)
        assert isinstance(entry.motion, np.ndarray)
        q = entry.motion[0]
        before = learned.basis.project(self._carrier.displacement(begin, self._carrier.pose(inputs.begin), pins))
        if inputs.duration > 0.0:
            entry.motion[1] = (q - before) / inputs.duration  # where the next step begins to look
        lacking = self._models.of(learned, pose).residual(q, load)
        return learned, entry._replace(defect=lacking)

    def _lift_force(self, model: LearnedModel, force: FloatArray) -> FloatArray:
        """Forces on the coordinates as those on the vertices [N], (n, 3), that move nothing else."""
        return self._body.mass[:, None] * model.lift(force)

    def positions(self, state: SkippingState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Of all or of chosen vertices [m], (k, 3)."""
        return self._model(state, _NO_POSE).positions(_coordinates(state)[0], vertices)

    def lift(self, state: SkippingState) -> FullState:
        """The motion of every vertex."""
        model, (q, v, a) = self._model(state, _NO_POSE), _coordinates(state)
        if self._static:
            v = a  # none
        return FullState(state.time, model.positions(q), model.lift(v), model.lift(a), state.live)

    def _find_drag(self, begin: FullState, inputs: Inputs) -> tuple[FloatArray, FloatArray] | None:
        """What damping by stiffness needs to know where bones move a body out of its subspace."""
        return None if self._carrier.rig is None else self._full.find_drag(begin, inputs)

    def _model(self, state: SkippingState, pose: FloatArray) -> LearnedModel:
        assert state.memory.learned is not None
        return self._models.of(state.memory.learned, pose)

    def _arrive(self, model: LearnedModel, end: Arrival, x: FloatArray, begin: FullState, inputs: Inputs) -> FullState:
        """The motion of every vertex after a reduced step of a body that bones take along.

        What the subspace leaves of it follows from positions alone, as where pins prescribe them.
        """
        if self._static:
            return FullState(inputs.end.time, x, np.zeros_like(x), np.zeros_like(x), begin.live)
        h = inputs.duration
        v = model.lift(end.motion[1]) + model.rest_of((x - begin.x) / h)
        a = model.lift(end.motion[2]) + model.rest_of((v - begin.v) / h)
        return FullState(inputs.end.time, x, v, a, begin.live)


def _coordinates(state: SkippingState) -> FloatArray:
    assert isinstance(state.motion, np.ndarray)
    return state.motion
