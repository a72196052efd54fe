"""What a body that skips steps does in full space: steps by an old factor, and checks of reduced ones."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.overlay import Merger
from supple.method.full import FullSolver
from supple.method.skipping_carried import Carrier
from supple.method.skipping_factor import OldFactor
from supple.method.skipping_measure import rms
from supple.method.skipping_state import Memory
from supple.method.solver import Report
from supple.method.state import FullState
from supple.solve.increment import Increment
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["FullSpace"]

FloatArray = NDArray[np.float64]
_SLIGHT = 0.02  # cv β, damping beside elastic forces, up to which checks take it from the subspace
_SMALL, _SMALL_STATIC = 1.0, 3.0  # goals: an error up to this has nothing to teach
_CONTRACTS = 0.7  # corrections that shrink less ask for a new factor
_MOST = 8  # corrections after a check's own
_FEWEST = 1000  # unknowns from which on an old factor makes full steps cheaper
_LONGEST_AVOIDED = 64  # full steps without the old factor after it failed


class Reached(NamedTuple):
    """The end of a full step."""

    memory: Memory
    end: FullState
    report: Report


class Checked(NamedTuple):
    """What a check of a reduced step has found."""

    error: FloatArray
    """[m], (n, 3)"""
    memory: Memory
    """With a new matrix where the old one no longer served."""
    end: FloatArray | None = None
    """Positions at the end of the full step [m], (n, 3), where they differ by more than a little."""


class FullSpace:
    """A full solver and the factor of an earlier step."""

    def __init__(self, carrier: Carrier, solver: FullSolver, integrator: str) -> None:
        self.solver = solver
        self._carrier, self._body, self._rate = carrier, carrier.body, 2.0 if integrator == "newmark" else 1.0
        self._old: OldFactor | None = None

    def advance(self, begin: FullState, memory: Memory, inputs: Inputs, goal: float, watch: Stopwatch) -> Reached:
        """A step by the old factor where nothing touches, to `goal` [m]; else, and on small meshes, by the full solver.

        The prediction goes on with the acceleration, xa + a / ca. Where that fails, it is tried ever more seldom.
        """
        progress, large = memory.progress, 3 * len(self._body.mass) >= _FEWEST
        if large and progress.avoid == 0 and goal > 0.0 and not begin.live.grabs:
            with watch.phase("assembly"):
                step, system = self.solver.formulate(begin, inputs)
            if system.unknowns:
                motion = step.motion
                guess = self._carry(begin.x, inputs) if self.solver.is_static else motion.xa + begin.a / motion.ca
                guess = begin.live.place(guess, self._body.pins, inputs.end.targets)
                found, stance = None, self._carrier.stance(guess, inputs.end)
                touches = self.solver.foresee_contacts(begin, guess, inputs)
                if not touches:
                    turns = self._carrier.turns(memory.pose, stance)
                    found = self._factor_of(system).correct(step, guess, memory.matrix, goal, watch, turns)
                if found is not None and not self.solver.foresee_contacts(begin, found.x, inputs):
                    end = self.solver.arrive(motion, found.x, begin, inputs.duration, inputs.end)
                    if found.matrix is not memory.matrix:
                        memory = replace(memory, matrix=found.matrix, pose=stance)
                    memory = replace(memory, progress=progress._replace(avoided=0))
                    return Reached(memory, end, Report({}, found.corrections, residual=found.residual))
                if not touches:
                    avoided = min(max(1, 4 * progress.avoided), _LONGEST_AVOIDED)
                    progress = progress._replace(avoid=avoided + 1, avoided=avoided)
        end, report = self.solver.step(begin, inputs)
        progress = progress._replace(avoid=max(0, progress.avoid - 1))
        return Reached(replace(memory, matrix=None, pose=None, progress=progress), end, report)

    def check(
        self, begin: FullState, memory: Memory, inputs: Inputs, x: FloatArray, drag: FloatArray | None, goal: float
    ) -> Checked | None:
        """How far a reduced step that ends at x [m], (n, 3), is from the full one, by the factor of an earlier step;
        None where its matrix has none.

        Slight damping by stiffness costs more than all the rest: it is taken to be `drag` [N], (n, 3), where that is
        known. Contacts are looked for anew. In statics, what is left of a large error is corrected on, to `goal` [m].
        """
        slight = self._rate / inputs.duration * self._body.damping.stiffness <= _SLIGHT
        known = drag if slight else None
        step, system = self.solver.formulate(begin, inputs, drags=known is None)
        step = replace(step, contact=self.solver.look(begin, x, inputs))
        factor, stance = self._factor_of(system), self._carrier.stance(x, inputs.end)
        turns = self._carrier.turns(memory.pose, stance)

        def correction(at: FloatArray) -> FloatArray:
            """d = A⁻¹ r [m], (n, 3), with the residual r there."""
            gradient = step.gradient(at)
            if known is not None:
                gradient += system.map.unknowns(known)
            d = np.zeros_like(at)
            assert memory.matrix is not None
            d[system.map.free] = factor.solve(memory.matrix, gradient, turns).reshape(-1, 3)
            return d

        try:
            error = d = correction(x)
            end, length = x - d, rms(d, self._body.mass)
            if length <= (_SMALL_STATIC if self.solver.is_static else _SMALL) * goal:
                return Checked(error, memory)
            if not self.solver.is_static:
                return Checked(error, memory, end)
            for _ in range(_MOST):
                d, before = correction(end), length
                end, length = end - d, rms(d, self._body.mass)
                if not length < _CONTRACTS * before:
                    memory = self._with_new_matrix(memory, step, system, end, stance)
                    turns = None
                elif length * length <= goal * before:  # what is left shrinks on at this rate
                    return Checked(error, memory, end)
        except NotPositiveDefinite:
            return None
        return Checked(error, memory)

    def with_matrix(self, memory: Memory, begin: FullState, end: FullState, inputs: Inputs) -> Memory:
        """The memory with the matrix of a full step where that ended, colliders that it touches among it, if it has
        none."""
        if memory.matrix is not None:
            return memory
        step, system = self.solver.formulate(begin, inputs)
        step = replace(step, contact=self.solver.look(begin, end.x, inputs))
        return self._with_new_matrix(memory, step, system, end.x, self._carrier.stance(end.x, inputs.end))

    def _with_new_matrix(
        self, memory: Memory, step: Increment, system: System, x: FloatArray, stance: FloatArray
    ) -> Memory:
        """The memory with the matrix of a step at x [m], (n, 3)."""
        matrix = np.empty(system.map.pattern.nonzeros)
        step.stiffen(x, matrix, project=True)
        matrix = Merger(system.map.pattern).merge(matrix, step.join(x))[1]
        return replace(memory, matrix=matrix, pose=stance)

    def _carry(self, x: FloatArray, inputs: Inputs) -> FloatArray:
        """Positions [m], (n, 3), as far as a rig takes them along."""
        carry = self.solver.carry(inputs)
        return x if carry is None else carry.move(x)

    def _factor_of(self, system: System) -> OldFactor:
        if self._old is None or self._old.system is not system:
            self._old = OldFactor(system, self._body.mass)
        return self._old
