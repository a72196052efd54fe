"""The constant matrices of hyper-reduced steps of one length: factored once, changed within a frame."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.elastic import Damping
from supple.linalg.block_cholesky import BlockCholesky, multiply_blocks
from supple.method.hyperreduced_loads import Holds
from supple.method.hyperreduced_model import HyperReducedModel

__all__ = ["HyperReducedSystem"]

FloatArray = NDArray[np.float64]
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
        h, idle = duration, model.positions.idle.astype(np.float64)
        self.duration, self.factor, self.holds = duration, factor, holds
        self._inertia = sp.bsr_array(model.mass / h**2, blocksize=(4, 4))
        self._drag = sp.csr_array(
            model.mass * (damping.mass / h) + model.stiffness * (factor * damping.stiffness / h)
        )  # fmt: skip
        self._dragged = damping.mass > 0.0 or damping.stiffness > 0.0
        A = model.mass / h**2 + self._drag + factor * model.stiffness
        hold = _PIN * float(A.diagonal().sum()) / max(int(np.count_nonzero(idle == 0.0)), 1)
        A = sp.csr_array(A + sp.diags_array(idle))
        # Along each axis: how stiffly every point is held
        self.pull = np.where(holds.pinned, hold, holds.stiffness[:, None])
        alike = bool((self.pull == self.pull[:, :1]).all())
        self.factors = [self._factor(A, self.pull[:, axis]) for axis in range(1 if alike else 3)]
        self._adrift: FloatArray | None = None
        ones = self._shift = model.positions.constant
        weight = np.asarray(model.mass @ ones)
        if not len(self.pull) and np.abs(model.stiffness @ ones).max() < 1e-9 * np.abs(model.stiffness.data).max():
            self._adrift = weight * (1.0 + damping.mass * h) / h**2
        self.answers = tuple(
            np.stack([self._keep_momentum(factor * one.solve(fit.pull), 0.0) for one in self.factors])
            for fit in model.fits
        )  # fmt: skip
        """D for each type of constraint, (g, c, M): one for all axes or one each."""
        self.quick = tuple(np.ascontiguousarray(D.transpose(0, 2, 1), precision) for D in self.answers)
        """The same transposed, as iterations use them."""

    def _factor(self, A: sp.csr_array, pull: FloatArray) -> BlockCholesky:
        rows = self.holds.rows
        return BlockCholesky(A + rows.T @ (rows * pull[:, None]) if len(pull) else A)

    def predict(self, q: FloatArray, v: FloatArray, push: FloatArray, targets: FloatArray) -> FloatArray:
        """Where inertia, loads Uᵀf [N], (c, 3), and what holds would take the body without its projections, (c, 3)."""
        M = self._inertia
        right = multiply_blocks(M.indptr, M.indices, M.data, q + self.duration * v)
        right += push
        if self._dragged:
            right += self._drag @ q
        if len(targets):
            right += self.holds.rows.T @ (self.pull * targets)
        return self._keep_momentum(self.solve(right), self._shift @ right)

    def _keep_momentum(self, x: FloatArray, force: FloatArray | float) -> FloatArray:
        """Solutions x (c, m) without what round-off adds to the force [N] on the whole body, if nothing holds that."""
        if self._adrift is None:
            return x
        return x + np.outer(self._shift, (force - self._adrift @ x) / (self._adrift @ self._shift))

    def solve(self, right: FloatArray) -> FloatArray:
        """A⁻¹ of right-hand sides for x, y and z, (c, 3)."""
        if len(self.factors) == 1:
            return self.factors[0].solve(right)
        return np.column_stack([one.solve(right[:, axis]) for axis, one in enumerate(self.factors)])

    def answer(self, kind: int, coefficients: NDArray[np.floating[Any]]) -> FloatArray:
        """D c of one type of constraint for coefficients (3, M), in double precision: (c, 3)."""
        D, c = self.answers[kind], coefficients.astype(np.float64)
        if len(D) == 1:
            return np.asarray(D[0] @ c.T)
        return np.column_stack([D[axis] @ c[axis] for axis in range(3)])
