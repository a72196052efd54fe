"""How far a subspace can have taken a vertex since a moment that is held fast: |x_i - x_i⁰| <= L_i · m.

The lengths L_i of a vertex are made once for that moment, over all vertices asked for; the measure m of any other
moment has a few numbers, whatever the mesh: how far coordinates, a frame or bones have gone ([JP04] bounds the boxes of
a tree in the same way).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.rig import SkinnedRig
from supple.subspace import Basis, DomainBases

__all__ = ["Anchor", "FrameAnchor", "PosedAnchor", "SkinAnchor", "StillAnchor", "domain_lengths", "row_lengths"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_BENT = 2.0  # how much farther than its bones a blend of dual quaternions may take a vertex
_AT_ONCE = 2048  # vertices whose rows are in memory together


class Anchor(Protocol):
    """A moment, and what bounds the way from there."""

    lengths: FloatArray
    """L of the vertices, (k, c)."""

    def measure(self, stance: object, q: FloatArray) -> FloatArray:
        """m of another moment, (c,); infinite where it cannot be told."""


class StillAnchor:
    """Of x = X + U q."""

    def __init__(self, stance: object, q: FloatArray, lengths: FloatArray) -> None:
        self._stance, self._q, self.lengths = stance, q, lengths[:, None]

    def measure(self, stance: object, q: FloatArray) -> FloatArray:
        return np.array([np.linalg.norm(q - self._q) if stance is self._stance else np.inf])


class FrameAnchor:
    """Of x = c + R (Ψ s + θ × y + τ): what pins carry, or nothing holds.

    |x - x⁰| <= |c - c⁰| + |R - R⁰| |y_i⁰| + |Ψ_i| |s - s⁰| + |θ| |y_i| + |τ|, and |y_i| <= |y_i⁰| + |Ψ_i| |y's s - s⁰|.
    """

    def __init__(self, R: FloatArray, centre: FloatArray, s: FloatArray, rows: FloatArray) -> None:
        """Rows Ψ of vertices, (k, 3, m)."""
        self._R, self._centre, self._s = R, centre, s
        arms = np.linalg.norm(rows @ s, axis=1)
        self.lengths = np.column_stack([row_lengths(rows), arms, np.ones(len(rows))])

    def measure_frame(
        self, R: FloatArray, centre: FloatArray, s: FloatArray, y: FloatArray, theta: FloatArray, shift: FloatArray
    ) -> FloatArray:
        """Of a frame with shape s, (m,), that turns a shape y, (m,), by θ [rad] and shifts it by τ [m]."""
        turn = float(np.linalg.norm(theta))
        return np.array([
            np.linalg.norm(s - self._s) + turn * np.linalg.norm(y - self._s),
            np.linalg.norm(R - self._R, 2) + turn, np.linalg.norm(centre - self._centre) + np.linalg.norm(shift),
        ])  # fmt: skip

    def measure(self, stance: object, q: FloatArray) -> FloatArray:
        part = getattr(stance, "part_from", None)
        return np.full(3, np.inf) if part is None else np.asarray(part(self, q))


class PosedAnchor:
    """Of x = A (X + U q) + t while bones stand still."""

    def __init__(self, basis: Basis | DomainBases, pose: FloatArray, q: FloatArray, lengths: FloatArray) -> None:
        """`lengths` |U_i| of every domain, (k, d)."""
        self._pose, self._q, self.lengths = pose, q, lengths
        self._ends = _list_ends(basis)

    def measure(self, stance: object, q: FloatArray) -> FloatArray:
        still = np.array_equal(stance.pose, self._pose)  # type: ignore[attr-defined]
        return _part(q - self._q, self._ends) if still else np.full(len(self._ends) - 1, np.inf)


class SkinAnchor:
    """Of x = A (X + U q) + t: each bone by how far it takes the box of what follows it."""

    def __init__(
        self,
        rig: SkinnedRig,
        basis: Basis | DomainBases,
        pose: FloatArray,
        q: FloatArray,
        vertices: IntArray,
        lengths: FloatArray,
    ) -> None:
        """`lengths` |U_i| of every domain, (k, d)."""
        self._rig, self._q = rig, q
        self._ends = _list_ends(basis)
        self._frames = rig.skeleton.transforms(pose)
        y, weights = (
            rig.rest[vertices] + basis.lift(q, vertices),
            rig.influences.pick(vertices).dense(len(rig.skeleton)),
        )
        corners = np.zeros((2, len(rig.skeleton), 3))
        for bone in np.flatnonzero(weights.any(axis=0)):
            own = y[weights[:, bone] > 0.0]
            corners[:, bone] = own.min(axis=0), own.max(axis=0)
        picks = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1)
        self._corners = np.stack([corners[pick, :, axis] for axis, pick in enumerate(picks)], axis=-1)  # (8, j, 3)
        bent = _BENT if rig.mode == "dual_quaternion" else 1.0
        self.lengths = np.concatenate([lengths, bent * weights], axis=1)

    def measure(self, stance: object, q: FloatArray) -> FloatArray:
        R, t = self._rig.skeleton.transforms(stance.pose)  # type: ignore[attr-defined]
        before, now = (np.einsum("jik,cjk->cji", A, self._corners) + b for A, b in (self._frames, (R, t)))
        ways = np.linalg.norm(now - before, axis=2).max(axis=0)
        turned = np.einsum("jik,jik->j", R, self._frames[0]) < 1.0  # a right angle: blends may go the other way round
        return np.concatenate([_part(q - self._q, self._ends), np.where(turned, np.inf, ways)])


def _list_ends(basis: Basis | DomainBases) -> NDArray[np.int64]:
    return basis.ends if isinstance(basis, DomainBases) else np.array([0, basis.rank])


def _part(change: FloatArray, ends: NDArray[np.int64]) -> FloatArray:
    """|Δq| of every domain, (d,)."""
    gone = np.add.reduceat(np.append(change**2, 0.0), ends[:-1])
    gone[np.diff(ends) == 0] = 0.0
    return np.asarray(np.sqrt(gone))


def row_lengths(rows: FloatArray) -> FloatArray:
    """The most that a unit of coordinates moves each vertex, |U_i|, (k,), of rows (k, 3, r)."""
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(rows @ rows.transpose(0, 2, 1))[:, -1], 0.0)))


def domain_lengths(basis: Basis | DomainBases, vertices: IntArray) -> FloatArray:
    """|U_i| of every domain, (k, d)."""
    bases = basis.bases if isinstance(basis, DomainBases) else (basis,)
    out = np.zeros((len(vertices), len(bases)))
    for first in range(0, len(vertices), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        rows = basis.rows(vertices[some])
        if not isinstance(basis, DomainBases):
            out[some, 0] = row_lengths(rows)
            continue
        for domain, (_, _, at) in enumerate(basis.each()):
            own = np.flatnonzero(rows[:, :, at].any(axis=(1, 2)))
            if len(own):
                out[first + own, domain] = row_lengths(rows[own, :, at])
    return out
