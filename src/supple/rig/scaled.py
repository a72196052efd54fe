"""Bones that files scale: flesh grows with them as linear skinning has it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.rig.deformer import Deformer, Vertices

__all__ = ["Scaled", "scale_controls"]

FloatArray = NDArray[np.float64]


class Scaled(Deformer):
    """x + sum over joints of weight times M (X - head): what linear skinning adds where a joint moves by A = R + M.

    With a joint that also slides by s this is all of it: A X + t = (R X + t') + M (X - head) + s.
    """

    def __init__(self, rest: ArrayLike, joints: Sequence[str], heads: FloatArray, weights: FloatArray) -> None:
        """`heads` [m] (j, 3), and `weights` on all vertices (n, j), of these joints."""
        super().__init__(rest, tuple(control for joint in joints for control in scale_controls(joint)))
        self._arms = weights[:, :, None] * (self.rest[:, None] - heads)

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        arms = self._arms if vertices is None else self._arms[vertices]
        return np.asarray(points + np.einsum("jab,njb->na", pose.reshape(-1, 3, 3), arms))


def scale_controls(joint: str) -> tuple[str, ...]:
    """Names of the controls by which a joint is scaled: the rows of M."""
    return tuple(f"{joint}.scale_{row}{column}" for row in "xyz" for column in "xyz")
