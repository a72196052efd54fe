"""What all condensed steps of a body share, and what they keep for the next."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.method.condensation.crowd import Crowd
from supple.method.condensation.footing import Footing
from supple.method.condensation.oracle import Oracle
from supple.method.condensation.region import WHOLE, Ground, Region
from supple.method.condensation.still import StillSubspace
from supple.method.condensation.subspace import Stance, Steps
from supple.method.condensation.terms import Weights
from supple.method.solver import Report
from supple.solve.inputs import Inputs
from supple.solve.integrator import Integrator

__all__ = ["Tools"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Tools:
    """What all steps of a body share."""

    def __init__(
        self,
        ground: Ground,
        steps: Steps,
        frequencies: FloatArray,
        oracle: Oracle,
        integrator: Integrator,
        *,
        weights: Weights,
        tolerance: float,
        max_iterations: int,
        floor: float,
        edge: float,
        error: float,
        slack: float = 0.0,
        crowd: Crowd | None = None,
    ) -> None:
        """`frequencies` of the basis [1/s²]; `tolerance` of Newton's method, relative to the forces that act; floor is
        noise; `edge` [m] of the surface; `error` of the rule; `slack`: share of its energy within which an equilibrium
        of pressed flesh is as good as any other near it; `crowd`: what hands steps to the full solver."""
        self.ground, self.steps, self.frequencies = ground, steps, frequencies
        self.oracle, self.integrator, self.weights = oracle, integrator, weights
        self.tolerance, self.max_iterations, self.floor, self.edge = tolerance, max_iterations, floor, edge
        self.error, self.slack, self.crowd = error, slack, crowd
        self.unit = float(np.sqrt(ground.mass.mean()))
        """A force of 1 N on one vertex, as `measure` has it, is 1 over this."""
        self._last: tuple[bytes, Region] | None = None
        self._footing: Footing | None = None
        self._alone: tuple[Any, Inputs, tuple[Any, Report]] | None = None

    def step_alone(self, below: Any, inputs: Inputs) -> tuple[Any, Report]:
        """A step of the coordinates alone; the last one is kept, for equilibria ask for it twice."""
        if self._alone is None or self._alone[0] is not below or self._alone[1] is not inputs:
            self._alone = below, inputs, self.steps.step(below, inputs)
        return self._alone[2]

    def cut(self, full: IntArray, others: IntArray) -> Region:
        """The region of full vertices in which others are numbered, too; the last one is kept, for it often stays."""
        key = full.tobytes() + b"|" + others.tobytes()
        if self._last is None or self._last[0] != key:
            # In domains each says so for itself: those that nothing touches go on with their rules
            whole = self.ground.domains is None and len(full) > WHOLE * self.ground.most
            self._last = key, self.ground.cut(full, others, whole=whole)
        return self._last[1]

    def follow(self, footing: Footing, below: Any) -> FloatArray:
        """Positions, velocities and accelerations of full vertices as the subspace has them in a state, (3, 3 f)."""
        if isinstance(footing.stance, StillSubspace):
            fields = below.shapes @ footing.U_full.T
            fields[0] += footing.origin[: len(footing.region.full)].ravel()
            return np.asarray(fields)
        subspace, full = self.ground.subspace, footing.region.full
        return np.array([subspace.field(below, level, full).ravel() for level in range(3)])

    def stand(self, region: Region, stance: Stance) -> Footing:
        """A region in a stance; the last one is kept, for where pins stand still there is but one stance."""
        if self._footing is None or self._footing.region is not region or self._footing.stance is not stance:
            self._footing = Footing(region, stance)
        return self._footing
