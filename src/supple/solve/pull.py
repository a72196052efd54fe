"""Springs that pull at points of a body: those by which a user does, and those that tie flesh to where a rig has it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.solve.events import Grab

__all__ = ["Anchors", "Pull", "Springs"]

FloatArray = NDArray[np.float64]


class Springs:
    """The potential k/2 |sum_k w_k x_k - target|² of each."""

    def __init__(
        self, name: str, vertices: NDArray[np.integer], weights: FloatArray, target: FloatArray, stiffness: FloatArray
    ) -> None:
        """Vertices and weights are (m, k), targets [m] (m, 3), stiffness [N/m] (m,)."""
        self._name, self.vertices, self.weights = name, vertices, weights
        self._target, self._stiffness = target, stiffness

    def energy(self, x: FloatArray) -> float:
        gap = self._gap(x)
        return 0.5 * float(self._stiffness @ np.einsum("mi,mi->m", gap, gap))

    def terms(self, x: FloatArray) -> dict[str, FloatArray]:
        pull = np.zeros_like(x)
        force = self._stiffness[:, None] * self._gap(x)
        np.add.at(pull, self.vertices, self.weights[:, :, None] * force[:, None, :])
        return {self._name: pull}

    def curvature(self, x: FloatArray, *, cautious: bool = False) -> FloatArray:
        return np.asarray(self._stiffness[:, None, None] * np.eye(3))

    def _gap(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("mk,mki->mi", self.weights, x[self.vertices]) - self._target)


class Pull(Springs):
    """The springs of grabs."""

    def __init__(self, grabs: tuple[Grab, ...]) -> None:
        width = max(len(grab.vertices) for grab in grabs)
        vertices, weights = np.zeros((len(grabs), width), np.int64), np.zeros((len(grabs), width))
        for row, grab in enumerate(grabs):
            vertices[row, : len(grab.vertices)] = grab.vertices
            weights[row, : len(grab.vertices)] = grab.weights
        target, stiffness = np.array([grab.target for grab in grabs]), np.array([grab.stiffness for grab in grabs])
        super().__init__("grab", vertices, weights, target, stiffness)


@dataclass(frozen=True, eq=False)
class Anchors:
    """Springs from vertices to where a rig has them."""

    vertices: NDArray[np.int32]
    """(m,)"""
    stiffness: FloatArray
    """[N/m], (m,)"""

    def at(self, places: FloatArray) -> Springs:
        """The springs while the rig has the vertices at these places [m], (m, 3)."""
        return Springs("attachment", self.vertices[:, None], np.ones((len(places), 1)), places, self.stiffness)
