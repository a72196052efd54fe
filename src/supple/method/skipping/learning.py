"""What full steps teach: is the last one held by the subspace of those before, and does a model repeat it?"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.method.skipping.carried import Carrier
from supple.method.skipping.deciding import Refusal
from supple.method.skipping.framed import FramedSteps
from supple.method.skipping.measure import Measure, rms
from supple.method.skipping.model import Kept, Learned, rest_of
from supple.method.skipping.state import Memory, Progress
from supple.method.skipping.still import StillSteps
from supple.method.skipping.training import Lesson, train
from supple.method.state import FullState
from supple.solve.inputs import Inputs, Moment
from supple.subspace import Basis
from supple.subspace.responses import even_responses, extend
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.window import Window

__all__ = ["FullStep", "Learner"]

FloatArray = NDArray[np.float64]
_PASSES, _PASSES_RINGING = 2, 3  # steps in a row that the basis of before must hold; more where what it does rings on
_SURE = 0.5  # of the tolerance: a basis that barely holds one step does not hold the next ones
_FEWEST, _FEWEST_STATIC, _FEWEST_RINGING = 10, 6, 40  # full steps before a basis is made
_STALE, _PATIENCE = 3, 10  # failed steps after which it is made again, and the share of all failed ones that is more
_LOOKS = 40  # full steps in a row that are all looked at, then every second, every third ...
_WORTH = 1e5, 4, 20  # full steps that a training costs times unknowns, and bounds: as many reduced steps pay for it
_USUAL, _DEAREST = 300, 60  # elements of a rule that costs as much (ones of 1,000 took six times as long), and a bound
_PAUSES = 4, 6.4  # full steps between trainings that do not pay, at least and at most as many as so many of them cost
_WORN = 0.5  # of the tolerance: an error from which on a better subspace is looked for
_TAUGHT = 2  # full steps that checks have found before it is
_KEPT = 4  # bases with their rules that are remembered
_FIRST, _GROWS, _UNHELD = 45, 4 / 3, 20  # rank, how it grows where it is too small, and for how many full steps it is
_CHEAP = 50.0, 90  # cube of the rank over the unknowns up to which steps are cheap, and a rank up to which rules are
_SHAPES, _APART = 7, 5  # whose responses are remembered: so many full steps apart, or such a part of all
_FEWEST_PUSHED = 1_000  # unknowns from which on they are looked for


class FullStep(NamedTuple):
    """A full step to learn from."""

    begin: FullState
    end: FullState
    inputs: Inputs
    load: FloatArray
    """Forces on the vertices at its end [N], (n, 3)."""
    measure: Measure
    tolerance: float
    settled: bool = True
    """Whether it begins in full space too."""


class Learner:
    """Learns the motion of a body; what it has learned is in the memory of a state."""

    def __init__(
        self, carrier: Carrier, steps: StillSteps | FramedSteps, integrator: str, max_rank: int | None
    ) -> None:
        """`max_rank`: largest rank of a subspace; where None, as large as reduced steps are cheap beside full ones."""
        self._carrier, self._body, self._steps = carrier, carrier.body, steps
        self._integrator, rings = integrator, integrator == "newmark"
        self._passes, self._fewest = (_PASSES_RINGING, _FEWEST_RINGING) if rings else (_PASSES, _FEWEST)
        if integrator == "static":
            self._fewest = _FEWEST_STATIC
        cheap = int(np.cbrt(_CHEAP[0] * 3 * len(carrier.body.mass)))
        self.max_rank = int(np.clip(cheap, _FIRST, _CHEAP[1])) if max_rank is None else max_rank
        self._responds = max_rank is None and steps.corrects and 3 * len(carrier.body.mass) >= _FEWEST_PUSHED
        self._usual = _WORTH[0] / (3 * len(carrier.body.mass))
        self._worth = int(np.clip(self._usual, *_WORTH[1:]))
        self._rest: tuple[bytes, RestStiffness] | None = None

    def observe(self, memory: Memory, step: FullStep) -> Memory:
        """The memory after a full step, tested with the basis of before.

        Looking costs some share of a full step: in long stretches of them ever fewer are looked at, until one is held.
        """
        progress, basis = memory.progress, memory.basis
        held = progress.passes or progress.known
        if not held and progress.failing % (1 + progress.failing // _LOOKS):
            late = progress._replace(
                failing=progress.failing + 1, stale=progress.stale + 1, wait=max(0, progress.wait - 1)
            )
            return replace(memory, progress=late)
        pose, u = self._carrier.pose(step.inputs.end), self.displacement(step.end, step.inputs.end)
        holds = basis is not None and self._holds(basis, step)
        known = any(self._holds(kept.basis, step) for kept in memory.kept if not kept.tried)
        window = memory.window.appended(u, pose)
        failing, stale = progress.failing + 1, 0 if holds else progress.stale + 1
        overdue = stale >= max(_STALE, failing // _PATIENCE)  # seldom where the motion is too rich for any subspace
        rank = self._rank(progress)
        if len(window) >= self._fewest and (basis is None or overdue):
            if basis is not None and basis.rank >= rank and failing >= _UNHELD:
                rank = min(self.max_rank, int(_GROWS * rank))
            basis, stale = self._basis(window, memory, rank), 0
        progress = progress._replace(
            passes=progress.passes + 1 if holds else 0, known=progress.known + 1 if known else 0, failing=failing,
            stale=stale, wait=max(0, progress.wait - 1), rank=rank,
        )  # fmt: skip
        return self._respond(replace(memory, window=window, basis=basis, progress=progress), step, u)

    def _basis(self, window: Window, memory: Memory, rank: int) -> Basis:
        """Principal components of a window, and what responses add to them."""
        basis = window.principal(rank)
        if not memory.responses:
            return basis
        return extend(basis, np.concatenate(memory.responses, axis=1), basis.rank + 3 * _SHAPES)

    def _respond(self, memory: Memory, step: FullStep, u: FloatArray) -> Memory:
        """The memory with responses about the displacement u [m], (n, 3), if the last ones are long ago."""
        progress = memory.progress
        if not self._responds or progress.failing - progress.pushed < max(_SHAPES, progress.failing // _APART):
            return memory
        new = even_responses(self._body.pinned(step.end.live.pins(self._body.pins)), u)
        progress = progress._replace(pushed=progress.failing)
        return replace(memory, progress=progress, responses=(*memory.responses, new)[-_SHAPES:])

    def judge(self, memory: Memory, estimate: float, tolerance: float) -> Memory:
        """The memory after a check: where the error is small, the last training was worth it."""
        if estimate > _WORN * tolerance or not memory.progress.enough:
            return memory
        return replace(memory, progress=memory.progress._replace(enough=0))

    def remember(self, memory: Memory, step: FullStep) -> Memory:
        """The memory with a full step that a check has found: what the subspace lacks, for the next."""
        window = memory.window.appended(
            self.displacement(step.end, step.inputs.end), self._carrier.pose(step.inputs.end)
        )
        return replace(memory, window=window, progress=memory.progress._replace(taught=memory.progress.taught + 1))

    def is_worn(self, memory: Memory, step: FullStep, estimate: float, skipped: int) -> bool:
        """Whether checks have taught enough for a subspace better than the one that shows such an error in a step, and
        that has paid in so many reduced ones.

        In statics alone: in motion, what a poor subspace did goes on ringing, and no other holds it much better. One
        as large as may be would forget as much as it learned.
        """
        used, progress = memory.learned, memory.progress
        if self._integrator != "static" or used is None or used.basis.rank >= self.max_rank:
            return False
        if skipped - progress.renewed < self._worth:
            return False
        fewest = 1 if estimate > step.measure.refused * step.tolerance else _TAUGHT
        return estimate > _WORN * step.tolerance and progress.taught >= max(fewest, progress.enough)

    def renew(self, memory: Memory, step: FullStep, skipped: int) -> tuple[Memory, Learned | None]:
        """The memory after something new was learned about the beginning of a full step, so many reduced ones after the
        last; and that, if it repeats the step. Until it proves worth it, the next time asks for twice as much to have
        been taught."""
        progress, rank = memory.progress, self._rank(memory.progress)
        if memory.learned is not None and memory.learned.basis.rank >= rank:
            rank = min(self.max_rank, int(_GROWS * rank))
        progress = progress._replace(taught=0, enough=2 * max(_TAUGHT, progress.enough), rank=rank, renewed=skipped)
        new, repeats = self.train(replace(memory, progress=progress), step._replace(settled=False))
        if not repeats or new.learned is None:
            return replace(memory, progress=progress), None
        u = self.displacement(step.begin, step.inputs.begin)
        return new, Kept(new.learned.basis, new.learned.rule).about(u, new.learned.stiffness)

    def is_due(self, memory: Memory) -> bool:
        """Whether it is time to train a model."""
        return memory.progress.passes >= self._passes and memory.progress.wait == 0

    def recall(self, memory: Memory, step: FullStep) -> Memory | None:
        """The memory with what was kept that holds and repeats a full step, if there is any."""
        if memory.progress.known < self._passes or memory.progress.wait:
            return None
        step = step._replace(tolerance=_SURE * step.tolerance)
        u = self.displacement(step.end, step.inputs.end)
        for kept in reversed(memory.kept):
            if not kept.tried and self._holds(kept.basis, step):
                learned = kept.about(u, step.end.live.stiffness)
                if self._repeats(learned, step):
                    others = (one for one in memory.kept if one is not kept)
                    return replace(
                        memory, learned=learned, basis=learned.basis, kept=(*others, kept._replace(tried=True)),
                        progress=memory.progress._replace(recalled=1),
                    )  # fmt: skip
        return None

    def train(self, memory: Memory, step: FullStep) -> tuple[Memory, bool]:
        """The memory with something new learned, and whether that repeats a full step; a wait where there is nothing to
        learn yet."""
        end, used = step.end, memory.learned
        lesson = Lesson(
            memory.window, self._basis(memory.window, memory, self._rank(memory.progress)),
            self._stiffness(end.live.pins(self._body.pins)), step.tolerance, self._steps.corrects,
            None if used is None else used.rule,
        )  # fmt: skip
        new = train(lesson, self._carrier)
        if new is None:  # the wait does not grow: a contact may deform the body in the next step
            progress = memory.progress._replace(passes=0, known=0, wait=_PAUSES[0])
            return replace(memory, progress=progress), False
        learned = new.about(self.displacement(end, step.inputs.end), end.live.stiffness)
        kept = (*(one._replace(tried=False) for one in memory.kept), new)
        memory = replace(
            memory, learned=learned, basis=learned.basis, kept=kept[-_KEPT:],
            progress=memory.progress._replace(recalled=0),
        )  # fmt: skip
        return (memory, True) if self._repeats(learned, step) else (self.pause(memory), False)

    def _holds(self, basis: Basis, step: FullStep) -> bool:
        """Whether a basis holds the way of a full step."""
        inputs = step.inputs
        moved = self.displacement(step.end, inputs.end) - self.displacement(step.begin, inputs.begin)
        return step.measure.step(rms(rest_of(moved, basis), basis.mass)) < step.tolerance

    def _repeats(self, learned: Learned, step: FullStep) -> bool:
        """Whether what was learned repeats a full step."""
        x = self._steps.repeat(learned, step.begin, step.load, step.inputs, settled=step.settled)
        return (
            x is not None
            and step.measure.step(rms(x - step.end.x, self._body.mass)) < step.measure.refused * step.tolerance
        )

    def displacement(self, state: FullState, moment: Moment) -> FloatArray:
        """u of a state at a moment [m], (n, 3), zero where pins hold."""
        return self._carrier.displacement(state.x, self._carrier.pose(moment), state.live.pins(self._body.pins))

    def moved(self, begin: FullState, end: FullState, inputs: Inputs) -> FloatArray:
        """What errors are relative to: displacements in statics, else velocities; beside the bones where there are any,
        (n, 3)."""
        static = self._integrator == "static"
        if self._carrier.rig is None and not static:
            return end.v
        u = self.displacement(end, inputs.end)
        return u if static else (u - self.displacement(begin, inputs.begin)) / inputs.duration

    def pause(self, memory: Memory) -> Memory:
        """The memory after a training that did not pay: the next one waits, each time twice as long."""
        wait = int(np.clip(2 * memory.progress.pause, _PAUSES[0], _PAUSES[1] * self._cost(memory)))
        return replace(memory, progress=memory.progress._replace(passes=0, known=0, wait=wait, pause=wait))

    def leave(self, memory: Memory, skipped: int, why: Refusal | None) -> Memory:
        """The memory at the end of so many reduced steps.

        What was learned and brought but a few lets the next training wait, unless it had been kept. It is not tried
        again before something else was learned, but where contacts alone ended it.
        """
        if why is Refusal.ERROR and skipped < self._cost(memory):
            if not memory.progress.recalled:
                return self.pause(memory)
            return replace(memory, progress=memory.progress._replace(passes=0, known=0, recalled=0))
        if why is Refusal.CONTACT and memory.learned is not None:
            used = memory.learned.rule
            kept = tuple(one._replace(tried=one.tried and one.rule is not used) for one in memory.kept)
            memory = replace(memory, kept=kept)
        old = memory.progress
        progress = Progress(avoided=old.avoided, rank=old.rank, enough=old.enough, spent=old.spent, gain=old.gain)
        return replace(memory, progress=progress)

    def _cost(self, memory: Memory) -> float:
        """Full steps that the last training cost: more, the more elements its rule has."""
        size = 0 if memory.learned is None else memory.learned.rule.size
        return float(np.clip(self._usual * (size / _USUAL) ** 1.5, self._worth, _DEAREST))

    def _rank(self, progress: Progress) -> int:
        """The largest rank as far as it has grown."""
        return progress.rank or min(_FIRST, self.max_rank)

    def _stiffness(self, pins: Pins) -> RestStiffness:
        key = pins.vertices.tobytes() + pins.held.tobytes()
        if self._rest is None or self._rest[0] != key:
            self._rest = key, RestStiffness(self._body.pinned(pins))
        return self._rest[1]
