"""Iterations of the hyper-reduced solver over clusters alone, which need neither positions nor their space.

With F̄ = Ḡ q and a constant matrix, clusters see F̄ = Ḡ A⁻¹ b + Z Λ p(F̄), Z = Ḡ A⁻¹ Ḡᵀ: the cost of an iteration
depends on their number alone. Positions follow once, in double precision, when the iterations are over.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.grip import NO_GRIP, Grip
from supple.contact.sweep import evaluate
from supple.linalg.rotation import nearest_quaternions
from supple.method.hyperreduced.kernels import choose_lane, round_off, turn_kernel
from supple.method.hyperreduced.loop import LoopInputs
from supple.method.hyperreduced.system import HyperReducedSystem
from supple.method.projective.stopping import ONCE, Stopping, find_change
from supple.subspace.position_space import PositionSpace
from supple.subspace.rotation_clusters import RotationClusters

__all__ = ["ClusterLoop"]

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.floating[Any]]


class ClusterLoop:
    """The clusters of a body with one type of constraint."""

    def __init__(
        self,
        clusters: RotationClusters,
        positions: PositionSpace,
        stopping: Stopping,
        precision: type[np.floating[Any]],
    ) -> None:
        kind, single = type(clusters.constraint), precision is np.float32
        self._remembers, lane = choose_lane(clusters.constraint, single)
        self._clusters, self._columns, self._constant = clusters, positions.columns, positions.constant
        self._stopping, self._precision = stopping, precision
        self._turn = turn_kernel(lane, single and lane is kind.single_lane)
        self._seen = clusters.seen.by_rows()
        self._weight = clusters.constraint.weight.astype(precision)
        self._volume, self._parameters = 1.0, clusters.constraint.parameters.astype(precision)

    def run(self, system: HyperReducedSystem, inputs: LoopInputs) -> tuple[FloatArray, Numbers, int, float]:
        """Coordinates (c, 3) and quaternions after the iterations, their number, and the share of its way that the step
        still had to go."""
        base, guess, turns, volume, origin, touching = inputs
        if volume != self._volume:
            self._volume = volume
            self._parameters = self._clusters.constraint.inflated(volume).parameters.astype(self._precision)
        F, start = self._read(guess), self._read(base)
        turns, P = turns.astype(self._precision), np.empty_like(F)
        grip, free = NO_GRIP, np.zeros((3, 0), self._precision)
        if touching is not None:
            grip, free = touching.grip, self._look(touching.grip, base - np.outer(self._constant, origin))
        weight = self._weight * self._precision(system.factor)
        base_values, Z = start.reshape(3, -1), system.compliance
        known = not self._remembers or turns.shape[1] > 0
        given = weight, Z, P, free, grip
        if known:
            done, left = self._turn(F, base_values, self._stopping, self._parameters, turns, *given)
        else:  # from nothing, every iteration finds its rotations
            stopping, first, nothing = self._stopping, F.copy(), round_off(self._precision)
            changes, done, left = np.zeros(stopping.most), 0, 0.0
            for done in range(1, stopping.most + 1):
                before = F.copy()
                self._turn(F, base_values, ONCE, self._parameters, self._find_turns(F), *given)
                changes[done - 1] = np.abs(F - before).max()
                left = find_change(changes, done, float(np.abs(F - first).max()), nothing * float(np.abs(F).max()))
                if stopping.is_enough(done, left):
                    break
        right = self._seen.gather(P.reshape(3, -1).T.astype(np.float64), self._columns)
        if touching is not None:
            right += touching.push(touching.forces(), self._columns)
        return base + system.solve(right), turns if known else self._find_turns(F), int(done), float(left)

    def _find_turns(self, F: Numbers) -> Numbers:
        """Quaternions nearest to values, axes first, (4, s)."""
        found = nearest_quaternions(np.ascontiguousarray(F.transpose(2, 1, 0), np.float64))
        return np.asarray(found, self._precision)

    def _read(self, q: FloatArray) -> Numbers:
        """Ḡ q, axes first, (3, 3, s)."""
        return np.ascontiguousarray(self._seen.apply(q).T, self._precision).reshape(3, 3, -1)

    def _look(self, grip: Grip, base: FloatArray) -> Numbers:
        """How far contacts would move without projections, (3, m)."""
        free = np.empty(grip.force.shape, self._precision)
        evaluate(grip.start, grip.column, grip.value, grip.base, np.ascontiguousarray(base.T, self._precision), free)
        return free
