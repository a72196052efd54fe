"""Self-contact of a skinned body by rules: a few contacts, chosen by the pose, stand for all ([TOK14] 4.3 and 5.1)."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.ruled_detector import RuledDetector
from supple.cubature.contact_rules import ContactRules
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.method.outer import Outcome
from supple.method.reduced_step import ReducedStep
from supple.method.skinned_balance import SkinnedStep
from supple.method.skinned_contact import SkinnedTouching
from supple.method.skinned_state import SkinnedState
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch
from supple.subspace import Basis, DomainBases

__all__ = ["SLIDES", "RuledTouching", "recall_pairs"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
SLIDES = 12  #: triangles that a vertex may be led over as a step begins


class _Placed(NamedTuple):
    """The vertices that a step looks at, where rounds lift them again and again."""

    pose: FloatArray
    seen: IntArray
    shapes: FloatArray
    """A U, (m, 3, r)."""
    origin: FloatArray
    """A X + t [m], (m, 3)."""


class RuledTouching(SkinnedTouching):
    """The contacts of a body at x = A (X + U q) + t, those with itself by rules."""

    def __init__(
        self, body: Body, rig: SkinnedRig, basis: Basis | DomainBases, detector: RuledDetector, rules: ContactRules
    ) -> None:
        super().__init__(body, rig, basis, detector)
        self._ruled, self._rules = detector, rules
        self._outside = body.mesh.surface_vertices() if detector.colliders else np.zeros(0, np.int32)
        self.lacking: tuple[tuple[int, int], ...] = ()
        """Bones that no rule fitted in the last step: what they touch of each other was not looked at."""
        self._warned = False
        self._placed: _Placed | None = None

    def settle(
        self, solver: ReducedStep[SkinnedStep], state: SkinnedState, inputs: Inputs, watch: Stopwatch
    ) -> Outcome:
        """Solve a step, through as many rounds as it takes; the solver keeps where it ends."""
        with watch.phase("contact"):
            self._choose(solver.step, state, inputs.end.time)
        return super().settle(solver, state, inputs, watch)

    def _choose(self, step: SkinnedStep, state: SkinnedState, time: float) -> None:
        """Begin with the pairs of the pose, and lead them to the triangles that they are at."""
        self._placed = None
        pairs, weights, self.lacking = self._rules.choose(self._rig.skeleton, step.pose)
        self._ruled.follow(recall_pairs(pairs, state.pairs), weights)
        seen = self._outside
        for _ in range(SLIDES):
            seen = self._seen = np.union1d(self._ruled.reads(), self._outside)
            if not self._ruled.slide(self._lift(step.pose, step.guess)):
                break
        A, t = self._rig.frames(step.pose, seen)
        origin = np.einsum("nij,nj->ni", A, self._rig.rest[seen]) + t
        self._placed = _Placed(step.pose, seen, A @ self._basis.rows(seen), origin)
        if self.lacking and not self._warned:
            self._warned = True
            names = self._rig.skeleton.names
            one, other = self.lacking[0]
            warnings.warn(
                f"no contact rule for '{names[one]}' and '{names[other]}' is near the pose at {time:.6g} s, so their "
                'contact is not seen: train with poses like it, or use contact.self = "all" (said once).',
                SuppleWarning,
                stacklevel=2,
            )

    def _lift(self, pose: FloatArray, q: FloatArray) -> FloatArray:
        if self._placed is None or self._placed.pose is not pose:
            return super()._lift(pose, q)
        x = np.zeros_like(self._rig.rest)
        x[self._placed.seen] = self._placed.shapes @ q + self._placed.origin
        return x


def recall_pairs(pairs: IntArray, known: IntArray) -> IntArray:
    """Pairs whose vertices begin at the triangles that they were known at."""
    if not len(known) or not len(pairs):
        return pairs
    order = np.argsort(known[:, 0], kind="stable")
    place = np.minimum(np.searchsorted(known[order, 0], pairs[:, 0]), len(known) - 1)
    row = order[place]
    again = known[row, 0] == pairs[:, 0]
    return np.column_stack([pairs[:, 0], np.where(again, known[row, 1], pairs[:, 1])])
