"""Algorithms 3 and 4 of [KJ09]: every static step is tried in the subspace, and kept where forces at a few sampled
vertices balance as well as they did in steps that were known to be right.

Corrected: the residual is that of the accepted state, internal and external forces; with no basis the step is full,
where line 6 as printed compares zero with zero.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Pins, elastic_gradient
from supple.method.skipping.model import Arrival
from supple.method.skipping.paper_state import PaperState
from supple.method.skipping.paper_steps import Settings, Step, Steps, pose_of
from supple.method.solver import Report, Skip

__all__ = ["QuasistaticIntegrator", "SampledForces"]

FloatArray = NDArray[np.float64]
_SHARE = 400  # of the vertices one is a sample, as in the authors' code


class SampledForces:
    """Algorithm 3: elastic forces at random vertices, from the elements around them alone."""

    def __init__(self, body: Body, pins: Pins, count: int) -> None:
        """`count` of the vertices that pins leave free, or all of them."""
        free = np.setdiff1d(np.arange(len(body.mass)), pins.vertices)
        drawn = np.random.default_rng(0).permutation(free)[: max(count, len(free) // _SHARE)]
        self.vertices = np.sort(drawn)
        """The samples."""
        ring = np.asarray(np.isin(body.mesh.tets, self.vertices).any(axis=1))
        self.needed = np.unique(body.mesh.tets[ring])
        """Vertices whose positions their forces depend on."""
        tets = np.searchsorted(self.needed, body.mesh.tets).astype(np.int32)
        self._places = np.searchsorted(self.needed, self.vertices)
        parts = []
        for part in body.parts:
            ids = np.sort(part.ids[ring[part.ids]])
            if len(ids):
                parts.append(part.renumbered(body.mesh.vertices[self.needed], tets, ids))
        self._parts = tuple(parts)

    def residual(self, x: FloatArray, load: FloatArray, stiffness: float) -> float:
        """Root mean square [N] of what elastic forces at positions x [m] of the `needed` leave of loads [N] at the
        samples, (k, 3)."""
        pulled = stiffness * elastic_gradient(self._parts, x)[self._places]
        return float(np.sqrt(np.mean((load - pulled) ** 2)))


class QuasistaticIntegrator:
    """Algorithm 4."""

    def __init__(self, steps: Steps, settings: Settings) -> None:
        self._steps, self._settings, self._body = steps, settings, steps.body
        self._sampled: tuple[bytes, SampledForces] | None = None

    def step(self, state: PaperState, step: Step) -> tuple[PaperState, Report]:
        """The state at the end of a step."""
        tried = state.grown.learned is not None and not self._is_held(state)
        if tried:  # line 3
            with step.watch.phase("step"):
                end = self._take_reduced(state, step)  # line 4
            if end is not None:
                with step.watch.phase("check"):
                    residual = self._estimate_residual(state, end, step)  # line 5
                if residual <= step.throttle * state.upper:  # line 6
                    return self._accept(state, end, step, residual)
        return self._take_full(state, step, tried)

    def _is_held(self, state: PaperState) -> bool:
        """Whether the user holds the body otherwise than its subspace knows."""
        changed = len(state.live.added.vertices) + len(state.live.released.vertices) > 0
        return len(state.live.grabs) > 0 or (len(state.pose) > 0 and changed)

    def _take_reduced(self, state: PaperState, step: Step) -> Arrival | None:
        learned = state.grown.learned
        assert learned is not None
        motion = state.motion if state.learned is learned else None
        if motion is None:
            motion = self._steps.project(learned, self._steps.lift(state), step.inputs.begin)
        end = self._steps.take_reduced(learned, motion, state, step.inputs)
        if end is None or self._steps.may_touch(learned, state, end, step.inputs):
            return None
        return end

    def _estimate_residual(self, state: PaperState, end: Arrival, step: Step) -> float:
        """Algorithm 3 at the end of a reduced step [N]."""
        assert state.grown.learned is not None
        forces = self._samples(state)
        load = self._steps.load(state, step.inputs)[forces.vertices]
        model = self._steps.models.of(state.grown.learned, pose_of(step.inputs.end))
        x = model.positions(end.motion[0], forces.needed)
        return forces.residual(x, load, state.live.stiffness)

    def _samples(self, state: PaperState) -> SampledForces:
        if self._sampled is None or self._sampled[0] != state.situation:
            pins = state.live.pins(self._body.pins)
            self._sampled = state.situation, SampledForces(self._body, pins, self._settings.max_rank)
        return self._sampled[1]

    def _accept(self, state: PaperState, end: Arrival, step: Step, residual: float) -> tuple[PaperState, Report]:
        """Lines 18, 19. The error is taken to grow as the residual does."""
        learned = state.grown.learned
        assert learned is not None
        pose = pose_of(step.inputs.end)
        grown = step.grower.remember(state.grown, end.motion[0], pose)
        estimate = self._settings.error * residual / state.upper if state.upper > 0.0 else 0.0
        new = replace(
            state, time=step.inputs.end.time, grown=grown, full=None, learned=learned, motion=end.motion,
            pose=pose, estimate=estimate,
        )  # fmt: skip
        skip = Skip(checked=True, rank=grown.rank, elements=learned.rule.size)
        return new, Report(
            step.watch.finish(), end.iterations, kind="reduced", full_share=0.0, estimated_error=estimate,
            residual=end.residual, skip=skip,
        )  # fmt: skip

    def _take_full(self, state: PaperState, step: Step, tried: bool) -> tuple[PaperState, Report]:
        """Lines 7 to 16, 19."""
        begin, grower, watch, upper = self._steps.lift(state), step.grower, step.watch, state.upper
        end, report = self._steps.full.step(begin, step.inputs)  # line 8
        with watch.phase("learning"):
            pose = pose_of(step.inputs.end)
            grown, _ = grower.modify(state.grown, grower.displacement(end.x, pose), pose)  # line 9
        trained = grown.learned is not state.grown.learned
        with watch.phase("shadow"):
            if grown.learned is not None:
                motion = self._steps.project(grown.learned, begin, step.inputs.begin)  # line 10
                shadow = self._steps.take_reduced(grown.learned, motion, state, step.inputs)  # line 11
                q = self._steps.project(grown.learned, end, step.inputs.end)[0] if shadow is None else shadow.motion[0]
                if shadow is not None and report.touching is None and not self._is_held(state):
                    x = self._steps.models.of(grown.learned, pose).positions(q)
                    if grower.rms(end.x - x) < self._settings.error:  # lines 12, 13
                        upper = max(upper, self._residual(state, x, step))  # lines 14 to 16
                grown = grower.remember(grown, q, pose)  # line 19
        new = replace(
            state,
            time=end.time,
            grown=grown,
            full=end,
            learned=None,
            motion=None,
            pose=pose,
            live=end.live,
            upper=upper,
        )
        skip = Skip(rejected=tried, learned=trained, rank=grown.rank)
        return new, replace(report, milliseconds={**report.milliseconds, **watch.finish()}, skip=skip)

    def _residual(self, state: PaperState, x: FloatArray, step: Step) -> float:
        """Root mean square [N] of f + f_ext over the unknowns at positions x [m], (n, 3)."""
        increment, system = self._steps.full.formulate(self._steps.lift(state), step.inputs)
        return float(np.sqrt(np.mean(np.delete(increment.gradient(x), system.map.locked) ** 2)))
