"""The stiffness of a body about a shape, and solves with it that know about rigid motions."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.elastic import EXACT, Body, StiffnessMap
from supple.linalg.direct import Factor, direct_solver
from supple.linalg.orthonormal import orthonormalise
from supple.linalg.rigid import rigid_modes

__all__ = ["RestStiffness"]

FloatArray = NDArray[np.float64]


class RestStiffness:
    """K and M of the unknowns at a shape (at rest by default), with K factorised."""

    def __init__(self, body: Body, x: FloatArray | None = None) -> None:
        self.body = body
        self.x = body.mesh.vertices if x is None else x
        self.map = StiffnessMap.build(len(body.mass), body.parts, body.pins)
        self.data = self.map.assemble(body.parts, self.x, np.empty(self.map.pattern.nonzeros), form=EXACT)
        self.data[self.map.pattern.diagonal[self.map.locked]] = float(self.data[self.map.pattern.diagonal].max())
        self.mass = np.repeat(body.mass[self.map.free], 3)

    @cached_property
    def matrix(self) -> csr_array:
        """K over the unknowns [N/m]."""
        return self.map.pattern.to_scipy(self.data)

    @cached_property
    def rigid(self) -> FloatArray:
        """Mass-orthonormal rigid motions that cost nothing, (unknowns, 0 to 6)."""
        modes = rigid_modes(self.x[self.map.free])
        modes[self.map.locked] = 0.0
        if len(self.map.free) < len(self.body.mass) or len(self.map.locked):
            # Pins leave some rigid motions at most: those the stiffness does not resist
            modes = orthonormalise(modes, self.mass)
            values, turn = np.linalg.eigh(modes.T @ (self.matrix @ modes))
            scale = float((self.matrix.diagonal() / self.mass).max())
            return np.asarray(modes @ turn[:, values < 1e-10 * scale])
        return orthonormalise(modes, self.mass)

    @cached_property
    def shift(self) -> float:
        """A little inertia [1/s²] that makes K definite where rigid motions cost nothing; zero otherwise."""
        return 1e-7 * float(np.median(self.matrix.diagonal() / self.mass)) if self.rigid.shape[1] else 0.0

    @cached_property
    def _factor(self) -> Factor:
        factor, data = direct_solver(self.map.pattern), self.data.copy()
        data[self.map.pattern.diagonal] += self.shift * self.mass
        factor.factor(data)
        return factor

    def solve_shifted(self, b: FloatArray) -> FloatArray:
        """(K + shift M)⁻¹ b."""
        return np.asarray(self._factor.solve(b))

    def solve(self, b: FloatArray) -> FloatArray:
        """u with K u = b, both without rigid motions."""
        b = self._balanced(b)
        u = self.solve_shifted(b)
        # One step of refinement takes the shift out again
        return self.without_rigid(u + self.solve_shifted(self._balanced(b - self.matrix @ u)))

    def without_rigid(self, u: FloatArray) -> FloatArray:
        """Displacements over the unknowns, (unknowns, ...), less their components along the free rigid motions."""
        return u - self.rigid @ (self.rigid.T @ (self.mass * u.T).T)

    def _balanced(self, b: FloatArray) -> FloatArray:
        return b - self.mass * (self.rigid @ (self.rigid.T @ b))

    def spread(self, unknowns: FloatArray) -> FloatArray:
        """Vectors over the unknowns as vectors over all coordinates, (3 n, k)."""
        full = np.zeros((len(self.body.mass), 3, *unknowns.shape[1:]))
        full[self.map.free] = unknowns.reshape(-1, 3, *unknowns.shape[1:])
        return full.reshape(3 * len(self.body.mass), *unknowns.shape[1:])

    def gather(self, full: FloatArray) -> FloatArray:
        """The unknowns of vectors over all coordinates."""
        vectors = full.reshape(-1, 3, *full.shape[1:])[self.map.free].reshape(-1, *full.shape[1:]).copy()
        vectors[self.map.locked] = 0.0
        return vectors
