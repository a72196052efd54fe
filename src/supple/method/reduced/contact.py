"""Contact of a body with a frame in a subspace."""

import numpy as np
from numpy.typing import NDArray

from supple.contact.detector import Detector
from supple.contact.potential import ContactPotential
from supple.elastic import Body
from supple.method.frozen_contacts import FrozenContacts, freeze_contacts, weigh_vertices
from supple.method.outer import Approach, ContactLoop, Outcome, count_contact
from supple.method.reduced.framed import Relief, Step, gather_forces, lift
from supple.method.reduced.rounds import View, settle_step
from supple.method.reduced.state import ReducedState
from supple.method.reduced.step import ReducedStep
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["Touching"]

FloatArray = NDArray[np.float64]


class Touching:
    """The contacts of a body of shapes Ψ."""

    def __init__(self, body: Body, shapes: FloatArray, rank: int, detector: Detector) -> None:
        self.detector = detector
        self._loop = ContactLoop(detector, body.mass, body.mesh.size())
        self._shapes, self._rank = shapes, rank
        # Only a body that may touch itself is looked into
        looks_inside = detector.settings.self_contact
        self._seen = np.arange(len(shapes)) if looks_inside else body.mesh.surface_vertices()
        self._rows = shapes if looks_inside else np.ascontiguousarray(shapes[self._seen])
        held = np.zeros(len(shapes), bool)
        held[body.pins.vertices] = body.pins.held.all(axis=1)
        self._free = np.flatnonzero(~held)
        self._mass = float(body.mass.sum())
        self._unit = float(np.sqrt(body.mass.mean()))

    def look(self, state: ReducedState) -> tuple[Detector, FloatArray]:
        """What finds contacts, and the positions it looks at [m], (n, 3)."""
        return self.detector, self._place(state)

    def settle(
        self,
        solver: ReducedStep[Step],
        state: ReducedState,
        net: FloatArray,
        inputs: Inputs,
        watch: Stopwatch,
        *,
        alone: bool,
    ) -> Outcome:
        """Solve a step, through as many rounds as it takes; the solver keeps where it ends.

        `net` [N], (3,): force on the whole body, which contacts may have to bear; `alone`: they have to.
        """
        motion, x = solver.step.motion, self._place(state)
        predicted = x
        if motion.ca:
            predicted = x + inputs.duration * self._lift(state.shapes, state.turns[1], state.offsets[1])

        def lift(z: FloatArray) -> FloatArray:
            s, R, centre = self._read(z, solver.step)
            return self._lift(s[None], R[None], centre)

        def freeze(potential: ContactPotential) -> FrozenContacts:
            weights = weigh_vertices(potential.contacts, len(x))
            return freeze_contacts(potential, weights @ self._shapes.reshape(len(x), -1))

        def gather(contacts: FrozenContacts, forces: FloatArray) -> FloatArray:
            handles = contacts.handles.reshape(-1, 3, contacts.handles.shape[1])
            parts = gather_forces(handles, forces, state.shapes[0], state.turns[0, 0], self._rank)
            return np.concatenate([*parts, contacts.weights @ forces / np.sqrt(self._mass)])

        weight = count_contact(motion, inputs.duration)
        approach = Approach(x, predicted, inputs, motion.ca, weight, self._free, state.pairs, net if alone else None)
        reference = float(np.linalg.norm(net)) / np.sqrt(self._mass)
        return settle_step(self._loop, approach, solver, View(lift, freeze, gather, self._unit), watch, reference)

    def relieve(self, outcome: Outcome, solver: ReducedStep[Step], h: float) -> Relief | None:
        """The contact forces that the next step's beginning must do without; None where it keeps them."""
        weight = count_contact(solver.step.motion, h)
        if outcome.force is None or weight == 1.0:
            return None
        rows = np.flatnonzero(outcome.force.any(axis=1))
        force, (s, R, _) = weight * outcome.force[rows], self._read(solver.z, solver.step)
        return *gather_forces(self._shapes[rows], force, s, R, self._rank), force.sum(axis=0)

    def _place(self, state: ReducedState) -> FloatArray:
        """Positions of the vertices that are looked at [m], the others zero, (n, 3)."""
        return self._lift(state.shapes[:1], state.turns[0, :1], state.offsets[0])

    def _read(self, z: FloatArray, step: Step) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The shape, R and c where Newton's method is."""
        rank = self._rank
        s = np.concatenate([[1.0], z[:rank], step.loads.tail])
        return s, z[rank : rank + 9].reshape(3, 3), z[rank + 9 :]

    def _lift(self, shapes: FloatArray, turns: FloatArray, offset: FloatArray) -> FloatArray:
        x = np.zeros((len(self._shapes), 3))
        x[self._seen] = lift(self._rows, shapes, turns, offset)
        return x
