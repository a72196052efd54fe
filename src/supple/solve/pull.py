"""The springs by which a user pulls at points of a body."""

import numpy as np
from numpy.typing import NDArray

from supple.solve.events import Grab

__all__ = ["Pull"]

FloatArray = NDArray[np.float64]


class Pull:
    """The potential of grabs: k/2 |sum_k w_k x_k - target|² each."""

    def __init__(self, grabs: tuple[Grab, ...]) -> None:
        width = max(len(grab.vertices) for grab in grabs)
        self.vertices = np.zeros((len(grabs), width), np.int64)
        self.weights = np.zeros((len(grabs), width))
        for row, grab in enumerate(grabs):
            self.vertices[row, : len(grab.vertices)] = grab.vertices
            self.weights[row, : len(grab.vertices)] = grab.weights
        self._target = np.array([grab.target for grab in grabs])
        self._stiffness = np.array([grab.stiffness for grab in grabs])

    def energy(self, x: FloatArray) -> float:
        gap = self._gap(x)
        return 0.5 * float(self._stiffness @ np.einsum("mi,mi->m", gap, gap))

    def terms(self, x: FloatArray) -> dict[str, FloatArray]:
        pull = np.zeros_like(x)
        force = self._stiffness[:, None] * self._gap(x)
        np.add.at(pull, self.vertices, self.weights[:, :, None] * force[:, None, :])
        return {"grab": pull}

    def curvature(self, x: FloatArray, *, cautious: bool = False) -> FloatArray:
        return np.asarray(self._stiffness[:, None, None] * np.eye(3))

    def _gap(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("mk,mki->mi", self.weights, x[self.vertices]) - self._target)
