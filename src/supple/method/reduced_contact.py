"""Contact of a body in a subspace: what is looked at is lifted, what is frozen is projected."""

import numpy as np
from numpy.typing import NDArray

from supple.contact.detector import Detector
from supple.contact.potential import ContactPotential
from supple.elastic import Body
from supple.method.outer import Approach, ContactLoop, Outcome, Round, count_contact
from supple.method.reduced_framed import Relief, gather_forces, lift
from supple.method.reduced_state import ReducedState
from supple.method.reduced_step import FramedStep
from supple.method.reduced_touch import FrozenContacts, freeze_contacts
from supple.solve.inputs import Inputs
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

__all__ = ["Touching"]

FloatArray = NDArray[np.float64]
_ROUND_OFF = 4e-16  # share of positions by which gaps cannot be told apart


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
        """A force of 1 N on one vertex, in the coordinates of a complete basis, is 1 over this."""

    def look(self, state: ReducedState) -> tuple[Detector, FloatArray]:
        """What finds contacts, and the positions it looks at [m], (n, 3)."""
        return self.detector, self._place(state)

    def settle(
        self, solver: FramedStep, state: ReducedState, net: FloatArray, inputs: Inputs, watch: Stopwatch
    ) -> Outcome:
        """Solve a step, through as many rounds as it takes; the solver keeps where it ends.

        `net` [N], (3,): force on the whole body, which contacts may have to bear.
        """
        motion, x = solver.step.motion, self._place(state)
        predicted = x
        if motion.ca:
            predicted = x + inputs.duration * self._lift(state.shapes, state.turns[1], state.offsets[1])
        weight = count_contact(motion, inputs.duration)

        def solve(round: Round) -> tuple[FloatArray, float]:
            start = solver.step.begin if round.start is None else solver.z
            # From sticking to sliding the way is short, but not back
            guess = solver.step.guess if round.start is None and not round.rubs else start
            if round.potential is None:
                resolution = solver.solve(start, guess)
            else:
                contacts = freeze_contacts(round.potential, self._shapes.reshape(len(x), -1))
                reference = float(np.linalg.norm(net)) / np.sqrt(self._mass)
                if round.impact > 0.0:
                    reference += round.impact * self._project_share(round.potential, contacts, predicted, state)
                noise = self._find_noise(contacts, x)
                try:
                    resolution = solver.solve(start, guess, contacts, reference, noise, rough=round.rough)
                except NewtonFailure as failure:
                    failure.terms |= round.potential.terms(failure.x)
                    raise
            s, R, centre = self._read(solver)
            return self._lift(s[None], R[None], centre), self._unit * resolution

        approach = Approach(x, predicted, inputs, motion.ca, weight, self._free, state.pairs)
        return self._loop.settle(approach, solve, watch)

    def relieve(self, outcome: Outcome, solver: FramedStep, h: float) -> Relief | None:
        """The contact forces that the next step's beginning must do without; None where it keeps them."""
        weight = count_contact(solver.step.motion, h)
        if outcome.force is None or weight == 1.0:
            return None
        rows = np.flatnonzero(outcome.force.any(axis=1))
        force, (s, R, _) = weight * outcome.force[rows], self._read(solver)
        return *gather_forces(self._shapes[rows], force, s, R, self._rank), force.sum(axis=0)

    def _place(self, state: ReducedState) -> FloatArray:
        """Positions of the vertices that are looked at [m], the others zero, (n, 3)."""
        return self._lift(state.shapes[:1], state.turns[0, :1], state.offsets[0])

    def _read(self, solver: FramedStep) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The shape, R and c where the solver is."""
        z, rank = solver.z, self._rank
        s = np.concatenate([[1.0], z[:rank], solver.step.loads.tail])
        return s, z[rank : rank + 9].reshape(3, 3), z[rank + 9 :]

    def _lift(self, shapes: FloatArray, turns: FloatArray, offset: FloatArray) -> FloatArray:
        x = np.zeros((len(self._shapes), 3))
        x[self._seen] = lift(self._rows, shapes, turns, offset)
        return x

    def _project_share(
        self, potential: ContactPotential, contacts: FrozenContacts, x: FloatArray, state: ReducedState
    ) -> float:
        """How large contact forces at positions x are in the coordinates, relative to their size on the vertices."""
        whole = float(np.linalg.norm(potential.gradient(x)))
        handles = contacts.handles.reshape(-1, 3, contacts.handles.shape[1])
        forces = potential.forces(x)
        parts = gather_forces(handles, forces, state.shapes[0], state.turns[0, 0], self._rank)
        net = contacts.weights @ forces / np.sqrt(self._mass)
        return float(np.linalg.norm(np.concatenate([*parts, net]))) / max(whole, 1e-300)

    def _find_noise(self, contacts: FrozenContacts, x: FloatArray) -> float:
        """Size that round-off in the positions leaves of contact forces, in the coordinates."""
        stiffness = contacts.along + contacts.across + 2.0 / contacts.slip * contacts.limit
        return _ROUND_OFF * float(np.linalg.norm(stiffness)) * float(np.abs(x).max()) / self._unit
