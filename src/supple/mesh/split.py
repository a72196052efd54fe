"""A finer mesh of the same body: every tet in eight."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from supple.mesh.adjacency import label_rows
from supple.mesh.tetmesh import TetMesh

__all__ = ["split_tets"]

# Corners of a tet are 0 to 3, the middles of its edges 01, 02, 03, 12, 13, 23 are 4 to 9: a tet at each corner, and
# four around the line from the middle of 02 to that of 13
_CHILDREN = (
    (0, 4, 5, 6), (4, 1, 7, 8), (5, 7, 2, 9), (6, 8, 9, 3),
    (4, 5, 6, 8), (4, 7, 5, 8), (5, 9, 6, 8), (5, 7, 9, 8),
)  # fmt: skip


def split_tets(mesh: TetMesh) -> TetMesh:
    """The mesh with a vertex in the middle of every edge, and eight tets of the same volume in place of each."""
    x, tets = mesh.vertices, mesh.tets
    pairs = list(combinations(range(4), 2))
    labels, middle = np.unique(label_rows(tets[:, pairs].reshape(-1, 2), len(x)), return_inverse=True)
    one, other = np.divmod(labels, len(x))
    points: NDArray[np.int64] = np.concatenate([tets, len(x) + middle.reshape(-1, 6)], axis=1)
    finer = points[:, _CHILDREN].reshape(-1, 4).astype(np.int32)
    return TetMesh.clean(np.concatenate([x, 0.5 * (x[one] + x[other])]), finer)
