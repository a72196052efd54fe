"""What full steps teach: is the last one held by the subspace of those before, and does a model repeat it?"""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.cubature.pool import train_pool
from supple.elastic import Pins
from supple.errors import SuppleWarning
from supple.method.skipping_carried import Carrier
from supple.method.skipping_framed import FramedSteps
from supple.method.skipping_measure import Measure, rms
from supple.method.skipping_model import Kept, Learned, rest_of
from supple.method.skipping_state import Memory
from supple.method.skipping_still import StillSteps
from supple.method.state import FullState
from supple.solve.inputs import Inputs, Moment
from supple.subspace import Basis
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.window import Window

__all__ = ["FAILS", "FullStep", "Learner"]

FloatArray = NDArray[np.float64]
FAILS = 2.0  #: tolerances that a check or a replayed step may show
_PASSES = 2  # steps in a row that the basis of before must hold
_FEWEST = 10  # full steps before a basis is made
_STALE, _PATIENCE = 3, 10  # failed steps after which it is made again, and the share of all failed ones that is more
_LOOKS = 40  # full steps in a row that are all looked at, then every second, every third ...
_PAUSES = 4, 128  # full steps between trainings that do not pay
_RULE = 0.03, 1e-6  # error of a rule's forces (in the energy norm) beside the tolerance, and at least


class FullStep(NamedTuple):
    """A full step to learn from."""

    begin: FullState
    end: FullState
    inputs: Inputs
    load: FloatArray
    """Forces on the vertices at its end [N], (n, 3)."""
    measure: Measure
    tolerance: float


def learn(
    window: Window,
    carrier: Carrier,
    rest: RestStiffness,
    u: FloatArray,
    *,
    rank: int,
    tolerance: float,
    stiffness: float,
    warm: Rule | None,
) -> Learned:
    """The subspace of a window and a rule for its forces, about the displacement u [m], (n, 3), of a body.

    `tolerance` is the relative error of the rule's forces at shapes of the window.
    """
    basis = _by_frequency(window.principal(rank), rest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # a replayed step judges the rule
        rule = train_pool(carrier.problem(basis, window), tolerance, np.random.default_rng(0), warm)
    return Kept(basis, rule).about(u, stiffness)


def _by_frequency(basis: Basis, rest: RestStiffness) -> Basis:
    """The same subspace in coordinates that rest stiffness does not couple, softest first."""
    columns = rest.gather(basis.columns)
    values, turn = np.linalg.eigh(columns.T @ (rest.matrix @ columns))
    return basis.rotated(turn, np.maximum(values, 1e-12 * values[-1]))


class Learner:
    """Learns the motion of a body; what it has learned is in the memory of a state."""

    def __init__(self, carrier: Carrier, steps: StillSteps | FramedSteps, integrator: str, max_rank: int) -> None:
        self._carrier, self._body, self._steps = carrier, carrier.body, steps
        self._integrator, self._rank = integrator, max_rank
        self._rest: tuple[bytes, RestStiffness] | None = None

    def observe(self, memory: Memory, step: FullStep) -> Memory:
        """The memory after a full step, tested with the basis of before.

        Looking costs some share of a full step: in long stretches of them ever fewer are looked at.
        """
        progress, basis = memory.progress, memory.basis
        if progress.failing % (1 + progress.failing // _LOOKS):
            late = progress._replace(failing=progress.failing + 1, wait=max(0, progress.wait - 1))
            return replace(memory, progress=late)
        pose, u = self._carrier.pose(step.inputs.end), self.displacement(step.end, step.inputs.end)
        holds = basis is not None and self._holds(basis, step)
        window = memory.window.appended(u, pose)
        failing, stale = progress.failing + 1, 0 if holds else progress.stale + 1
        overdue = stale >= max(_STALE, failing // _PATIENCE)  # seldom where the motion is too rich for any subspace
        if len(window) >= _FEWEST and (basis is None or overdue):
            basis, stale = window.principal(self._rank), 0
        progress = progress._replace(
            passes=progress.passes + 1 if holds else 0, failing=failing, stale=stale, wait=max(0, progress.wait - 1)
        )
        return replace(memory, window=window, basis=basis, progress=progress)

    def remember(self, memory: Memory, checked: FullState, moment: Moment) -> Memory:
        """The memory with a state that a check has corrected: what the subspace lacks, for the next."""
        window = memory.window.appended(self.displacement(checked, moment), self._carrier.pose(moment))
        return replace(memory, window=window)

    def is_due(self, memory: Memory) -> bool:
        """Whether it is time to train a model."""
        return memory.progress.passes >= _PASSES and memory.progress.wait == 0

    def recall(self, memory: Memory, step: FullStep) -> Memory | None:
        """The memory with what was kept that holds and repeats a full step, if there is any."""
        u = self.displacement(step.end, step.inputs.end)
        for kept in reversed(memory.kept):
            if self._holds(kept.basis, step):
                learned = kept.about(u, step.end.live.stiffness)
                if self._repeats(learned, step):
                    return replace(memory, learned=learned, basis=learned.basis)
        return None

    def train(self, memory: Memory, step: FullStep) -> tuple[Memory, bool]:
        """The memory with something new learned, and whether that repeats a full step."""
        end = step.end
        learned = learn(
            memory.window, self._carrier, self._stiffness(end.live.pins(self._body.pins)),
            self.displacement(end, step.inputs.end), rank=self._rank,
            tolerance=max(_RULE[0] * step.tolerance, _RULE[1]), stiffness=end.live.stiffness,
            warm=None if memory.learned is None else memory.learned.rule,
        )  # fmt: skip
        memory = replace(memory, learned=learned, basis=learned.basis)
        return (memory, True) if self._repeats(learned, step) else (self.pause(memory), False)

    def _holds(self, basis: Basis, step: FullStep) -> bool:
        """Whether a basis holds the way of a full step."""
        inputs = step.inputs
        moved = self.displacement(step.end, inputs.end) - self.displacement(step.begin, inputs.begin)
        return step.measure.step(rms(rest_of(moved, basis), basis.mass)) < step.tolerance

    def _repeats(self, learned: Learned, step: FullStep) -> bool:
        """Whether what was learned repeats a full step."""
        x = self._steps.repeat(learned, step.begin, step.load, step.inputs)
        return x is not None and step.measure.step(rms(x - step.end.x, self._body.mass)) < FAILS * step.tolerance

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
        wait = int(np.clip(2 * memory.progress.pause, *_PAUSES))
        return replace(memory, progress=memory.progress._replace(passes=0, wait=wait, pause=wait))

    def give_up(self, memory: Memory) -> Memory:
        """The memory after what was learned brought but a few steps; what was kept goes, and something new may come."""
        kept = tuple(kept for kept in memory.kept if memory.learned is None or kept.rule is not memory.learned.rule)
        if len(kept) == len(memory.kept):
            return self.pause(memory)
        return replace(memory, kept=kept, progress=memory.progress._replace(passes=0))

    def _stiffness(self, pins: Pins) -> RestStiffness:
        key = pins.vertices.tobytes() + pins.held.tobytes()
        if self._rest is None or self._rest[0] != key:
            self._rest = key, RestStiffness(self._body.pinned(pins))
        return self._rest[1]
