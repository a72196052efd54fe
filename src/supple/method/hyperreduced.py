"""The hyper-reduced solver: projective dynamics in small spaces, at a cost that does not know the mesh.

Algorithm 2 of [BEH18] without a solve in its loop: A is constant, so positions are q = A⁻¹b + D c, b once a frame and
D = A⁻¹UᵀSᵀV once and for all. Iterations run in single precision about the body's centre, what they arrive at is
evaluated in double precision, so that free flight keeps momentum.
"""

from collections import OrderedDict
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.errors import ConvergenceError, SceneError
from supple.linalg.rotation import nearest_quaternions
from supple.method.checks import check_duration
from supple.method.hyperreduced_loads import Loads
from supple.method.hyperreduced_local import Local
from supple.method.hyperreduced_model import HyperReducedModel, prepare_spaces
from supple.method.hyperreduced_state import HyperReducedState
from supple.method.hyperreduced_system import HyperReducedSystem
from supple.method.solver import Arrays, Report
from supple.solve.inputs import Inputs
from supple.solve.live import Live
from supple.solve.stopwatch import Stopwatch

__all__ = ["HyperReducedSolver"]

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.floating[Any]]
_KEPT = 4  # systems of different lengths of step, stiffness or holds: a user goes back and forth


class HyperReducedSolver:
    """Implicit Euler steps of projective dynamics in the spaces of a model."""

    name = "hyperreduced"

    def __init__(
        self,
        body: ProjectiveBody,
        model: HyperReducedModel | None = None,
        *,
        time_step: float = 0.01,
        iterations: int = 10,
        precision: Literal["single", "double"] = "single",
    ) -> None:
        """Without a `model` spaces of the usual size are made. `time_step` [s] is what steps are expected to be; one
        of another length is prepared when it comes. `precision` is that of the iterations."""
        if iterations < 1:
            raise SceneError(f"iterations = {iterations} makes no sense: ask for at least 1.")
        if not time_step > 0.0:
            raise SceneError(f"time_step = {time_step:g} makes no sense: give seconds above 0.")
        self.body, self.iterations = body, iterations
        self._precision: type[np.floating[Any]] = np.float32 if precision == "single" else np.float64
        self.model = model or prepare_spaces(body)
        self._loads = Loads(self.model.positions, self.model.mass, body.pins)
        self._systems: OrderedDict[tuple[Any, ...], HyperReducedSystem] = OrderedDict()
        self._locals = [Local(fit, self._precision) for fit in self.model.fits]
        self._centre = np.asarray(self.model.mass @ self.model.positions.constant) / body.mass.sum()
        self.system(time_step, Live())

    def start(self, inputs: Inputs | None = None) -> HyperReducedState:
        x, time = self.body.vertices, 0.0
        if inputs is not None:
            x, time = Live().place(x, self.body.pins, inputs.begin.targets), inputs.begin.time
        still = np.zeros_like(x)
        return self.from_full(x, still, still, time)

    def step(self, state: HyperReducedState, inputs: Inputs) -> tuple[HyperReducedState, Report]:
        check_duration(inputs)
        watch, h, live = Stopwatch(), inputs.duration, state.live
        if inputs.events:
            live = live.after(inputs.events, self.positions(state))
        for local in self._locals:
            local.inflate(live.volume)
        with watch.phase("prediction"):
            system = self.system(h, live)
            forces = live.forces(inputs.end.forces)
            targets = self._loads.targets(live, inputs.end.targets) if len(system.pull) else _NOWHERE
            base = system.predict(state.q, state.v, self._loads.push(forces), targets)
            guess = state.q + h * state.v
            guess += np.outer(self.model.positions.constant, h * h * self._loads.gravity(forces))
        with watch.phase("iterations"):
            turns, coefficients = self._iterate(system, base, guess, state.turns)
        q = base
        for kind, own in enumerate(coefficients):
            q = q + system.answer(kind, own)
        if not np.isfinite(q).all():
            raise ConvergenceError("positions are no longer finite: take a smaller step, or more samples.")
        if not turns.shape[1]:
            turns = self._find_turns(q)
        v = (q - state.q) / h
        reached = HyperReducedState(inputs.end.time, q, v, (v - state.v) / h, turns, live)
        return reached, Report(watch.finish(), self.iterations, 0, "reduced", 0.0)

    def positions(self, state: HyperReducedState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        return self.model.positions.lift(state.q, vertices)

    def to_full(self, state: HyperReducedState) -> tuple[FloatArray, FloatArray, FloatArray]:
        lift = self.model.positions.lift
        return lift(state.q), lift(state.v), lift(state.a)

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> HyperReducedState:
        q, speed, change = (self.model.positions.project(np.asarray(field, np.float64)) for field in (x, v, a))
        return HyperReducedState(time, q, speed, change)

    def pack(self, state: HyperReducedState) -> dict[str, NDArray[np.generic]]:
        return state.pack()

    def unpack(self, arrays: Arrays) -> HyperReducedState:
        return HyperReducedState.unpack(arrays)

    def describe(self) -> list[str]:
        first, *others = self.model.describe()
        return [f"hyper-reduced projective dynamics, {first}, {self.iterations} iterations a step", *others]

    def system(self, duration: float, live: Live) -> HyperReducedSystem:
        """The matrices of steps of a duration [s], as the user has set stiffness, pins and grabs."""
        holds = self._loads.holds(live)
        key = (duration, live.stiffness, holds.key)
        if key not in self._systems:
            self._systems[key] = HyperReducedSystem(
                self.model, self.body.damping, duration, live.stiffness, holds, self._precision
            )
            while len(self._systems) > _KEPT:
                self._systems.popitem(last=False)
        self._systems.move_to_end(key)
        return self._systems[key]

    def _iterate(
        self, system: HyperReducedSystem, base: FloatArray, guess: FloatArray, turns: Numbers
    ) -> tuple[Numbers, list[Numbers]]:
        """Quaternions and coefficients after the iterations from a guess."""
        move = np.outer(self.model.positions.constant, self._centre @ guess)
        start, q = (np.ascontiguousarray((field - move).T, self._precision) for field in (base, guess))
        turns = turns.astype(self._precision)
        memories = _split(turns, self._locals)
        coefficients = [np.empty((3, D.shape[1]), self._precision) for D in system.quick]
        out, runs = np.empty_like(q), self.iterations if len(self._locals) == 1 else 1
        for _ in range(self.iterations // runs):
            source = start
            for local, memory, D, own in zip(self._locals, memories, system.quick, coefficients, strict=True):
                local.settle(q, source, out, runs, memory, D, own)
                source = out
            q, out = out, q
        return turns, coefficients

    def _find_turns(self, q: FloatArray) -> Numbers:
        """Quaternions to go on from at coordinates q (c, 3)."""
        found = [nearest_quaternions(local.values(q)) for local in self._locals if local.remembers]
        return np.concatenate([_NO_TURNS, *found], axis=1, dtype=self._precision)


_NOWHERE, _NO_TURNS = np.zeros((0, 3)), np.zeros((4, 0), np.float32)


def _split(turns: Numbers, parts: list[Local]) -> list[Numbers]:
    """Quaternions of each type, (4, s); none where nothing is remembered or known."""
    if not turns.shape[1]:
        return [turns] * len(parts)
    counts = [part.count if part.remembers else 0 for part in parts]
    ends = np.cumsum(counts)
    return [turns[:, end - count : end] for count, end in zip(counts, ends, strict=True)]
