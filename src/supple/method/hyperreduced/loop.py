"""Iterations of the hyper-reduced solver over several types of constraints, in coordinates of the position space."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.grip import NO_GRIP
from supple.linalg.rotation import nearest_quaternions
from supple.method.hyperreduced.kernels import round_off
from supple.method.hyperreduced.local import Local
from supple.method.hyperreduced.model import HyperReducedModel
from supple.method.hyperreduced.system import HyperReducedSystem
from supple.method.projective.contact import ContactStep
from supple.method.projective.stopping import ONCE, Stopping, find_change

__all__ = ["LoopInputs", "SampleLoop"]

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.floating[Any]]


class LoopInputs(NamedTuple):
    """What the iterations of a step begin with."""

    base: FloatArray
    """Where the body would be without projections, (c, 3)."""
    guess: FloatArray
    """Coordinates to start from, (c, 3)."""
    turns: Numbers
    """Quaternions to go on from, (4, s), or none."""
    volume: float
    """Times the target volume that constraints were made with."""
    origin: FloatArray
    """Where positions are seen from [m], (3,)."""
    touching: ContactStep | None


class SampleLoop:
    """Each type in turn reads its samples from the coordinates and answers with D c."""

    def __init__(self, model: HyperReducedModel, stopping: Stopping, precision: type[np.floating[Any]]) -> None:
        self._constant, self._stopping, self._precision = model.positions.constant, stopping, precision
        self._locals = [Local(fit, precision) for fit in model.fits]

    def run(self, system: HyperReducedSystem, inputs: LoopInputs) -> tuple[FloatArray, Numbers, int, float]:
        """Coordinates (c, 3) and quaternions after the iterations, their number, and the share of its way that the step
        still had to go."""
        base, guess, turns, volume, origin, touching = inputs
        move = np.outer(self._constant, origin)
        start, q = (np.ascontiguousarray((field - move).T, self._precision) for field in (base, guess))
        turns = turns.astype(self._precision)
        known = turns.shape[1] > 0 or not any(local.remembers for local in self._locals)
        coefficients = [np.empty((3, D.shape[1]), self._precision) for D in system.quick]
        out, first, stopping, at_once = np.empty_like(q), q, self._stopping, len(self._locals) == 1 and known
        grip, last = NO_GRIP if touching is None else touching.grip, self._locals[-1]
        for local in self._locals:
            local.inflate(volume)
        changes, done, left = np.zeros(stopping.most), 0, 0.0
        for done in range(1, stopping.most + 1):
            source, turns = start, turns if known else self._find_turns(q.T)
            memories = self._split(turns)
            for local, memory, D, own in zip(self._locals, memories, system.quick, coefficients, strict=True):
                reached = local.settle(
                    q, source, out, stopping if at_once else ONCE, memory, D, own, grip if local is last else NO_GRIP
                )
                source = out
            if at_once:
                done, left = reached
                break
            changes[done - 1] = np.abs(out - q).max()
            left = find_change(
                changes, done, float(np.abs(out - first).max()), round_off(self._precision) * float(np.abs(out).max())
            )
            q, out = out, np.empty_like(out) if q is first else q
            if stopping.is_enough(done, left):
                break
        positions = base
        for kind, own in enumerate(coefficients):
            positions = positions + system.answer(kind, own)
        if touching is not None:
            positions = positions + touching.answer(touching.forces())
        return positions, turns if known else self._find_turns(positions), done, left

    def _find_turns(self, q: Numbers) -> Numbers:
        """Quaternions to go on from at coordinates q (c, 3), found from nothing."""
        found = [nearest_quaternions(local.values(q.astype(np.float64))) for local in self._locals if local.remembers]
        return np.concatenate([np.zeros((4, 0)), *found], axis=1, dtype=self._precision)

    def _split(self, turns: Numbers) -> list[Numbers]:
        """Quaternions of each type, (4, s); none where nothing is remembered or known."""
        if not turns.shape[1]:
            return [turns] * len(self._locals)
        counts = [local.count if local.remembers else 0 for local in self._locals]
        ends = np.cumsum(counts)
        return [turns[:, end - count : end] for count, end in zip(counts, ends, strict=True)]
