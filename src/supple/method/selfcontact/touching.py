"""Self-contact of a skinned body by rules: a few contacts, chosen by the pose, stand for all ([TOK14] 4.3 and 5.1)."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.ruled_detector import RuledDetector
from supple.cubature.contact_rules import ContactRules
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.linalg.jit import njit
from supple.method.outer import Outcome, count_contact
from supple.method.reduced.step import ReducedStep
from supple.method.selfcontact.rounds import SLIDES, RuledRounds
from supple.method.skinned.balance import SkinnedStep
from supple.method.skinned.contact import SkinnedTouching
from supple.method.skinned.state import SkinnedState
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch
from supple.subspace import Basis, DomainBases

__all__ = ["SLIDES", "RuledTouching", "recall_pairs"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


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
        self._owners = detector.shallows.owners
        self._warned = False
        self._placed: _Placed | None = None
        self._rounds: RuledRounds | None = None
        if not detector.colliders:  # which may touch anywhere: method/outer.py has rounds for them
            self._rounds = RuledRounds(rig, basis, detector, self._unit, body.mesh.size())
        self._push = np.zeros(basis.rank)

    def settle(
        self, solver: ReducedStep[SkinnedStep], state: SkinnedState, inputs: Inputs, watch: Stopwatch
    ) -> Outcome:
        """Solve a step, through as many rounds as it takes; the solver keeps where it ends."""
        with watch.phase("contact"):
            pairs, weights, self.lacking = self._rules.choose(self._rig.skeleton, solver.step.pose)
            pairs = recall_pairs(pairs, state.pairs, self._owners)
            self._say_lacking(inputs.end.time)
        if self._rounds is None:
            with watch.phase("contact"):
                self._lead(solver.step, pairs, weights)
            return super().settle(solver, state, inputs, watch)
        outcome, self._push = self._rounds.settle(solver, state, (pairs, weights), inputs.duration, watch)
        self._loop.admit(outcome, inputs)
        return outcome

    def relieve(self, outcome: Outcome, step: SkinnedStep, h: float) -> FloatArray | None:
        """The contact forces on the coordinates, (r,), that the next step's beginning must do without; None where it
        keeps them."""
        if self._rounds is None:
            return super().relieve(outcome, step, h)
        return None if count_contact(step.motion, h) == 1.0 else -self._push

    def _lead(self, step: SkinnedStep, pairs: IntArray, weights: FloatArray) -> None:
        """Begin with the pairs of the pose, and lead them to the triangles that they are at."""
        self._placed = None
        self._ruled.follow(pairs, weights)
        seen = self._outside
        for _ in range(SLIDES):
            seen = self._seen = np.union1d(self._ruled.reads(), self._outside)
            if not self._ruled.slide(self._lift(step.pose, step.guess)):
                break
        A, t = self._rig.frames(step.pose, seen)
        origin = np.einsum("nij,nj->ni", A, self._rig.rest[seen]) + t
        self._placed = _Placed(step.pose, seen, A @ self._basis.rows(seen), origin)

    def _say_lacking(self, time: float) -> None:
        """Say, once, that no rule fits."""
        if not self.lacking or self._warned:
            return
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


def recall_pairs(pairs: IntArray, known: IntArray, owners: NDArray[np.int64]) -> IntArray:
    """Pairs whose vertices begin at the triangles of the same bones that they were known at, by ascending vertex.

    `owners` are the bones of all triangles, (k,): a vertex may be at several bones at once.
    """
    return _recall(pairs, known, owners) if len(known) else pairs


@njit(cache=True)
def _recall(pairs: IntArray, known: IntArray, owners: NDArray[np.int64]) -> IntArray:
    found, row = pairs.copy(), 0
    for k in range(len(pairs)):
        while row < len(known) and known[row, 0] < pairs[k, 0]:
            row += 1
        for other in range(row, len(known)):
            if known[other, 0] != pairs[k, 0]:
                break
            if owners[known[other, 1]] == owners[pairs[k, 1]]:
                found[k, 1] = known[other, 1]
                break
    return found
