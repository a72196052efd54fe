"""Modes and derivatives under linear constraints and localised to a region: Eqs. (26)-(35) of [XB16].

Displacements are φ = W Z y. The diagonal W holds weights that fall to zero at the border of a region; vertices where
they vanish do not move. The columns of Z span the displacements that the constraints C W allow.
"""

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, cg, eigsh

from supple.elastic import Body
from supple.errors import MeshError
from supple.linalg.direct import direct_solver
from supple.linalg.pattern import UpperPattern
from supple.linalg.ties import BEYOND, settled_turn
from supple.subspace.basis import Basis
from supple.subspace.derivatives import force_curvature, weigh_columns
from supple.subspace.modes import check_count
from supple.subspace.null_space import independent_rows, null_space
from supple.subspace.pca import check_rank, principal_columns
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["Restriction", "region_weights"]

FloatArray = NDArray[np.float64]
_NEGLIGIBLE = 1e-10  # entries of Z below this are left out of the preconditioner, as in the paper


def region_weights(weights: FloatArray, threshold: float = 0.1, power: float = 0.5) -> FloatArray:
    """Smooth weights (n,) cut to a region: zero up to the threshold η, then ((w - η) / (1 - η))^κ (section 7)."""
    return np.clip((weights - threshold) / (1.0 - threshold), 0.0, 1.0) ** power


