"""What full steps teach: is the last one held by the subspace of those before, and does a model repeat it?"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Pins
from supple.method.skipping_measure import Measure, rms
from supple.method.skipping_model import Learned, LearnedModel, learn
from supple.method.skipping_state import Memory
from supple.method.state import FullState
from supple.solve.live import Live
from supple.subspace import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["FAILS", "Learner"]

FloatArray = NDArray[np.float64]
FAILS = 2.0  #: tolerances that a check or a replayed step may show
_PASSES = 2  # steps in a row that the basis of before must hold
_FEWEST = 10  # full steps before a basis is made
_STALE, _PATIENCE = 3, 10  # failed steps after which it is made again, and the share of all failed ones that is more
_PAUSES = 4, 128  # full steps between trainings that do not pay
_RULE = 0.03, 1e-6  # error of a rule's forces (in the energy norm) beside the tolerance, and at least


class Learner:
    """Learns the motion of a body; what it has learned is in the memory of a state."""

    def __init__(self, body: Body, integrator: str, max_rank: int, newton_tolerance: float) -> None:
        self._body, self._integrator, self._rank, self._newton = body, integrator, max_rank, newton_tolerance
        self._made: tuple[Learned, LearnedModel] | None = None
        self._rest: tuple[bytes, RestStiffness] | None = None

    def model(self, learned: Learned) -> LearnedModel:
        """The model of what was learned; the last one is kept."""
        if self._made is None or self._made[0] is not learned:
            self._made = learned, LearnedModel(self._body, learned, self._integrator, self._newton)
        return self._made[1]

    def observe(
        self, memory: Memory, begin: FullState, end: FullState, pins: Pins, measure: Measure, tolerance: float
    ) -> Memory:
        """The memory after a full step from `begin` to `end`, tested with the basis of before."""
        progress, basis = memory.progress, memory.basis
        holds = False
        if basis is not None:
            left = _rest_of(_loosened(end.x - begin.x, pins), basis)
            holds = measure.step(rms(left, basis.mass)) < tolerance
        window = memory.window.appended(_loosened(end.x - self._body.mesh.vertices, pins))
        failing, stale = progress.failing + 1, 0 if holds else progress.stale + 1
        overdue = stale >= max(_STALE, failing // _PATIENCE)  # seldom where the motion is too rich for any subspace
        if len(window) >= _FEWEST and (basis is None or overdue):
            basis, stale = window.principal(self._rank), 0
        progress = progress._replace(
            passes=progress.passes + 1 if holds else 0, failing=failing, stale=stale, wait=max(0, progress.wait - 1)
        )
        return replace(memory, window=window, basis=basis, progress=progress)

    def remember(self, memory: Memory, x: FloatArray, live: Live) -> Memory:
        """The memory with positions [m], (n, 3), that a check has corrected: what the subspace lacks, for the next."""
        field = _loosened(x - self._body.mesh.vertices, live.pins(self._body.pins))
        return replace(memory, window=memory.window.appended(field))

    def is_due(self, memory: Memory) -> bool:
        """Whether it is time to train a model."""
        return memory.progress.passes >= _PASSES and memory.progress.wait == 0

    def train(
        self,
        memory: Memory,
        begin: FullState,
        end: FullState,
        load: FloatArray,
        pins: Pins,
        measure: Measure,
        tolerance: float,
    ) -> tuple[Memory, LearnedModel | None]:
        """The memory with a new model, and that where it repeats the last step, from `begin` to `end` under the forces
        `load` [N], (n, 3)."""
        learned = learn(
            memory.window, self._stiffness(pins), end.x, rank=self._rank, tolerance=max(_RULE[0] * tolerance, _RULE[1]),
            stiffness=end.live.stiffness, warm=None if memory.learned is None else memory.learned.rule,
        )  # fmt: skip
        model = self.model(learned)
        motion = model.project(begin.x, begin.v, begin.a)
        again = model.step(motion, load, memory.situation.duration, model.elastic(motion[0]))
        memory = replace(memory, learned=learned, basis=learned.basis)
        if again is not None:
            error = rms(model.positions(again.motion[0]) - end.x, self._body.mass)
            if measure.step(error) < FAILS * tolerance:
                return memory, model
        return self.pause(memory), None

    def pause(self, memory: Memory) -> Memory:
        """The memory after a training that did not pay: the next one waits, each time twice as long."""
        wait = int(np.clip(2 * memory.progress.pause, *_PAUSES))
        return replace(memory, progress=memory.progress._replace(passes=0, wait=wait, pause=wait))

    def _stiffness(self, pins: Pins) -> RestStiffness:
        key = pins.vertices.tobytes() + pins.held.tobytes()
        if self._rest is None or self._rest[0] != key:
            self._rest = key, RestStiffness(self._body.pinned(pins))
        return self._rest[1]


def _loosened(field: FloatArray, pins: Pins) -> FloatArray:
    """A vertex field (n, 3) without what pins hold."""
    field = field.copy()
    field[pins.vertices] = np.where(pins.held, 0.0, field[pins.vertices])
    return field


def _rest_of(field: FloatArray, basis: Basis) -> FloatArray:
    """What a basis leaves of a vertex field (n, 3)."""
    return field - basis.lift(basis.project(field))
