"""What both integrators of [KJ09] need: full and reduced steps of one body, beside each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.method.full.solver import FullSolver
from supple.method.skipping.carried import CarriedModels, Carrier
from supple.method.skipping.model import Arrival, Learned
from supple.method.skipping.paper_basis import Grower
from supple.method.skipping.paper_state import PaperState
from supple.method.state import FullState
from supple.solve.forces import external_force
from supple.solve.inputs import Inputs, Moment
from supple.solve.stopwatch import Stopwatch

__all__ = ["Settings", "Step", "Steps", "pose_of"]

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


def pose_of(moment: Moment) -> FloatArray:
    """(p,), or (0,) where there is no rig."""
    return np.zeros(0) if moment.pose is None else np.asarray(moment.pose, np.float64)


class Steps:
    """Takes full steps by the full solver, and reduced ones in what was learned."""

    def __init__(self, carrier: Carrier, full: FullSolver, models: CarriedModels) -> None:
        self.carrier, self.body, self.full, self.models = carrier, carrier.body, full, models

    def load(self, state: PaperState, inputs: Inputs) -> FloatArray:
        """Forces on the vertices at the end of a step [N], (n, 3)."""
        return external_force(state.live.forces(inputs.end.forces), self.body.mass)

    def take_reduced(self, learned: Learned, motion: FloatArray, state: PaperState, inputs: Inputs) -> Arrival | None:
        """A subspace time step; None where Newton's method fails."""
        model = self.models.of(learned, pose_of(inputs.end))
        return model.step(motion, self.load(state, inputs), inputs.duration, model.elastic(motion[0]))

    def project(self, learned: Learned, state: FullState, moment: Moment) -> FloatArray:
        """Uᵀ [u u̇ ü], (3, r), of a state at a moment."""
        pins, basis = state.live.pins(self.body.pins), learned.basis
        u = self.carrier.displacement(state.x, pose_of(moment), pins) - learned.offset
        return np.array([basis.project(field) for field in (u, state.v, state.a)])

    def lift(self, state: PaperState) -> FullState:
        """The motion of every vertex, U [q q̇ q̈] in a subspace."""
        if state.full is not None:
            return state.full
        assert state.learned is not None
        assert state.motion is not None
        (q, v, a), basis = state.motion, state.learned.basis
        x = self.models.of(state.learned, state.pose).positions(q)
        return FullState(state.time, x, basis.lift(v), basis.lift(a), state.live)

    def may_touch(self, learned: Learned, state: PaperState, end: Arrival, inputs: Inputs) -> bool:
        """Whether anything may be touched on the way to the end of a reduced step: such steps are full."""
        if not self.full.is_touchable:
            return False
        x = self.models.of(learned, pose_of(inputs.end)).positions(end.motion[0])
        return self.full.foresee_contacts(self.lift(state), x, inputs) > 0
