"""One type of constraint in the loop of the hyper-reduced solver: compiled step and arrays that it reads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.grip import Grip
from supple.method.hyperreduced.kernels import choose_lane, settle_kernel
from supple.method.hyperreduced.model import Projections
from supple.method.projective.stopping import Stopping

__all__ = ["Local"]

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.floating[Any]]


class Local:
    """Samples, fits and answers for one type."""

    def __init__(self, fit: Projections, precision: type[np.floating[Any]]) -> None:
        kind, rows, single = type(fit.constraint), fit.constraint.stencils.rows, precision is np.float32
        self.count, self._fit, self._precision = len(fit.members), fit, precision
        self.remembers, lane = choose_lane(fit.constraint, single)
        """Whether it goes on from quaternions that are kept."""
        self._run = settle_kernel(lane, rows, kind.guided, single and lane is kind.single_lane)
        self._seen = fit.seen.starts, fit.seen.blocks, fit.seen.values.astype(precision)
        self._sampled = np.ascontiguousarray(fit.fit.T, precision)
        self._volume, self._parameters = 1.0, self._gather(fit.constraint.parameters)

    def _gather(self, parameters: FloatArray) -> Numbers:
        return np.ascontiguousarray(parameters[:, self._fit.members], self._precision)

    def inflate(self, volume: float) -> None:
        """Ask for another target volume, times the one the constraint was made with."""
        if volume != self._volume:
            self._volume = volume
            self._parameters = self._gather(self._fit.constraint.inflated(volume).parameters)

    def settle(
        self,
        q: Numbers,
        base: Numbers,
        out: Numbers,
        stopping: Stopping,
        memory: Numbers,
        answer: Numbers,
        coefficients: Numbers,
        grip: Grip,
    ) -> tuple[int, float]:
        """out = base + coefficients answer after some iterations from q, all (3, c); how many, and the share of the
        step's way that is left.

        `memory` are quaternions (4, s) where it remembers; `answer` (g, M, c), `coefficients` (3, M);
        `grip` holds contacts.
        """
        given = *self._seen, self._parameters, memory, self._sampled, answer, coefficients, grip
        done, left = self._run(q, base, out, stopping, *given)
        return int(done), float(left)

    def values(self, q: Numbers) -> FloatArray:
        """S U q of the samples at coordinates (c, 3): (s, p, 3)."""
        return np.asarray(self._fit.seen.matrix(len(q)) @ q).reshape(self.count, -1, 3)
