"""Smoothed-aggregation multigrid with the rigid motions as near-null space, accelerated by conjugate gradients."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array

from supple.linalg.blocks import BlockRows
from supple.linalg.overlay import Merger, Overlay
from supple.linalg.pattern import BlockPattern

__all__ = ["Multigrid", "rigid_modes"]

FloatArray = NDArray[np.float64]


def rigid_modes(x: FloatArray) -> FloatArray:
    """Translations and rotations of points x [m], shape (3 n, 6)."""
    modes = np.zeros((len(x), 3, 6))
    modes[:, range(3), range(3)] = 1.0
    for column, axis in enumerate(np.eye(3), start=3):
        modes[:, :, column] = np.cross(axis, x - x.mean(axis=0))
    return modes.reshape(-1, 6)


@contextmanager
def _fixed_randomness() -> Iterator[None]:
    """pyamg estimates spectral radii from NumPy's global generator: seed it, and put it back afterwards."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


class Multigrid:
    """Solves positive-definite systems of one pattern; made for large statics, where inertia does not help."""

    name = "AMG-CG"
    notices_indefinite = False

    def __init__(self, pattern: BlockPattern, points: FloatArray, max_iterations: int = 500) -> None:
        self._merger = Merger(pattern)
        self._rows = BlockRows.build(pattern)
        self._modes = rigid_modes(points)
        self._max_iterations = max_iterations
        self.iterations = 0
        """Iterations of the last solve."""

    def prepare(self, data: FloatArray, overlay: Overlay | None = None, *, same: bool = False) -> None:
        """Take the matrix whose upper triangle is `data`, plus the overlay, and build its hierarchy."""
        import pyamg

        pattern, data = self._merger.merge(data, overlay)
        if pattern is not self._rows.pattern:
            self._rows = BlockRows.build(pattern)
        blocks = self._rows.fill(data).reshape(-1, 3, 3)
        size = pattern.size
        matrix = bsr_array((blocks, self._rows.columns, self._rows.start.astype(np.int32)), shape=(size, size))
        with _fixed_randomness():
            self._levels = self._build(pyamg, matrix)

    def _build(self, pyamg: Any, matrix: bsr_array) -> Any:
        return pyamg.smoothed_aggregation_solver(
            matrix,
            B=self._modes,
            strength=("symmetric", {"theta": 0.0}),
            smooth=("jacobi", {"omega": 4.0 / 3.0}),
            presmoother=("block_gauss_seidel", {"sweep": "symmetric"}),
            postsmoother=("block_gauss_seidel", {"sweep": "symmetric"}),
            improve_candidates=None,
            max_coarse=300,
        )

    def solve(self, b: FloatArray, tolerance: float) -> FloatArray:
        """x with |A x - b| <= tolerance |b|."""
        residuals: list[float] = []
        with _fixed_randomness():  # smoothers are set up at the first solve
            x = self._levels.solve(b, tol=tolerance, maxiter=self._max_iterations, accel="cg", residuals=residuals)
        self.iterations = len(residuals) - 1
        return np.asarray(x)

    @property
    def memory(self) -> int:
        """Bytes held."""
        return sum(level.A.data.nbytes + level.A.indices.nbytes for level in self._levels.levels)
