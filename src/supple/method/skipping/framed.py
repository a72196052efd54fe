"""Reduced steps of a body that travels and turns, or touches something, in what it has learned.

x = c + R (X + u₀ + U q): a body that nothing holds has its frame among the unknowns, and contacts are met in the
subspace, both as by the reduced solver.
"""

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import ConvergenceError, SuppleWarning
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.state import ReducedState
from supple.method.skipping.measure import rms
from supple.method.skipping.model import Learned
from supple.method.skipping.state import SkippingState
from supple.method.skipping.still import Entry, Taken
from supple.method.solver import Report
from supple.method.state import FullState
from supple.solve.inputs import Inputs

__all__ = ["FramedSteps"]

FloatArray = NDArray[np.float64]


class FramedSteps:
    """Steps by a reduced solver of what was learned; the last one made is kept."""

    corrects = False  # rules are trained so far that nothing needs to

    def __init__(
        self,
        body: Body,
        integrator: str,
        newton_tolerance: float,
        colliders: Sequence[Collider],
        contact: ContactSettings | None,
    ) -> None:
        self._body, self._static = body, integrator == "static"
        self._make = partial(
            ReducedSolver, body, integrator=integrator, tolerance=newton_tolerance, colliders=colliders, contact=contact
        )
        self._made: tuple[Learned, ReducedSolver] | None = None

    def enter(self, learned: Learned, full: FullState, inputs: Inputs) -> Entry:
        """A full state at the end of a step."""
        return Entry(self._project(learned, full))

    def repeat(
        self, learned: Learned, begin: FullState, load: FloatArray, inputs: Inputs, *, settled: bool = True
    ) -> FloatArray | None:
        """Positions [m], (n, 3), after a step from a full state; None where it fails."""
        solver = self._solver(learned)
        end = _step(solver, self._project(learned, begin), inputs)
        return None if end is None else solver.positions(end[0])

    def take(self, state: SkippingState, load: FloatArray, inputs: Inputs, near: float) -> Taken | None:
        """A step; None where Newton's method fails or contacts do not settle."""
        assert state.memory.learned is not None
        solver = self._solver(state.memory.learned)
        reached = _step(solver, _motion(state)._replace(live=state.live), inputs)
        if reached is None:
            return None
        end, report = reached
        x, v, _ = solver.to_full(end)
        size = rms(x - self._body.mesh.vertices if self._static else v, self._body.mass)
        return Taken(end, lambda: x, size, report.newton_iterations, report.residual or 0.0, touching=report.touching)

    def positions(self, state: SkippingState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Of all or of chosen vertices [m], (k, 3)."""
        assert state.memory.learned is not None
        return self._solver(state.memory.learned).positions(_motion(state), vertices)

    def lift(self, state: SkippingState) -> FullState:
        """The motion of every vertex."""
        assert state.memory.learned is not None
        motion = _motion(state)
        return FullState(
            state.time, *self._solver(state.memory.learned).to_full(motion), state.live, motion.pairs
        )  # fmt: skip

    def _project(self, learned: Learned, full: FullState) -> ReducedState:
        motion = self._solver(learned).from_full(full.x, full.v, full.a, full.time)
        return motion._replace(live=full.live, pairs=full.pairs)

    def _solver(self, learned: Learned) -> ReducedSolver:
        if self._made is None or self._made[0] is not learned:
            model = ReducedModel(learned.basis, learned.rule, np.zeros((len(learned.basis.columns), 0)), 0.0)
            self._made = learned, self._make(model, offset=learned.offset)
        return self._made[1]


def _motion(state: SkippingState) -> ReducedState:
    assert isinstance(state.motion, ReducedState)
    return state.motion


def _step(solver: ReducedSolver, motion: ReducedState, inputs: Inputs) -> tuple[ReducedState, Report] | None:
    """A step that was not split and whose contacts settled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # the full step that comes instead says what is amiss
            end, report = solver.step(motion, inputs)
    except ConvergenceError:
        return None
    good = report.halvings == 0 and report.contact_settled and np.isfinite(end.shapes).all()
    return (end, report) if good else None
