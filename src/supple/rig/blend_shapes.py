"""Blend shapes: targets that are mixed in by weight."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from supple.arguments import as_floats
from supple.errors import SceneError
from supple.rig.deformer import Deformer, Vertices

__all__ = ["BlendShapes"]

FloatArray = NDArray[np.float64]


class BlendShapes(Deformer):
    """x + sum of weight times (target - rest); only the vertices that a target moves are stored."""

    def __init__(self, rest: ArrayLike, targets: Mapping[str, ArrayLike]) -> None:
        """`targets`: positions [m], (n, 3), of all vertices in each target, by its name."""
        super().__init__(rest, tuple(targets))
        if not targets:
            raise SceneError("blend shapes need a target: give at least one.")
        columns = []
        for name, target in targets.items():
            moved = as_floats(target, f"BlendShapes(targets['{name}'])", self.rest.shape, unit="m")
            columns.append((moved - self.rest).ravel())
            if not columns[-1].any():
                raise SceneError(f"target '{name}' is the rest shape: leave it out.")
        self._deltas = csr_array(np.column_stack(columns))

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        rows = self._deltas
        if vertices is not None:
            rows = rows[(3 * np.asarray(vertices)[:, None] + np.arange(3)).ravel()]
        return np.asarray(points + (rows @ pose).reshape(-1, 3))
