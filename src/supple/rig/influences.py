"""Which joints move a vertex, and by how much."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, as_integers, refuse
from supple.errors import SceneError

__all__ = ["MOST", "Influences"]

FloatArray = NDArray[np.float64]

MOST = 4
"""Influences of a vertex that are kept where nothing else is asked for: what files and engines hold."""

_ROUND_OFF = 1e-5  # of a sum of weights: what single precision in a file leaves


@dataclass(frozen=True, eq=False)
class Influences:
    """Weights above or at 0 that sum to 1 at every vertex, the largest first; build them with `of` or `from_dense`."""

    joints: NDArray[np.int32]
    """Numbers of the joints that move each vertex, (n, k); those without weight repeat the first."""
    weights: FloatArray
    """How much each of them counts, (n, k)."""
    notes: tuple[str, ...] = ()
    """What was set right on the way in, in a user's words."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", np.ascontiguousarray(self.joints, np.int32))
        object.__setattr__(self, "weights", np.ascontiguousarray(self.weights, np.float64))

    @classmethod
    def of(cls, joints: ArrayLike, weights: ArrayLike, count: int, most: int | None = None) -> "Influences":
        """Checked influences from joint numbers and weights, (n, k) each, for a skeleton of `count` joints.

        Weights are normalised. Only the `most` largest of a vertex are kept, all by default.
        """
        given = as_floats(weights, "Influences.of(weights)", ("n", "k"), finite=False)
        numbers = as_integers(joints, "Influences.of(joints)", given.shape, dtype=np.int64)
        if not given.size:
            refuse("Influences.of(weights)", f"shape {given.shape}", "one or more for every vertex")
        _check_weights(given)
        _check_joints(numbers, given, count)
        notes = _note_sums(given)
        order = np.argsort(-given, axis=1, kind="stable")[:, : _check_most(most)]
        kept, chosen = (np.take_along_axis(array, order, axis=1) for array in (given, numbers))
        chosen = np.where(kept > 0.0, chosen, chosen[:, :1])
        share = kept / kept.sum(axis=1, keepdims=True)
        return cls(chosen, share, notes)

    @classmethod
    def from_dense(cls, weights: ArrayLike, most: int | None = MOST) -> "Influences":
        """Checked influences from a weight for every vertex and joint, (n, j); the `most` largest of a vertex stay."""
        given = as_floats(weights, "Influences.from_dense(weights)", ("n", "j"), finite=False)
        numbers = np.broadcast_to(np.arange(given.shape[1]), given.shape)
        influences = cls.of(numbers, given, given.shape[1], most)
        used = max(1, int((influences.weights > 0.0).sum(axis=1).max()))
        return cls(influences.joints[:, :used], influences.weights[:, :used], influences.notes)

    def __len__(self) -> int:
        return len(self.weights)

    def dense(self, count: int) -> FloatArray:
        """The weight of every vertex and joint of `count`, (n, j)."""
        table = np.zeros((len(self), count))
        np.add.at(table, (np.arange(len(self))[:, None], self.joints), self.weights)
        return table

    def main_joints(self) -> NDArray[np.int32]:
        """The joint that moves each vertex most, (n,)."""
        return self.joints[:, 0]

    def pick(self, vertices: NDArray[np.integer] | None) -> "Influences":
        """The influences of some vertices, or of all."""
        if vertices is None:
            return self
        return Influences(self.joints[vertices], self.weights[vertices])


def _check_weights(weights: FloatArray) -> None:
    """Refuse weights that no normalisation mends."""
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        vertex, place = np.argwhere(wrong)[0]
        raise SceneError(
            f"vertex {vertex} has the weight {weights[vertex, place]:.6g}, the first of {int(wrong.any(axis=1).sum())} "
            "vertices with a negative or non-finite one: give weights of 0 or above."
        )
    empty = np.flatnonzero(weights.sum(axis=1) <= 0.0)
    if empty.size:
        raise SceneError(
            f"vertex {empty[0]} has no influence, the first of {empty.size}: give every vertex a weight above 0."
        )


def _check_joints(joints: NDArray[np.integer], weights: FloatArray, count: int) -> None:
    """Refuse weights for joints that are not there; files pad rows with any number and no weight."""
    wrong = (weights > 0.0) & ((joints < 0) | (joints >= count))
    if wrong.any():
        vertex, place = np.argwhere(wrong)[0]
        raise SceneError(
            f"vertex {vertex} follows joint {joints[vertex, place]}, but the skeleton's {count} joints are numbered "
            f"from 0 to {count - 1}: correct the weights or give their skeleton."
        )


def _check_most(most: int | None) -> int | None:
    if most is not None and most < 1:
        raise SceneError(f"{most} influences a vertex hold nothing: keep 1 or more.")
    return most


def _note_sums(weights: FloatArray) -> tuple[str, ...]:
    sums = weights.sum(axis=1)
    off = np.abs(sums - 1.0) > _ROUND_OFF
    if not off.any():
        return ()
    low, high = sums[off].min(), sums[off].max()
    return (f"normalised the weights of {int(off.sum()):,} vertices, which summed to {low:.4g} to {high:.4g}",)
