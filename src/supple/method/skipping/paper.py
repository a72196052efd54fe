"""Skipping steps as [KJ09] prints it, corrected only where it could not run: a yardstick, not the default.

All lengths and their thresholds are in units of the body's longest side, as the paper's meshes fill the unit cube.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SceneError
from supple.method.checks import check_settings, check_skipping, check_step, refuse_other_pins
from supple.method.full.solver import FullSolver
from supple.method.measured import Measured, measure_body
from supple.method.skipping.carried import CarriedModels, Carrier
from supple.method.skipping.paper_basis import Grower, Grown
from supple.method.skipping.paper_dynamic import DynamicIntegrator
from supple.method.skipping.paper_state import PaperState, pack_paper, unpack_paper
from supple.method.skipping.paper_static import QuasistaticIntegrator
from supple.method.skipping.paper_steps import Settings, Step, Steps, pose_of
from supple.method.solver import Arrays, Report, Skip
from supple.method.state import FullState
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["PaperSkippingSolver"]

FloatArray = NDArray[np.float64]
_ERROR = {"static": 5e-3}  # τ_error of the paper's head; of its beam below
_DISCARD = {"static": 1e-3}
_DYNAMIC = 1e-2


class PaperSkippingSolver:
    """Static, implicit Euler or Newmark steps of a body whose pins do not move, skipped by the paper's estimators."""

    name = "skipping"

    def __init__(
        self,
        body: Body,
        *,
        integrator: str = "implicit_euler",
        tolerance: float | None = None,
        discard: float | None = None,
        throttle: float = 1.0,
        max_rank: int = 20,
        newton_tolerance: float = 1e-4,
        linear_solver: str = "auto",
        max_iterations: int | None = None,
        time_step: float = 0.01,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        rig: SkinnedRig | None = None,
    ) -> None:
        """`tolerance`: τ_error; `discard`: τ_discard; both the paper's where None. `throttle`: τ_dyn or τ_quasi.

        The other settings are those of `FullSolver`. Pins follow the bones of `rig`, which moves static bodies alone.
        """
        error = _ERROR.get(integrator, _DYNAMIC) if tolerance is None else tolerance
        discard = _DISCARD.get(integrator, _DYNAMIC) if discard is None else discard
        check_skipping(error, throttle)
        check_settings(body, integrator, newton_tolerance, contact)
        if not (np.isfinite(discard) and 0.0 < discard < 1.0):
            raise SceneError(f"a discard of {discard:g} is no share of a displacement: give one between 0 and 1.")
        if max_rank < 2:
            raise SceneError(f"a max_rank of {max_rank} leaves nothing when the basis is halved: give 2 or more.")
        if rig is not None and integrator != "static":
            raise SceneError(
                'estimator = "paper" skips steps of a body with a [rig] in statics alone: use integrator = "static".'
            )
        self.body, self.settings, self.tolerance = body, Settings(error, discard, max_rank, throttle), error
        self.is_static = integrator == "static"
        self._full = FullSolver(
            body, integrator=integrator, tolerance=newton_tolerance, linear_solver=linear_solver,
            max_iterations=max_iterations, time_step=time_step, colliders=colliders, contact=contact, rig=rig,
        )  # fmt: skip
        self._rig, self._carrier = rig, Carrier(body, rig)
        models = CarriedModels(self._carrier, integrator, newton_tolerance)
        self._steps = Steps(self._carrier, self._full, models)
        algorithm = QuasistaticIntegrator if self.is_static else DynamicIntegrator
        self._integrator: QuasistaticIntegrator | DynamicIntegrator = algorithm(self._steps, self.settings)
        self._grower: tuple[bytes, Grower] | None = None

    def start(self, inputs: Inputs | None = None) -> PaperState:
        state = self._begin(self._full.start(inputs))
        if inputs is None or self._rig is None:
            return state
        refuse_other_pins(self.body, self._rig, inputs.begin, pose_of(inputs.begin))
        return replace(state, pose=pose_of(inputs.begin))

    def step(self, state: PaperState, inputs: Inputs) -> tuple[PaperState, Report]:
        check_step(inputs, self.body.pins)
        if inputs.events:
            state = self._relive(state, inputs)
            inputs = replace(inputs, events=())
        throttle = self.settings.throttle * state.live.throttle
        if not throttle * self.settings.error > 0.0:
            full, report = self._full.step(self._lift(state), inputs)
            state = replace(state, time=full.time, full=full, learned=None, motion=None, live=full.live)
            return state, replace(report, skip=Skip())
        state, grower = self._enter(state, inputs)
        return self._integrator.step(state, Step(inputs, grower, throttle, Stopwatch()))

    def positions(self, state: PaperState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        if state.full is not None:
            return self._full.positions(state.full, vertices)
        assert state.learned is not None
        assert state.motion is not None
        return self._steps.models.of(state.learned, state.pose).positions(state.motion[0], vertices)

    def to_full(self, state: PaperState) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._full.to_full(self._lift(state))

    def measure(self, state: PaperState, inputs: Inputs) -> Measured:
        x, v, _ = self.to_full(state)
        return measure_body(self.body, x, v, state.live.forces(inputs.end.forces), state.live.stiffness)

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> PaperState:
        return self._begin(self._full.from_full(x, v, a, time))

    def pack(self, state: PaperState) -> dict[str, NDArray[np.generic]]:
        return pack_paper(state)

    def unpack(self, arrays: Arrays) -> PaperState:
        return unpack_paper(arrays, self.body.mass)

    def describe(self) -> list[str]:
        s = self.settings
        return [
            *self._full.describe(),
            f"steps are skipped as [KJ09] prints it: error {s.error:g} and discard {s.discard:g} of the body's "
            f"longest side, at most {s.max_rank} coordinates, throttle {s.throttle:g}",
        ]

    def _begin(self, full: FullState) -> PaperState:
        return PaperState(full.time, full=full, live=full.live)

    def _lift(self, state: PaperState) -> FullState:
        return self._steps.lift(state)

    def _relive(self, state: PaperState, inputs: Inputs) -> PaperState:
        """The state after events."""
        live = state.live.after(inputs.events, self.positions(state))
        return replace(state, live=live, full=None if state.full is None else replace(state.full, live=live))

    def _enter(self, state: PaperState, inputs: Inputs) -> tuple[PaperState, Grower]:
        """The state with a basis for the pins and the stiffness of a step, and what grows it.

        Other pins, pins elsewhere or another stiffness forget all: the paper knows none of that.
        """
        live, rest = state.live, self.body.mesh.vertices
        pins = live.pins(self.body.pins)
        offset = np.zeros_like(rest)
        if self._rig is None:
            offset = live.place(rest, self.body.pins, inputs.end.targets) - rest
        now = np.float64(live.stiffness).tobytes() + pins.vertices.tobytes() + pins.held.tobytes()
        now += offset[pins.vertices].tobytes()
        if self._grower is None or self._grower[0] != now:
            grower = Grower(
                self._carrier, pins, max_rank=self.settings.max_rank, discard=self.settings.discard,
                offset=offset, stiffness=live.stiffness,
            )  # fmt: skip
            self._grower = now, grower
        if now != state.situation:
            state = replace(
                state, grown=Grown(), situation=now, full=self._lift(state), learned=None, motion=None, upper=0.0
            )
        return state, self._grower[1]
