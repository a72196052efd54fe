"""Steps of a condensed body that another solver takes as they are: nothing in it is full, or everything is."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.errors import ConvergenceError
from supple.method.condensation.lookout import Lookout
from supple.method.condensation.oracle import Sight
from supple.method.condensation.rules import RulesBeside
from supple.method.condensation.state import CondensedState
from supple.method.condensation.tools import Tools
from supple.method.condensation.wanted import NEAR
from supple.method.full.solver import FullSolver
from supple.method.halving import Tally
from supple.method.skinned.solver import SkinnedSolver
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["Makers", "Others"]

FloatArray = NDArray[np.float64]
_NOBODY = np.zeros(0, np.int32)


class Makers(NamedTuple):
    """What makes the other solvers, when they are needed."""

    full: Callable[[], FullSolver]
    ruled: Callable[[], SkinnedSolver]


class Others:
    """The solvers of the subspace alone, with and without rules for contact, and of full space."""

    def __init__(
        self, tools: Tools, make: Makers, lookout: Lookout | None, rules: RulesBeside | None, *, is_static: bool
    ) -> None:
        self._tools, self._make, self._lookout, self._rules = tools, make, lookout, rules
        self._is_static = is_static

    def step_reduced(self, state: CondensedState, inputs: Inputs, tally: Tally) -> CondensedState:
        """A step of the coordinates alone."""
        end, report = self._tools.step_alone(state.below, inputs)
        tally.newton += report.newton_iterations
        tally.residual = max(tally.residual, report.residual or 0.0)
        return state._replace(below=end, steps=state.steps + 1)

    def step_bare(self, state: CondensedState, inputs: Inputs, tally: Tally, watch: Stopwatch) -> CondensedState | None:
        """An equilibrium of the coordinates alone, of a body that was touched and is not any more; None where it is.

        What pressed it has left nothing behind in an equilibrium, so that its vertices need not wait to return.
        """
        look = self._lookout
        if look is None or not len(state.full) or state.live.grabs:
            return None
        own = Tally()
        try:
            bare = self.step_reduced(state, inputs, own)
        except ConvergenceError:
            return None
        bare = bare._replace(full=_NOBODY, motion=np.zeros((3, 0, 3)), idle=_NOBODY, pairs=NO_PAIRS)
        with watch.phase("contact"):
            x = self._place_watched(look, bare, inputs)
            if (look.loop.detector.detect(x, inputs).depth(x) > -NEAR * self._tools.edge).any():
                return None
        tally.newton += own.newton
        tally.residual = max(tally.residual, own.residual)
        return bare

    def step_ruled(
        self, state: CondensedState, inputs: Inputs, tally: Tally, watch: Stopwatch
    ) -> CondensedState | None:
        """An equilibrium as the solver of skinned bodies finds it by rules; None where something is full, or where more
        touches at its end than rules stand for."""
        rules, look = self._rules, self._lookout
        if rules is None or look is None or not rules.suffices or len(state.full) or state.live.grabs:
            return None
        try:
            end, report = self._ruled.step(state.below._replace(pairs=state.pairs), inputs)
        except ConvergenceError:
            return None
        ended = state._replace(below=end, steps=state.steps + 1, pairs=end.pairs)
        with watch.phase("contact"):
            x = self._place_watched(look, ended, inputs)
            found = look.loop.detector.detect(x, inputs)
            if (~rules.is_ruled(found) & (found.depth(x) > 0.0)).any():
                return None
        tally.newton += report.newton_iterations
        tally.residual, tally.rounds = max(tally.residual, report.residual or 0.0), tally.rounds + report.contact_rounds
        tally.settled, tally.touching = tally.settled and report.contact_settled, report.touching
        return ended

    def step_full(self, state: CondensedState, inputs: Inputs, tally: Tally) -> CondensedState:
        """A step in which no vertex but pinned ones follows the subspace."""
        tools = self._tools
        x, v, a = (state.place(tools.ground, level=level) for level in range(3))
        begin = replace(self._full.from_full(x, v, a, state.time), live=state.live, pairs=state.pairs)
        end, report = self._full.step(begin, inputs)
        tally.newton += report.newton_iterations
        tally.linear += report.linear_iterations
        tally.residual = max(tally.residual, report.residual or 0.0)
        tally.touching = report.touching
        fields = self._full.to_full(end)
        motion = np.array([field[state.full] for field in fields])
        below = tools.steps.from_full(*fields, end.time, inputs.end.pose, state.below)
        touched = np.zeros(0, np.int32) if report.touching is None else report.touching.vertex
        sight = Sight(tools.ground, state, 0.0 if self._is_static else inputs.duration, np.unique(touched))
        idle = state.idle + 1
        idle[np.searchsorted(state.full, tools.oracle.want(sight))] = 0
        return state._replace(below=below, motion=motion, idle=idle, steps=state.steps + 1, pairs=end.pairs)

    def _place_watched(self, look: Lookout, state: CondensedState, inputs: Inputs) -> FloatArray:
        """Positions at which contacts are looked for where nothing is full [m], (c, 3)."""
        subspace = self._tools.ground.subspace
        now = subspace.stance(state.below), subspace.coordinates(state.below)
        return look.begin(state, inputs).place_at(*now, state.full, state.motion[0])

    @cached_property
    def _ruled(self) -> SkinnedSolver:
        return self._make.ruled()

    @cached_property
    def _full(self) -> FullSolver:
        return self._make.full()