class Restriction:
    """A body whose displacements are restricted to a region, to constraints, or to both."""

    def __init__(
        self,
        body: Body,
        *,
        weights: FloatArray | None = None,
        constraints: FloatArray | None = None,
        x: FloatArray | None = None,
    ) -> None:
        """`weights` (n,) of the vertices, 0 to 1; `constraints` C (c, 3 n) on displacements; about the shape x [m]."""
        self.stiffness = RestStiffness(body, x)
        per_vertex = np.ones(len(body.mass)) if weights is None else np.asarray(weights, np.float64)
        if per_vertex.shape != body.mass.shape or not (per_vertex > 0.0).any():
            raise MeshError("a region needs one weight for each vertex, and one above 0: check the weights.")
        scale = self.stiffness.gather(np.repeat(per_vertex, 3))  # zero on locked coordinates
        self._keep = np.flatnonzero(scale > 0.0)
        self._weight = scale[self._keep]
        K = self.stiffness.matrix[self._keep][:, self._keep]
        mass = self.stiffness.mass[self._keep] * self._weight**2
        self.Z = self._allowed(constraints)
        self._K, self._mass = K, diags_array(mass)
        self._stiff = LinearOperator((self.size, self.size), lambda y: self.Z.T @ (K @ (self.Z @ y)), dtype=float)
        self._inert = LinearOperator((self.size, self.size), lambda y: self.Z.T @ (mass * (self.Z @ y)), dtype=float)
        self._shift = 1e-8 * float(np.median(K.diagonal() / np.maximum(mass, 1e-300)))
        self._precondition = self._thresholded()
        self._found: dict[int, tuple[FloatArray, FloatArray]] = {}

    @property
    def size(self) -> int:
        """Number of coordinates y."""
        return int(self.Z.shape[1])

    def _allowed(self, constraints: FloatArray | None) -> csr_array:
        """Z of the weighted constraints C W over the kept coordinates."""
        count = len(self._keep)
        if constraints is None or not len(constraints):
            return csr_array(diags_array(np.ones(count)))
        C = self.stiffness.gather(np.asarray(constraints, np.float64).T)[self._keep].T * self._weight
        C = C[np.abs(C).max(axis=1) > 0.0]  # constraints on what does not move hold already
        if not len(C):
            return csr_array(diags_array(np.ones(count)))
        C = C[independent_rows(C)]
        if len(C) >= count:
            raise MeshError("the constraints leave no motion at all: take some of them away.")
        return null_space(C)

    def _thresholded(self) -> LinearOperator:
        """(ZᵀKZ + shift ZᵀMZ)⁻¹ with the small entries of Z left out."""
        sparse = self.Z.copy()
        sparse.data[np.abs(sparse.data) < _NEGLIGIBLE] = 0.0
        sparse.eliminate_zeros()
        matrix = csr_array(sparse.T @ (self._K + self._shift * self._mass) @ sparse)
        pattern, data = UpperPattern.of(matrix)
        factor = direct_solver(pattern)
        factor.factor(data)
        self._is_exact = sparse.nnz == self.Z.nnz
        return LinearOperator((self.size, self.size), factor.solve, dtype=float)

    def _solve(self, b: FloatArray) -> FloatArray:
        """(ZᵀKZ + shift ZᵀMZ)⁻¹ b: conjugate gradients preconditioned by the thresholded factor."""
        if self._is_exact:
            return np.asarray(self._precondition @ b)
        operator = self._stiff + self._shift * self._inert
        y, failed = cg(operator, b, rtol=1e-12, atol=0.0, maxiter=200, M=self._precondition)
        if failed:
            raise ArithmeticError("conjugate gradients under constraints did not converge")
        return np.asarray(y)

    def _vibrate(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues [1/s²] and coordinates y of Eq. (34), without motions that cost nothing; found once."""
        if count not in self._found:
            self._found[count] = self._vibrate_anew(count)
        return self._found[count]

    def _vibrate_anew(self, count: int) -> tuple[FloatArray, FloatArray]:
        check_count(count, self.size - 7)
        inverse = LinearOperator((self.size, self.size), self._solve, dtype=float)
        start = np.random.default_rng(0).standard_normal(self.size)
        values, y = eigsh(
            self._stiff,
            k=min(count + 6 + BEYOND, self.size - 1),
            M=self._inert,
            sigma=-self._shift,
            OPinv=inverse,
            v0=start,
            tol=1e-10,
        )
        order = np.argsort(values)
        soft = values[order] > 1e-7 * float(np.abs(values).max())
        values, y = values[order[soft]], y[:, order[soft]]
        fields = self._shape(y, self._weight)
        turn = settled_turn(values, fields, np.repeat(self.stiffness.body.mass, 3))
        return values[:count], y @ turn[:, :count]

    def _shape(self, y: FloatArray, weight: FloatArray | float) -> FloatArray:
        """W Z y (or Z y) over all coordinates of the body."""
        unknowns = np.zeros((len(self.stiffness.mass), *y.shape[1:]))
        unknowns[self._keep] = (self.Z @ y) * (
            weight if np.ndim(weight) == 0 else np.reshape(weight, (-1, *[1] * (y.ndim - 1)))
        )
        return self.stiffness.spread(unknowns)

    def give_way(self, forces: FloatArray) -> FloatArray:
        """How the restricted body gives way to forces (3 n, k) [N]: φ = W Z (ZᵀKZ)⁻¹ Zᵀ W f [m], (3 n, k)."""
        loads = self.stiffness.gather(forces)[self._keep] * self._weight[:, None]
        y = np.stack([self._solve(self.Z.T @ load) for load in loads.T], axis=1)
        return self._shape(y, self._weight)

    def modes(self, count: int) -> Basis:
        """The softest modes, mass-orthonormal, with their λ [1/s²]."""
        values, y = self._vibrate(count)
        return Basis(self._shape(y, self._weight), self.stiffness.body.mass, f"{count} restricted modes", values)

    def derivatives(self, count: int) -> FloatArray:
        """ψ_ij of the first `count` modes for all i <= j: (ZᵀKZ) z_ij = -Zᵀ (H : Z y_i) Z y_j, ψ_ij = W Z z_ij.

        Eq. (35) prints (H : φ_i) Z y_j, which is not symmetric in i and j where W is not the identity; this is.
        """
        _, y = self._vibrate(count)
        fields = self._shape(y, 1.0).reshape(-1, 3, count)
        body, found = self.stiffness.body, []
        for i, j in combinations_with_replacement(range(count), 2):
            force = force_curvature(body, self.stiffness.x, fields[:, :, i], fields[:, :, j])
            load = self.Z.T @ self.stiffness.map.unknowns(force)[self._keep]
            found.append(self._shape(-self._solve(load), self._weight))
        return np.stack(found, axis=1)

    def basis(self, modes: int, rank: int) -> Basis:
        """Modes and derivatives of the restricted body compressed to `rank` columns."""
        linear = self.modes(modes)
        derivatives = self.derivatives(modes)
        columns, singular = principal_columns(weigh_columns(linear, derivatives), linear.metric, rank)
        source = f"{modes} restricted modes and their derivatives"
        check_rank(rank, columns, source)
        return Basis(columns, linear.mass, source, singular)
