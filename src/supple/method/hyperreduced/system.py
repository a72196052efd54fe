"""The constant matrices of hyper-reduced steps of one length: factored once, changed within a frame."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.contact.delassus import Delassus
from supple.elastic import Damping
from supple.linalg.block_cholesky import BlockCholesky, multiply_blocks
from supple.method.hyperreduced.loads import Holds
from supple.method.hyperreduced.model import HyperReducedModel

__all__ = ["HyperReducedSystem"]

FloatArray = NDArray[np.float64]
_TURN = 0.1  # radians: the most that a step is turned by
_PIN = 1e6  # times the mean stiffness of a coordinate: a pin gives way by a millionth of what its load would bend


class HyperReducedSystem:
    """A = UᵀMU (1 + α h)/h² + f (1 + β/h) Σ λ UᵀSᵀS U + pins + grabs, and D = A⁻¹UᵀSᵀV.

    Steps are of implicit Euler's: drag by mass α and by stiffness β act on the velocity (q - q(t))/h; the stiffness of
    drag is the constant one of projective dynamics, which resists turning too. f multiplies all constraints.
    """

    def __init__(
        self,
        model: HyperReducedModel,
        damping: Damping,
        duration: float,
        factor: float,
        holds: Holds,
        precision: type[np.floating[Any]],
    ) -> None:
        h, parts = duration, model.parts
        self.duration, self.factor, self.holds = duration, factor, holds
        drag = damping.mass / h, factor * damping.stiffness / h
        self._inertia = parts.sum(1.0 / h**2, 0.0, 0.0)
        self._drag = parts.sum(*drag, 0.0) if any(drag) else None
        A = parts.sum(1.0 / h**2 + drag[0], factor + drag[1])
        idle = int(np.count_nonzero(model.positions.idle))
        hold = _PIN * float(A.diagonal().sum() - idle) / max(A.shape[0] - idle, 1)
        # Along each axis: how stiffly every point is held
        self.pull = np.where(holds.pinned, hold, holds.stiffness[:, None])
        alike = bool((self.pull == self.pull[:, :1]).all())
        self.factors = [self._factor(A, self.pull[:, axis]) for axis in range(1 if alike else 3)]
        self._adrift: FloatArray | None = None
        self._delassus: Delassus | None = None
        ones = self._shift = model.positions.constant
        self._weight = np.asarray(model.mass @ ones)
        if not len(self.pull) and parts.drifts:
            self._adrift = self._weight * (1.0 + damping.mass * h) / h**2
        self._fitted = not all(fit.is_complete for fit in model.fits)
        self.answers: tuple[FloatArray, ...] = ()
        """D transposed for each type of constraint, (g, M, c): one for all axes or one each."""
        self._seen: sp.csr_array | None = None
        self.compliance = np.zeros((1, 0, 0), precision)
        """Z = Ḡ A⁻¹ Ḡᵀ of clusters that are alone, (g, 3 s, 3 s)."""
        if model.alone is None:
            self.answers = tuple(
                np.stack([factor * one.solve(fit.pull).T for one in self.factors]) for fit in model.fits
            )
        else:
            self._seen, columns = model.alone.by_rows
            self.compliance = np.stack([one.square(columns, precision) for one in self.factors])
        self.quick = tuple(D.astype(precision) for D in self.answers)
        """The same as iterations use them."""

    def _factor(self, A: sp.bsr_array, pull: FloatArray) -> BlockCholesky:
        rows = self.holds.rows
        return BlockCholesky(A + rows.T @ (rows * pull[:, None]) if len(pull) else A)

    def delassus(self, U: sp.csr_array) -> Delassus:
        """Compliances of contacts, which are learnt as they are needed; positions are U q, (n, c)."""
        if self._delassus is None:

            def respond(vertices: NDArray[np.int32]) -> FloatArray:
                return np.stack([one.solve(U[vertices].toarray().T).T for one in self.factors])

            self._delassus = Delassus(U, respond, len(self.factors), self._seen)
        return self._delassus

    def gather(self, q: FloatArray, v: FloatArray, push: FloatArray, targets: FloatArray) -> FloatArray:
        """The right-hand side [N], (c, 3), of inertia, drag, loads Uᵀf [N], (c, 3), and targets [m] of what holds."""
        M = self._inertia
        right = multiply_blocks(M.indptr, M.indices, M.data, q + self.duration * v)
        right += push
        if self._drag is not None:
            right += self._drag @ q
        if len(targets):
            right += self.holds.rows.T @ (self.pull * targets)
        return np.asarray(right)

    def solve(self, right: FloatArray) -> FloatArray:
        """A⁻¹ of right-hand sides for x, y and z, (c, 3)."""
        if len(self.factors) == 1:
            return self.factors[0].solve(right)
        return np.column_stack([one.solve(right[:, axis]) for axis, one in enumerate(self.factors)])

    def keep_moving(self, reached: FloatArray, q: FloatArray, v: FloatArray, force: FloatArray) -> FloatArray:
        """Coordinates reached from q and their rates v, all (c, 3), without what round-off adds to the momentum.

        `force` [N], (3,), is all that acts on the body as a whole; where something holds it nothing is changed.
        """
        if self._adrift is None:
            return reached
        lack = self._weight @ v / self.duration + force - self._adrift @ (reached - q)
        return np.asarray(reached + np.outer(self._shift, lack / (self._adrift @ self._shift)))

    def answer(self, kind: int, coefficients: NDArray[np.floating[Any]]) -> FloatArray:
        """D c of one type of constraint for coefficients (3, M), in double precision: (c, 3)."""
        D, c = self.answers[kind], coefficients.astype(np.float64)
        if len(D) == 1:
            return np.asarray((c @ D[0]).T)
        return np.column_stack([c[axis] @ D[axis] for axis in range(3)])

    def keep_turning(self, reached: FloatArray, right: FloatArray) -> FloatArray:
        """Coordinates reached (c, 3), turned so that constraints have no torque on a body that nothing holds.

        Projections that are fitted push with a torque of their own: a body let go would begin to spin. At positions q
        the torque of inertia and stiffness vanishes, because their matrices are symmetric, so that of the projections
        is the one that the known right-hand side (c, 3) lacks.
        """
        if self._adrift is None or not self._fitted:
            return reached
        centre = (self._adrift @ reached) / (self._adrift @ self._shift)
        about = reached - np.outer(self._shift, centre)
        T = about.T @ right
        moments, axes = np.linalg.eigh(np.trace(T) * np.eye(3) - 0.5 * (T + T.T))
        if moments[0] <= 1e-6 * moments[2]:
            return reached  # a needle, or a leap so wild that what turns is not known
        lack = np.array([T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]])
        turn = axes @ (axes.T @ lack / moments)
        turn *= min(1.0, _TURN / max(float(np.linalg.norm(turn)), _TURN))
        across = np.array([[0.0, turn[2], -turn[1]], [-turn[2], 0.0, turn[0]], [turn[1], -turn[0], 0.0]])
        return np.asarray(reached + about @ across)
