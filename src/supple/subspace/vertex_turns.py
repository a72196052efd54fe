"""How the flesh around every vertex turns from the neutral pose to another, Eq. (13) of [XB16]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.rig import Rig
from supple.rig.turns import find_turns, nearest_rotations

__all__ = ["find_vertex_turns", "measure_turns"]

FloatArray = NDArray[np.float64]


def find_vertex_turns(body: Body, rig: Rig, pose: FloatArray) -> FloatArray:
    """Turns at all vertices, (n, 3, 3): those that the rig knows, or else what the tets around do."""
    known = find_turns(rig, pose)
    return measure_turns(body, rig.positions(pose)) if known is None else known


def measure_turns(body: Body, x: FloatArray) -> FloatArray:
    """Turns of the flesh around vertices that have gone to x [m], (n, 3, 3).

    The rotation nearest to the mean of those of the tets around, by their volumes. It is the mean of their
    quaternions, but knows of no signs: however far a part has turned, its turn is one matrix.
    """
    sums = np.zeros((len(x), 3, 3))
    for part in body.parts:
        turned = part.volume[:, None, None] * nearest_rotations(part.deformation(x))
        for corner in part.tets:
            np.add.at(sums, corner, turned)
    return nearest_rotations(sums)
