"""Who has to be full in a step: what the oracle has asked for by now."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.method.condensation.again import Overlap
from supple.method.condensation.loads import find_pushed, find_unbalance
from supple.method.condensation.oracle import Sight
from supple.method.condensation.rules import RulesBeside
from supple.method.condensation.state import CondensedState
from supple.method.condensation.tools import Tools
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["NEAR", "Wanted"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
NEAR = 0.05  #: share of an edge within which a vertex is taken for one that touches
_NOBODY = np.zeros(0, np.int32)


class Wanted:
    """Vertices that an oracle wants to be full; while a step is solved they become more."""

    def __init__(
        self,
        tools: Tools,
        state: CondensedState,
        inputs: Inputs,
        watch: Stopwatch,
        rules: RulesBeside | None,
        *,
        still: bool,
    ) -> None:
        """Contacts of `rules` begin no region; `still`: equilibria are looked for."""
        self._tools, self._state, self._inputs = tools, state, inputs
        self._watch, self._rules, self._still = watch, rules, still
        forces = state.live.forces(inputs.end.forces)
        self._pushed, self._loaded = (find_pushed(state.live.grabs, forces, most) for most in (4, None))
        self.vertices = _NOBODY
        """Ascending."""

    def find_full(self) -> IntArray:
        """Vertices that are full by now, ascending."""
        if np.array_equal(self.vertices, self._state.full):
            return self._state.full
        return np.union1d(self._state.full, self.vertices).astype(np.int32)

    def is_empty(self) -> bool:
        """Whether no vertex is full, nor has any cause to be."""
        return not len(self._state.full) and not len(self.vertices)

    def look(self, solved: CondensedState | None = None) -> None:
        """Let the oracle see the balance of forces as the step begins, or where it was `solved`."""
        now, moment = (self._state, self._inputs.begin) if solved is None else (solved, self._inputs.end)
        unbalance = None
        with self._watch.phase("region"):
            if now.steps > 0:  # a state that no step has led to need not be in balance
                acting = now.live.forces(moment.forces)
                unbalance = partial(find_unbalance, self._tools.ground, now, acting, self._still)
            self._ask(Sight(self._tools.ground, now, self._duration, self._pushed, self._loaded, unbalance=unbalance))

    def notice(self, potential: ContactPotential, x: FloatArray, watched: IntArray, *, shifts: bool) -> None:
        """Let the oracle see contacts among watched vertices at positions x [m], (c, 3), which may still shift."""
        contacts = potential.contacts
        near = contacts.depth(x) > -NEAR * self._tools.edge
        if self._rules is not None:
            near &= ~self._rules.is_ruled(contacts)
        touching = watched[contacts.vertices[near][contacts.weights[near] != 0.0]]
        seeds = np.unique(np.concatenate([self._pushed, touching])).astype(np.int32)
        with self._watch.phase("region"):
            known = self.vertices if shifts else _NOBODY
            self._ask(Sight(self._tools.ground, self._state, self._duration, seeds, self._loaded, known))
        if self._rules is not None and self._rules.give_way(self.find_full()):
            raise Overlap

    def _ask(self, sight: Sight) -> None:
        """Note whom the oracle wants."""
        wanted = self._tools.oracle.want(sight)
        if not np.array_equal(wanted, self.vertices):
            self.vertices = np.union1d(self.vertices, wanted).astype(np.int32)

    @property
    def _duration(self) -> float:
        return 0.0 if self._still else self._inputs.duration
