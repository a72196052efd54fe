"""What a check that has found the full step is good for: where a static step ends, and a better subspace."""

from dataclasses import replace

import numpy as np

from supple.method.skipping.deciding import next_check
from supple.method.skipping.framed import FramedSteps
from supple.method.skipping.learning import FullStep, Learner
from supple.method.skipping.state import Memory, SkippingState
from supple.method.skipping.still import StillSteps, Taken
from supple.method.solver import Report, Skip
from supple.solve.stopwatch import Stopwatch

__all__ = ["LEFT", "Correcting"]

LEFT = 0.1  #: share of the tolerance that corrections of a check may leave


class Correcting:
    """Goes on from where checks have found full steps."""

    def __init__(self, learner: Learner, steps: StillSteps | FramedSteps) -> None:
        self._learner, self._steps = learner, steps

    def settle(
        self, state: SkippingState, memory: Memory, step: FullStep, taken: Taken, estimate: float,
        when: tuple[int, bool], watch: Stopwatch,
    ) -> tuple[SkippingState, Report]:  # fmt: skip
        """A static step with the end that a check has found in full space, from where reduced ones go on.

        Where the reduced one would have been refused, it is a full step.
        """
        (since, jumps), (inputs, tolerance) = when, (step.inputs, step.tolerance)
        refused, renewed = not estimate <= step.measure.refused * tolerance, None
        with watch.phase("learning"):
            memory = self._learner.remember(memory, step)
            if self._learner.is_worn(memory, step, estimate, state.skipped):
                memory, renewed = self._learner.renew(memory, step, state.skipped)
            learned = memory.learned if renewed is None else renewed
            assert learned is not None
            full = replace(step.end, time=inputs.end.time, v=np.zeros_like(step.end.x), a=np.zeros_like(step.end.x))
            assert isinstance(self._steps, StillSteps)
            learned, entry = self._steps.settle(learned, step.begin.x, full, step.load, inputs)
        memory, left = replace(memory, learned=learned, basis=learned.basis), LEFT * tolerance
        interval = next_check(
            state.estimate, estimate, 1 if jumps or refused else state.interval, since,
            step.measure.refused * tolerance, True, left=left,
        )  # fmt: skip
        new = replace(
            state, time=full.time, full=entry.full, motion=entry.motion, elastic=entry.elastic,
            defect=entry.defect, scale=step.measure.scale, since=0, interval=interval, skipped=state.skipped + 1,
            memory=memory, estimate=left,
        )  # fmt: skip
        skip = Skip(
            checked=not refused, corrected=True, learned=renewed is not None, rejected=refused, rank=learned.basis.rank,
            elements=learned.rule.size,
        )  # fmt: skip
        return new, Report(
            watch.finish(), taken.iterations, kind="full" if refused else "reduced", full_share=1.0 if refused else 0.0,
            estimated_error=estimate, residual=taken.residual, skip=skip,
        )  # fmt: skip

    def renew(
        self, state: SkippingState, memory: Memory, step: FullStep, estimate: float
    ) -> tuple[Memory, SkippingState | None]:
        """The memory after a check has found a full step, and the state at its beginning in a better subspace, where
        one is due and repeats that step."""
        memory = self._learner.remember(memory, step)
        if not self._learner.is_worn(memory, step, estimate, state.skipped):
            return memory, None
        memory, learned = self._learner.renew(memory, step, state.skipped)
        if learned is None:
            return memory, None
        entry = self._steps.enter(learned, step.begin, replace(step.inputs, end=step.inputs.begin))
        memory = replace(memory, learned=learned, basis=learned.basis)
        return memory, replace(
            state, memory=memory, full=entry.full, motion=entry.motion, elastic=entry.elastic, defect=None
        )  # fmt: skip
