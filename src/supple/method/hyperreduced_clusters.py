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
from supple.method.hyperreduced_kernels import read_clusters, spread_clusters, turn_kernel
from supple.method.hyperreduced_system import HyperReducedSystem
from supple.method.projective_contact import ContactStep
from supple.subspace.position_space import PositionSpace
from supple.subspace.rotation_clusters import RotationClusters

__all__ = ["ClusterLoop"]

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.floating[Any]]


class ClusterLoop:
    """The clusters of a body with one type of constraint."""

    def __init__(
        self, clusters: RotationClusters, positions: PositionSpace, iterations: int, precision: type[np.floating[Any]]
    ) -> None:
        kind, single = type(clusters.constraint), precision is np.float32
        faster = kind.single_lane if single else kind.warm_lane
        self._clusters, self._columns, self._constant = clusters, positions.columns, positions.constant
        self._iterations, self._precision, self._remembers = iterations, precision, faster is not None
        self._cold = turn_kernel(clusters.constraint.find_lane(warm=False), False)
        self._warm = self._cold if faster is None else turn_kernel(faster, single)
        self._seen = clusters.seen.starts, clusters.seen.blocks, clusters.seen.values
        self._weight = clusters.constraint.weight.astype(precision)
        self._volume, self._parameters = 1.0, clusters.constraint.parameters.astype(precision)

    def run(
        self,
        system: HyperReducedSystem,
        base: FloatArray,
        guess: FloatArray,
        turns: Numbers,
        volume: float,
        origin: FloatArray,
        touching: ContactStep | None,
    ) -> tuple[FloatArray, Numbers]:
        """Coordinates (c, 3) and quaternions after the iterations from a guess, with positions seen from an origin [m].

        `base` is where the body would be without projections.
        """
        if volume != self._volume:
            self._volume = volume
            self._parameters = self._clusters.constraint.inflated(volume).parameters.astype(self._precision)
        F, start = self._read(guess), self._read(base)
        turns, P = turns.astype(self._precision), np.empty_like(F)
        grip, free = NO_GRIP, np.zeros((3, 0), self._precision)
        if touching is not None:
            grip, free = self._look(touching, base - np.outer(self._constant, origin))
        turn = self._warm if turns.shape[1] else self._cold
        weight = self._weight * self._precision(system.factor)
        base_values, Z = start.reshape(3, -1), system.compliance
        turn(F, base_values, self._iterations, self._parameters, turns, weight, Z, P, free, grip)
        right = np.zeros((self._columns, 3))
        spread_clusters(*self._seen, P.astype(np.float64), right)
        q = base + system.solve_inner(right)
        if touching is not None:
            q = q + touching.answer(touching.forces())[: self._columns]
        if self._remembers and not turns.shape[1]:
            turns = nearest_quaternions(np.ascontiguousarray(F.transpose(2, 1, 0), np.float64)).astype(self._precision)
        return q, turns

    def _read(self, q: FloatArray) -> Numbers:
        """Ḡ q, axes first, (3, 3, s)."""
        out = np.empty((3, 3, len(self._weight)), self._precision)
        read_clusters(*self._seen, np.ascontiguousarray(q), out)
        return out

    def _look(self, touching: ContactStep, base: FloatArray) -> tuple[Grip, Numbers]:
        """Contacts as clusters see them, and how far they would move without projections."""
        grip = touching.grip
        free = np.empty(grip.force.shape, self._precision)
        evaluate(grip.start, grip.column, grip.value, grip.base, np.ascontiguousarray(base.T, self._precision), free)
        return grip._replace(Y=np.ascontiguousarray(grip.Y[:, :, self._columns :])), free
