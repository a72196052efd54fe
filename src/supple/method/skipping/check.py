"""What a body that skips steps does in full space: steps by the matrix of an earlier one, checks of reduced ones."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.method.full.solver import FullSolver
from supple.method.skipping.carried import Carrier
from supple.method.skipping.factor import OldFactor
from supple.method.skipping.gradients import OldMatrix
from supple.method.skipping.newton import FullNewton, Old, spread
from supple.method.skipping.state import Memory
from supple.method.solver import Report
from supple.method.state import FullState
from supple.solve.inputs import Inputs
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["FullSpace"]

FloatArray = NDArray[np.float64]
_SLIGHT = 0.02  # cv β, damping beside elastic forces, up to which checks take it from the subspace
_SMALL = 1.0  # goals: an error up to this has nothing to teach
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
    """A full solver and the matrix of an earlier step."""

    def __init__(self, carrier: Carrier, solver: FullSolver, integrator: str) -> None:
        self.solver = solver
        self._carrier, self._body, self._rate = carrier, carrier.body, 2.0 if integrator == "newmark" else 1.0
        self._newton: FullNewton | None = None

    def advance(
        self, begin: FullState, memory: Memory, inputs: Inputs, goal: float, watch: Stopwatch, share: float = 0.0
    ) -> Reached:
        """A step by the old matrix where nothing touches, to `goal` [m] or that `share` of the way to its end; else,
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
                    found = self._newton_of(system).correct(step, guess, old, goal, watch, share)
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
        """How far a reduced step that ends at x [m], (n, 3), is from the full one, by the matrix of an earlier step;
        None where that does not serve.

        Slight damping by stiffness costs more than all the rest: it is taken to be `drag` [N], (n, 3), where that is
        known. Contacts are looked for anew. In statics, what is left of a large error is corrected on, to `goal` [m].
        """
        slight = self._rate / inputs.duration * self._body.damping.stiffness <= _SLIGHT
        known = drag if slight else None
        step, system = self.solver.formulate(begin, inputs, drags=known is None)
        step = replace(step, contact=self.solver.look(begin, x, inputs))
        newton, stance = self._newton_of(system), self._carrier.stance(x, inputs.end)
        gradient = step.gradient(x)
        if known is not None:
            gradient += system.map.unknowns(known)
        old = self._old_of(memory, stance)
        try:
            if self.solver.is_static:
                found = newton.find(step, old, x, gradient, goal)
                return Checked(found.error, _remember(memory, found.old, stance), found.end)
            d, _ = newton.approach(None, old, gradient)
        except NotPositiveDefinite:
            return None
        error = spread(d, x, system)
        return Checked(error, memory, None if newton.rms(d) <= _SMALL * goal else x - error)

    def _old_of(self, memory: Memory, stance: FloatArray) -> Old:
        """What is remembered of a matrix, as a body that stands so uses it."""
        progress = memory.progress
        return Old(memory.matrix, self._carrier.turns(memory.pose, stance), progress.spent, progress.gain)

    def with_matrix(self, memory: Memory, begin: FullState, end: FullState, inputs: Inputs) -> Memory:
        """The memory with the matrix of a full step where that ended, colliders that it touches among it, if it has
        none."""
        if memory.matrix is not None:
            return memory
        step, system = self.solver.formulate(begin, inputs)
        step = replace(step, contact=self.solver.look(begin, end.x, inputs))
        stance = self._carrier.stance(end.x, inputs.end)
        matrix = self._newton_of(system).stiffen(step, end.x)
        return _remember(memory, Old(matrix, gain=memory.progress.gain), stance)

    def _carry(self, x: FloatArray, inputs: Inputs) -> FloatArray:
        """Positions [m], (n, 3), as far as a rig takes them along."""
        carry = self.solver.carry(inputs)
        return x if carry is None else carry.move(x)

    def _newton_of(self, system: System) -> FullNewton:
        """By conjugate gradients where these serve full statics, too."""
        if self._newton is None or self._newton.system is not system:
            iterates = self.solver.is_static and system.solver_name == "pcg"
            self._newton = (OldMatrix if iterates else OldFactor)(system, self._body.mass)
        return self._newton


def _remember(memory: Memory, old: Old, stance: FloatArray) -> Memory:
    """The memory with a matrix, which may be that of before, of a body that stands so."""
    pose = memory.pose if old.matrix is memory.matrix else stance
    progress = memory.progress._replace(spent=old.spent, gain=old.gain)
    return replace(memory, matrix=old.matrix, pose=pose, progress=progress)
