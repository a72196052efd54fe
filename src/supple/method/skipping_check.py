"""What a body that skips steps does in full space: steps by an old factor, and checks of reduced ones."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.overlay import Merger
from supple.method.full import FullSolver
from supple.method.skipping_carried import Carrier
from supple.method.skipping_factor import Old, OldFactor
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
_SMALL, _SMALL_STATIC = 1.0, 5.0  # goals: an error up to this has nothing to teach
_CONTRACTS = 0.5  # corrections that shrink less ask for the matrix of the moment
_DIVERGES = 3.0  # corrections that grow more lead astray
_STRETCH = 0.3, 10.0  # bounds of what an old factor may be wrong by
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

    def advance(
        self, begin: FullState, memory: Memory, inputs: Inputs, goal: float, watch: Stopwatch, share: float = 0.0
    ) -> Reached:
        """A step by the old factor where nothing touches, to `goal` [m] or that `share` of the way to its end; else,
        and on small meshes, by the full solver.

        The prediction goes on with the acceleration, xa + a / ca. Where that fails, it is tried ever more seldom.
        """
        progress, large = memory.progress, 3 * len(self._body.mass) >= _FEWEST
        if large and progress.avoid == 0 and max(goal, share) > 0.0 and not begin.live.grabs:
            with watch.phase("assembly"):
                step, system = self.solver.formulate(begin, inputs)
            if system.unknowns:
                motion = step.motion
                guess = self._carry(begin.x, inputs) if self.solver.is_static else motion.xa + begin.a / motion.ca
                guess = begin.live.place(guess, self._body.pins, inputs.end.targets)
                found, stance = None, self._carrier.stance(guess, inputs.end)
                touches = self.solver.foresee_contacts(begin, guess, inputs)
                if not touches:
                    old = self._old_of(memory, stance)
                    found = self._factor_of(system).correct(step, guess, old, goal, watch, share)
                if found is not None and not self.solver.foresee_contacts(begin, found.x, inputs):
                    end = self.solver.arrive(motion, found.x, begin, inputs.duration, inputs.end)
                    memory = _remember(replace(memory, progress=progress._replace(avoided=0)), found.old, stance)
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
        gradient = step.gradient(x)
        if known is not None:
            gradient += system.map.unknowns(known)
        old = self._old_of(memory, stance)
        try:
            d, _ = factor.approach(None, old, gradient)
            if self.solver.is_static:
                error, end, old = self._correct_on(factor, step, old, x, (gradient, d), goal)
                return Checked(error, _remember(memory, old, stance), end)
        except NotPositiveDefinite:
            return None
        error = _spread(d, x, system)
        return Checked(error, memory, None if factor.rms(d) <= _SMALL * goal else x - error)

    def _correct_on(
        self, factor: OldFactor, step: Increment, old: Old, x: FloatArray, first: tuple[FloatArray, FloatArray],
        goal: float,
    ) -> tuple[FloatArray, FloatArray | None, Old]:  # fmt: skip
        """The error of a static step that ends at x, from the residual there and what the factor makes of it over the
        unknowns; and the end of the full one, to `goal` [m], where that is farther, to teach what a full step would.

        A second residual tells how far the factor is wrong along its own answer, for it may be old.
        """
        (r, d), system = first, factor.system
        end = x - _spread(d, x, system)
        left = step.gradient(end)
        wrong, fallback = _stretch(d, r, left), old
        before, error = factor.rms(wrong * d), _spread(wrong * d, x, system)
        if wrong >= _STRETCH[1]:  # the factor knows nothing of the body as it is: nor would a full step by it
            error, fallback = np.full_like(x, np.inf), Old(None)
        elif before <= _SMALL_STATIC * goal:
            return error, None, old
        elif not old.spent:
            found = self._correct_alone(factor, step, old, (end, left, before), goal)
            if found is not None:
                return x - found, found, old
        end, left, before, current = x, r, np.inf, self._stiffen(step, system, x)
        for _ in range(_MOST):
            go, old = factor.approach(current, old, left, d)
            length, end = factor.rms(go), end - _spread(go, x, system)
            if not length < _DIVERGES * before:
                break
            before, left = length, step.gradient(end)
            d, _ = factor.approach(None, old, left)
            if (1.0 if old.matrix is current else max(1.0, wrong)) * factor.rms(d) <= goal:
                return x - end, end, old
        return error, None, fallback  # a matrix from where corrections went astray is none to go on with

    def _correct_alone(
        self, factor: OldFactor, step: Increment, old: Old, corrected: tuple[FloatArray, FloatArray, float], goal: float
    ) -> FloatArray | None:
        """Positions [m], (n, 3), within `goal` [m] of a step's end by the old factor alone, on from where a correction
        of some length [m] has left a residual; None where it leads elsewhere."""
        end, left, before = corrected
        for _ in range(_MOST):
            d, _ = factor.approach(None, old, left)
            length = factor.rms(d)
            if not length < _CONTRACTS * before:
                return None
            end = end - _spread(d, end, factor.system)
            if length * length <= goal * before:
                return end  # what is left shrinks on at this rate
            before, left = length, step.gradient(end)
        return None

    def _old_of(self, memory: Memory, stance: FloatArray) -> Old:
        """What is remembered of a matrix, as a body that stands so uses it."""
        return Old(memory.matrix, self._carrier.turns(memory.pose, stance), memory.progress.spent)

    def with_matrix(self, memory: Memory, begin: FullState, end: FullState, inputs: Inputs) -> Memory:
        """The memory with the matrix of a full step where that ended, colliders that it touches among it, if it has
        none."""
        if memory.matrix is not None:
            return memory
        step, system = self.solver.formulate(begin, inputs)
        step = replace(step, contact=self.solver.look(begin, end.x, inputs))
        stance = self._carrier.stance(end.x, inputs.end)
        return _remember(memory, Old(self._stiffen(step, system, end.x)), stance)

    def _stiffen(self, step: Increment, system: System, x: FloatArray) -> FloatArray:
        """The matrix of a step at x [m], (n, 3)."""
        matrix = np.empty(system.map.pattern.nonzeros)
        step.stiffen(x, matrix, project=True)
        return Merger(system.map.pattern).merge(matrix, step.join(x))[1]

    def _carry(self, x: FloatArray, inputs: Inputs) -> FloatArray:
        """Positions [m], (n, 3), as far as a rig takes them along."""
        carry = self.solver.carry(inputs)
        return x if carry is None else carry.move(x)

    def _factor_of(self, system: System) -> OldFactor:
        if self._old is None or self._old.system is not system:
            self._old = OldFactor(system, self._body.mass)
        return self._old


def _remember(memory: Memory, old: Old, stance: FloatArray) -> Memory:
    """The memory with a matrix, which may be that of before, of a body that stands so."""
    pose = memory.pose if old.matrix is memory.matrix else stance
    return replace(memory, matrix=old.matrix, pose=pose, progress=memory.progress._replace(spent=old.spent))


def _spread(d: FloatArray, x: FloatArray, system: System) -> FloatArray:
    """A displacement over the unknowns at all vertices, (n, 3) as positions x."""
    out = np.zeros_like(x)
    out[system.map.free] = d.reshape(-1, 3)
    return out


def _stretch(d: FloatArray, before: FloatArray, after: FloatArray) -> float:
    """By what to multiply a correction so that it is right along itself, from the residuals before and after it."""
    bend = float((before - after) @ d)
    return float(np.clip(float(before @ d) / bend, *_STRETCH)) if bend > 0.0 else _STRETCH[1]
