"""Algorithms 5 and 6 of [KJ09]: steps of a moving body are skipped as many times in a row as its last full step allows.

Corrected: the error column of Algorithm 5 has the sign and the size of a displacement; line 7 stands outside the
condition of line 4, within which the first column would never be added; s_max is a whole number; the column that is
lent to see errors does not count among r_max.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import elastic_gradient
from supple.linalg.direct import NotPositiveDefinite
from supple.method.skipping.factor import OldFactor
from supple.method.skipping.paper_state import PaperState
from supple.method.skipping.paper_steps import Settings, Step, Steps
from supple.method.solver import Report, Skip
from supple.method.state import FullState

__all__ = ["DynamicIntegrator"]

FloatArray = NDArray[np.float64]
_MOST = 1_000_000  # steps in a row, where nothing at all was left outside the basis
_NONE = np.zeros(0)  # pose: rigs move static bodies alone
_PROBE = 1e-3  # of the longest side: how far the body is moved along its velocity to see forces change


class DynamicIntegrator:
    """Algorithm 6."""

    def __init__(self, steps: Steps, settings: Settings) -> None:
        self._steps, self._settings, self._body = steps, settings, steps.body

    def step(self, state: PaperState, step: Step) -> tuple[PaperState, Report]:
        """The state at the end of a step."""
        if state.motion is not None:
            with step.watch.phase("step"):
                reached = self._take_reduced(state, step)
            if reached is not None:
                return reached
            state = replace(state, full=self._steps.lift(state), motion=None, learned=None, left=True)
        return self._take_full(state, step)

    def _take_full(self, state: PaperState, step: Step) -> tuple[PaperState, Report]:
        """Lines 3 to 15."""
        begin, grown, grower, watch = self._steps.lift(state), state.grown, step.grower, step.watch
        end, report = self._steps.full.step(begin, step.inputs)  # line 3
        error = np.inf
        with watch.phase("shadow"):
            if grown.learned is not None and not state.live.grabs and report.touching is None:
                motion = self._steps.project(grown.learned, begin, step.inputs.begin)
                shadow = self._steps.take_reduced(grown.learned, motion, state, step.inputs)  # line 5
                if shadow is not None:
                    wrong = grower.rms(end.v - grown.learned.basis.lift(shadow.motion[1]))  # line 6
                    error = wrong / max(grower.rms(end.v), np.finfo(float).tiny)
        with watch.phase("learning"):
            u = grower.displacement(end.x, _NONE)
            grown, beside = grower.modify(grown, u, _NONE)  # line 7
        trained = grown.learned is not state.grown.learned
        learned, allowed = None, 0
        if error < self._settings.error:  # line 8
            allowed = int(step.throttle * min(_MOST, self._settings.discard // max(beside, 1e-300)))  # line 9, Eq. (7)
        if allowed > 0:  # line 10
            with watch.phase("error column"):
                d = self._compute_error_vector(begin, end, step)  # line 11
                learned = (
                    None if d is None else grower.with_error_column(grown, d, u, _NONE)
                ) or grown.learned  # line 12
        reduced = None
        if grown.learned is not None:  # line 15
            reduced = self._steps.project(learned or grown.learned, end, step.inputs.end)
            grown = grower.remember(grown, reduced[0], _NONE)  # line 23
        skip = Skip(rejected=state.left, learned=trained, rank=grown.rank, elements=learned.rule.size if learned else 0)
        new = replace(
            state, time=end.time, grown=grown, full=end if learned is None else None, learned=learned,
            motion=None if learned is None else reduced, live=end.live, taken=0, allowed=allowed, left=False,
        )  # fmt: skip
        return new, replace(report, milliseconds={**report.milliseconds, **watch.finish()}, skip=skip)

    def _take_reduced(self, state: PaperState, step: Step) -> tuple[PaperState, Report] | None:
        """Lines 17 to 22; None where a full step must be taken at once."""
        learned, motion, grower = state.learned, state.motion, step.grower
        assert learned is not None
        assert motion is not None
        if state.live.grabs:
            return None
        end = self._steps.take_reduced(learned, motion, state, step.inputs)  # line 17
        if end is None or self._steps.may_touch(learned, state, end, step.inputs):
            return None
        grown, taken = grower.remember(state.grown, end.motion[0], _NONE), state.taken + 1  # lines 19, 23
        has_column = learned.basis.rank > grown.rank
        estimate = grower.coordinate_rms(float(end.motion[0][-1])) if has_column else 0.0
        new = replace(state, time=step.inputs.end.time, grown=grown, motion=end.motion, taken=taken, estimate=estimate)
        if estimate > self._settings.error or taken >= state.allowed:  # lines 20 to 22
            left = estimate > self._settings.error
            new = replace(new, full=self._steps.lift(new), motion=None, learned=None, left=left)
        skip = Skip(rank=grown.rank, elements=learned.rule.size)
        return new, Report(
            step.watch.finish(), end.iterations, kind="reduced", full_share=0.0, estimated_error=estimate,
            residual=end.residual, skip=skip,
        )  # fmt: skip

    def _compute_error_vector(self, begin: FullState, end: FullState, step: Step) -> FloatArray | None:
        """Algorithm 5: how far the next step ends from a step with today's stiffness, -½ h² A⁻¹ (H : u̇) u̇ [m], (n, 3).

        Elastic forces at u + h u̇ differ from linear ones by -½ h² (H : u̇) u̇, which A, the matrix of the last full step,
        answers. The paper prints neither the sign nor the factor; the state u + d that elements are trained at needs
        both. None for a body at rest, and where A has no factor.
        """
        speed = step.grower.rms(end.v)
        increment, system = self._steps.full.formulate(begin, step.inputs)
        if not speed > 0.0 or not system.unknowns:
            return None
        along = (_PROBE / speed) * end.v
        before, now, after = (elastic_gradient(increment.parts, end.x + sign * along) for sign in (-1.0, 0.0, 1.0))
        change = before - 2.0 * now + after  # line 2, exact where forces are cubic
        matrix = np.empty(system.map.pattern.nonzeros)
        increment.stiffen(end.x, matrix, project=True)
        d = np.zeros_like(end.x)
        try:
            factor = OldFactor(system, self._body.mass)
            d[system.map.free] = factor.solve(matrix, system.map.unknowns(change)).reshape(-1, 3)  # line 4
        except NotPositiveDefinite:
            return None
        return -0.5 * (step.inputs.duration * speed / _PROBE) ** 2 * d
