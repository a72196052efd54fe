"""What both integrators of [KJ09] need: full and reduced steps of one body, beside each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.method.full import FullSolver
from supple.method.skipping_model import Arrival, Learned, LearnedModel
from supple.method.skipping_paper_basis import Grower
from supple.method.skipping_paper_state import PaperState
from supple.method.state import FullState
from supple.solve.forces import external_force
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["Settings", "Step", "Steps"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """The parameters of [KJ09], lengths in units of the body's longest side."""

    error: float
    """τ_error."""
    discard: float
    """τ_discard."""
    max_rank: int
    """r_max."""
    throttle: float
    """τ_dyn or τ_quasi."""


@dataclass(frozen=True, eq=False)
class Step:
    """One step to take."""

    inputs: Inputs
    grower: Grower
    throttle: float
    """τ_dyn or τ_quasi as it is now."""
    watch: Stopwatch


class Steps:
    """Takes full steps by the full solver, and reduced ones in what was learned."""

    def __init__(self, body: Body, full: FullSolver, integrator: str, newton_tolerance: float) -> None:
        self.body, self.full = body, full
        self._integrator, self._tolerance = integrator, newton_tolerance
        self._made: tuple[Learned, LearnedModel] | None = None

    def model(self, learned: Learned) -> LearnedModel:
        """The model of what was learned; the last one is kept."""
        if self._made is None or self._made[0] is not learned:
            self._made = learned, LearnedModel(self.body, learned, self._integrator, self._tolerance)
        return self._made[1]

    def load(self, state: PaperState, inputs: Inputs) -> FloatArray:
        """Forces on the vertices at the end of a step [N], (n, 3)."""
        return external_force(state.live.forces(inputs.end.forces), self.body.mass)

    def take_reduced(self, learned: Learned, motion: FloatArray, state: PaperState, inputs: Inputs) -> Arrival | None:
        """A subspace time step; None where Newton's method fails."""
        model = self.model(learned)
        return model.step(motion, self.load(state, inputs), inputs.duration, model.elastic(motion[0]))

    def project(self, learned: Learned, state: FullState) -> FloatArray:
        """Uᵀ [u u̇ ü], (3, r)."""
        return self.model(learned).project(state.x, state.v, state.a)

    def lift(self, state: PaperState) -> FullState:
        """The motion of every vertex, U [q q̇ q̈] in a subspace."""
        if state.full is not None:
            return state.full
        assert state.learned is not None
        assert state.motion is not None
        q, v, a = state.motion
        basis = state.learned.basis
        return FullState(state.time, self.model(state.learned).positions(q), basis.lift(v), basis.lift(a), state.live)

    def may_touch(self, state: PaperState, x: FloatArray, inputs: Inputs) -> bool:
        """Whether anything may be touched in a step that ends at x [m], (n, 3): such steps are full."""
        return self.full.is_touchable and self.full.foresee_contacts(self.lift(state), x, inputs) > 0
