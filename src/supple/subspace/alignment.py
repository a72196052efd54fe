"""Bases of different poses turned towards each other, so that their columns can be interpolated ([XB16] 5.1)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from supple.linalg.ties import first_smallest

__all__ = ["ALIGNMENTS", "Alignment", "align_all", "align_columns", "grow_tree", "rotate_columns"]

FloatArray = NDArray[np.float64]

#: "world": columns are compared and interpolated as they are. "paper": they are compared with the flesh turned back,
#: and interpolated as they are. "rotframe": both are done with the flesh turned back, which costs most.
Alignment = Literal["world", "paper", "rotframe"]
ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)


def align_columns(columns: FloatArray, target: FloatArray, metric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The orthogonal Q that brings columns (3 n, r) nearest to the target's, Eqs. (11) and (12), (r, r); and the angles
    between the two subspaces [rad], (r,)."""
    Y, cosines, Zt = np.linalg.svd(columns.T @ (metric[:, None] * target))
    return np.asarray(Y @ Zt), np.arccos(np.minimum(cosines, 1.0))


def rotate_columns(columns: FloatArray, turns: FloatArray) -> FloatArray:
    """Columns (3 n, r) with the rows of every vertex turned by its own rotation, (n, 3, 3)."""
    return np.asarray(turns @ columns.reshape(len(turns), 3, -1)).reshape(columns.shape)


def grow_tree(points: FloatArray, root: int = 0) -> tuple[list[int], NDArray[np.int64]]:
    """Poses at points (m, e) in the order in which they are joined to the root, each as the nearest one left; and the
    pose that each is joined to, (m,), itself for the root."""
    apart = cdist(points, points)
    order, tree = [root], np.arange(len(points))
    left = [k for k in range(len(points)) if k != root]
    while left:
        table = apart[np.ix_(order, left)]
        joined, new = np.unravel_index(first_smallest(table.ravel()), table.shape)
        tree[left[new]] = order[joined]
        order.append(left.pop(int(new)))
    return order, tree


def align_all(
    columns: FloatArray, order: list[int], tree: NDArray[np.int64], metric: FloatArray, turns: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Bases (m, 3 n, r) aligned along the tree, and the angles that each had to the one it was aligned to, (m, r).

    With turns from one and the same shape to every pose, (m, n, 3, 3), the flesh is turned back before the
    comparison, as in Eq. (13): R_ij is R_j R_iᵀ.
    """
    aligned, angles = columns.copy(), np.zeros((len(columns), columns.shape[2]))
    for j in order[1:]:
        i = tree[j]
        own = columns[j] if turns is None else rotate_columns(columns[j], turns[i] @ turns[j].transpose(0, 2, 1))
        Q, angles[j] = align_columns(own, aligned[i], metric)
        aligned[j] = columns[j] @ Q
    return aligned, angles
