"""From coordinates to vertices in pose space: x = Φ(p) + R₀ U(p) y, with U(p) = Σ w_i U_i or R(p) Σ w_i R_iᵀ U_i.

The second form is for columns that turn with the flesh: they are stored as they are in the neutral pose, and every
vertex has a turn R(p) of its own. Nothing else tells the two apart.
"""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.jit import njit
from supple.method.posespace.model import PoseSpaceModel
from supple.method.posespace.state import PoseSpaceState
from supple.rig import Rig
from supple.rig.root import Root
from supple.rig.turns import find_turns
from supple.subspace.vertex_turns import VertexTurns

__all__ = ["PoseLift"]

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None

_MANY = 4  # of all vertices as a share of those chosen
_KEPT = 64  # sets of vertices of a black box whose surroundings are known


class PoseLift:
    """Columns, displacements and places of a character at any of its vertices."""

    def __init__(self, body: Body, rig: Rig, model: PoseSpaceModel) -> None:
        self._body, self._rig, self._columns, self._root = body, rig, model.columns, Root.of(rig)
        self.turning: bool = model.turning
        """Whether columns turn with the flesh."""
        self.is_black_box: bool = find_turns(rig, rig.neutral, np.zeros(1, np.int64)) is None
        """Whether the rig does not tell how flesh turns."""
        self._around: dict[bytes, VertexTurns] = {}
        self._all: VertexTurns | None = None

    def place(self, state: PoseSpaceState, vertices: Vertices = None, when: int = 0) -> FloatArray:
        """Positions of all or of chosen vertices [m], (v, 3), now or a step ago."""
        u, pose = self._displace(state.w[when], state.y[when].astype(np.float32), vertices), state.poses[when]
        if self.turning:
            return _turn_on(self._place(pose, vertices), u)
        return np.asarray(self._rig.positions(pose, vertices) + u @ state.turns[when].T)

    def _displace(self, w: FloatArray, y: NDArray[np.float32], vertices: Vertices) -> FloatArray:
        """Σ w_i U_i y before anything has turned [m], (v, 3)."""
        count = self._columns.shape[1] if vertices is None else len(vertices)
        if vertices is not None and _MANY * count > self._columns.shape[1]:
            return self._displace(w, y, None)[vertices]  # to copy many columns takes longer than to multiply with all
        u = np.zeros(3 * count)
        for i in np.flatnonzero(w):  # one product for all vertices, not one for each
            rows = self._columns[i] if vertices is None else self._columns[i, vertices]
            u += w[i] * (rows.reshape(3 * count, len(y)) @ y).astype(np.float64)
        return u.reshape(count, 3)

    def rows(self, pose: FloatArray, w: FloatArray, vertices: Vertices = None) -> FloatArray:
        """U(p) at all or chosen vertices, in the frame of the root, (v, 3, r), for weights of the examples (m,)."""
        shown = np.flatnonzero(w)
        chosen = self._columns[shown] if vertices is None else self._columns[shown][:, vertices]
        U = np.tensordot(w[shown], np.asarray(chosen, np.float64), 1)
        return self._still_turns(pose, vertices) @ U if self.turning else np.asarray(U)

    def sum_rows(self, pose: FloatArray, vertices: NDArray[np.integer], weights: FloatArray) -> FloatArray:
        """What the columns of every example do to a weighted sum of vertices, in the frame of the root, (m, 3, r)."""
        rows = np.asarray(self._columns[:, vertices], np.float64)
        if self.turning:
            rows = self._still_turns(pose, vertices) @ rows
        return np.asarray(np.einsum("v,mvkr->mkr", np.asarray(weights, np.float64), rows))

    def _place(self, pose: FloatArray, vertices: Vertices) -> FloatArray:
        """Places of the rig and turns of the flesh beside them, row by row, (v, 12)."""
        if vertices is None:
            self._all = self._all or VertexTurns(self._body, self._rig, np.arange(len(self._body.mass)))
            return self._all.place(pose)
        turns = self._turns(pose, vertices).reshape(-1, 9)
        return np.concatenate([self._rig.positions(pose, vertices), turns], axis=1)

    def _still_turns(self, pose: FloatArray, vertices: Vertices) -> FloatArray:
        return self._turns(self._root.still(pose), vertices)

    def _turns(self, pose: FloatArray, vertices: Vertices) -> FloatArray:
        """Of the flesh in a pose, the turn of the root among them, (v, 3, 3)."""
        known = find_turns(self._rig, pose, vertices)
        if known is not None:
            return known
        who = np.arange(len(self._body.mass)) if vertices is None else np.asarray(vertices)
        key = who.tobytes()
        if key not in self._around:
            if len(self._around) >= _KEPT:
                self._around.clear()
            self._around[key] = VertexTurns(self._body, self._rig, who)
        return self._around[key].turns(pose)


@njit(cache=True)
def _turn_on(placed: FloatArray, u: FloatArray) -> FloatArray:
    """Places with displacements (v, 3) on them, each turned as stands beside its place, (v, 12)."""
    x = np.empty(u.shape)
    for v in range(len(u)):
        for i in range(3):
            R = placed[v, 3 + 3 * i : 6 + 3 * i]
            x[v, i] = placed[v, i] + R[0] * u[v, 0] + R[1] * u[v, 1] + R[2] * u[v, 2]
    return x
