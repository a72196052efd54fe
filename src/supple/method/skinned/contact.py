"""Contact of a skinned body in its subspace: found on the posed body, pushed back through the Jacobian A U."""

import numpy as np
from numpy.typing import NDArray

from supple.contact.detector import Detector
from supple.contact.potential import ContactPotential
from supple.elastic import Body
from supple.method.outer import Approach, ContactLoop, Outcome, count_contact
from supple.method.placed_contacts import PlacedContacts, freeze_placed
from supple.method.reduced.rounds import View, settle_step
from supple.method.reduced.step import ReducedStep
from supple.method.skinned.balance import SkinnedStep
from supple.method.skinned.state import SkinnedState
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch
from supple.subspace import Basis, DomainBases
from supple.subspace.vertex_shapes import VertexShapes

__all__ = ["SkinnedTouching"]

FloatArray = NDArray[np.float64]


class SkinnedTouching:
    """The contacts of a body at x = A (X + U q) + t."""

    def __init__(self, body: Body, rig: SkinnedRig, basis: Basis | DomainBases, detector: Detector) -> None:
        """Of a body in domains, what is drawn touches: the means of copies."""
        self._loop = ContactLoop(detector, body.mass, body.mesh.size())
        self._rig, self._basis = rig, basis
        self._shapes = VertexShapes.of(basis, body.mesh.surface_vertices())
        # Only a body that may touch itself is looked into
        self._seen = None if detector.settings.self_contact else body.mesh.surface_vertices()
        held = np.zeros(len(body.mass), bool)
        held[body.pins.vertices] = body.pins.held.all(axis=1)
        self._free = np.flatnonzero(~held)
        self._unit = float(np.sqrt(body.mass.mean()))

    def settle(
        self, solver: ReducedStep[SkinnedStep], state: SkinnedState, inputs: Inputs, watch: Stopwatch
    ) -> Outcome:
        """Solve a step, through as many rounds as it takes; the solver keeps where it ends."""
        step = solver.step
        x = self._lift(state.pose, state.shapes[0])
        if step.motion.ca and state.spans[0] > 0.0:  # as full space foresees it, so that folds are met alike
            before = self._lift(state.former_poses[0], state.former_shapes[0])
            predicted = x + inputs.duration / state.spans[0] * (x - before)
        else:
            predicted = self._lift(step.pose, step.guess)

        def lift(q: FloatArray) -> FloatArray:
            return self._lift(step.pose, q)

        def freeze(potential: ContactPotential) -> PlacedContacts:
            return freeze_placed(potential, self._rig, self._shapes, step.pose)

        def gather(contacts: PlacedContacts, forces: FloatArray) -> FloatArray:
            return contacts.gather(forces, self._basis.rank)

        weight = count_contact(step.motion, inputs.duration)
        approach = Approach(x, predicted, inputs, step.motion.ca, weight, self._free, state.pairs)
        return settle_step(self._loop, approach, solver, View(lift, freeze, gather, self._unit), watch)

    def relieve(self, outcome: Outcome, step: SkinnedStep, h: float) -> FloatArray | None:
        """The contact forces on the coordinates, (r,), that the next step's beginning must do without; None where it
        keeps them."""
        weight = count_contact(step.motion, h)
        if outcome.force is None or weight == 1.0:
            return None
        rows = np.flatnonzero(outcome.force.any(axis=1))
        A, _ = self._rig.frames(step.pose, rows)
        back = (weight * outcome.force[rows, None, :] @ A)[:, 0]
        return np.asarray(np.tensordot(back, self._basis.rows(rows), 2))

    def _lift(self, pose: FloatArray, q: FloatArray) -> FloatArray:
        """Positions of the vertices that are looked at [m], the others zero, (n, 3)."""
        seen, rest = self._seen, self._rig.rest
        if seen is None:
            return self._rig.push_forward(pose, rest + self._basis.lift(q))
        x = np.zeros_like(rest)
        x[seen] = self._rig.push_forward(pose, rest[seen] + self._basis.lift(q, seen), seen)
        return x
