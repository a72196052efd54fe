"""How the flesh around every vertex turns from the neutral pose to another, Eq. (13) of [XB16]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from supple.elastic import Body
from supple.errors import SceneError
from supple.rig import PoseSpace, Rig, SkinnedRig
from supple.rig.part import pick_part
from supple.rig.turns import find_turns, nearest_rotations

__all__ = ["VertexTurns", "find_vertex_turns", "measure_turns"]

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
    return _Around(body, np.arange(len(x))).turns(x)


class VertexTurns:
    """Places and turns of some vertices, quick to ask for: of others only those that share a tet with them are looked
    at, and where the rig knows its turns none."""

    def __init__(self, body: Body | None, rig: Rig, vertices: NDArray[np.integer]) -> None:
        """The `body` is needed where the rig is a black box."""
        self._around = None
        if find_turns(rig, rig.neutral, vertices[:1]) is None:
            if body is None:
                raise SceneError("how flesh turns under a rig that is a black box, its tets tell: give the body.")
            self._around = _Around(body, vertices)
            vertices = self._around.seen
        self._part = pick_part(rig, vertices)

    def place(self, pose: FloatArray) -> FloatArray:
        """Where the vertices are in a pose [m], and their turns there, row by row, (k, 12)."""
        part = self._part
        if self._around is None and isinstance(part, SkinnedRig | PoseSpace):
            return part.place_and_turn(pose)
        x = part.positions(pose)
        turns = find_turns(part, pose) if self._around is None else self._around.turns(x)
        assert turns is not None  # it knew them in the neutral pose
        return np.concatenate([x if self._around is None else x[self._around.own], turns.reshape(-1, 9)], axis=1)

    def turns(self, pose: FloatArray) -> FloatArray:
        """The turns alone, (k, 3, 3)."""
        return self.place(pose)[:, 3:].reshape(-1, 3, 3)


class _Around:
    """The tets around some vertices."""

    def __init__(self, body: Body, vertices: NDArray[np.integer]) -> None:
        wanted = np.zeros(len(body.mass), np.bool_)
        wanted[vertices] = True
        rows = [np.flatnonzero(wanted[part.tets].any(axis=0)) for part in body.parts]
        corners = [part.tets[:, own].ravel() for part, own in zip(body.parts, rows, strict=True)]
        self.seen: NDArray[np.int64] = np.unique(np.concatenate([*corners, vertices])).astype(np.int64)
        """Vertices to place, (s,)."""
        self.own: NDArray[np.int64] = np.searchsorted(self.seen, vertices)
        """Those that were asked for among them, (k,)."""
        numbers = np.zeros(len(body.mass), np.int64)
        numbers[self.seen] = np.arange(len(self.seen))
        self._parts = [part.chosen(own, numbers) for part, own in zip(body.parts, rows, strict=True)]
        tets = np.concatenate([part.tets for part in self._parts], axis=1)
        volumes = np.concatenate([part.volume for part in self._parts])
        which = np.tile(np.arange(tets.shape[1]), 4)
        shares = csr_matrix((np.tile(volumes, 4), (tets.ravel(), which)), (len(self.seen), tets.shape[1]))
        totals = np.maximum(np.asarray(shares.sum(axis=1)).ravel(), np.finfo(np.float64).tiny)[self.own]
        self._shares = diags(1.0 / totals) @ shares[self.own]

    def turns(self, x: FloatArray) -> FloatArray:
        """Of the vertices asked for, (k, 3, 3), with those seen at x [m], (s, 3)."""
        turned = nearest_rotations(np.concatenate([part.deformation(x) for part in self._parts]))
        return nearest_rotations(np.asarray(self._shares @ turned.reshape(-1, 9)).reshape(-1, 3, 3))
