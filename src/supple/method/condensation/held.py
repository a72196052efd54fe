"""Motions of coordinates that a region leaves nothing of: they stay as they are, for full unknowns stand for them.

A rule less the exact tets is what is left of a motion's stiffness outside a region. Where that is less than what the
rule is wrong by, it may push along the motion instead of resisting it: shapes of contact that were learned where the
region is are such motions. Full vertices take such shapes by themselves; only the ends of them outside are carried.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as dense
from numpy.typing import NDArray

from supple.linalg.bordered import Bordered

__all__ = ["HeldMotions", "find_held", "follow_held", "hold"]

FloatArray = NDArray[np.float64]
_SINGULAR = 1e-9  # share of the mean stiffness that every motion is given, for a quotient
_SEEN = 1e-6  # share of the largest below which a motion moves no full vertex


class HeldMotions(NamedTuple):
    """What stays as it is."""

    motions: FloatArray
    """v, (r, u)."""
    rows: FloatArray
    """What a change of q may not have a part of, orthonormal, (r, u): W v, with W the stiffness of the whole. Changes
    with vᵀ W Δq = 0 are those along which what is left resists; along others that are but orthogonal to v it need
    not."""


def find_held(
    left: FloatArray, whole: FloatArray, own: NDArray[np.intp], share: float, others: FloatArray
) -> HeldMotions:
    """Motions of which less than a share is `left` of the `whole`, (r, r) each, and `others`, orthonormal, (r, u).

    They are among coordinates `own`, for the rest moves no exact tet."""
    at = np.ix_(own, own)
    scale = whole[at] + _SINGULAR * np.trace(whole[at]) / len(own) * np.eye(len(own))
    shares, vectors = dense.eigh(left[at], scale)
    little = vectors[:, shares < share]
    if not little.shape[1]:
        return HeldMotions(others, others)
    motions, rows = np.zeros((2, len(whole), little.shape[1]))
    motions[own], rows[own] = little, scale @ little
    return HeldMotions(_span(others, motions), _span(others, rows))


def _span(some: FloatArray, more: FloatArray) -> FloatArray:
    """An orthonormal basis of what columns span together, zero where all of them are: others are left alone."""
    both = np.concatenate([some, more / np.linalg.norm(more, axis=0)], axis=1)
    own = np.flatnonzero(both.any(axis=1))
    basis, sizes, _ = np.linalg.svd(both[own], full_matrices=False)
    found = np.zeros((len(both), int(np.count_nonzero(sizes > _SEEN * sizes[0]))))
    found[own] = basis[:, : found.shape[1]]
    return found


def follow_held(motions: FloatArray, moved: FloatArray, mass: FloatArray, away: FloatArray) -> FloatArray:
    """The change of q along held motions, which move full vertices by (3 f, u), that brings these nearest to what they
    are away by [m], (3 f,), in the metric of their masses [kg], (3 f,)."""
    weighed = moved * mass[:, None]
    inverse = np.linalg.pinv(moved.T @ weighed, rcond=_SEEN**2, hermitian=True)
    return np.asarray(motions @ (inverse @ (weighed.T @ away)))


def hold(matrix: Bordered, held: FloatArray) -> None:
    """Let a matrix have nothing of motions, orthonormal, (r, u), but a stiffness that keeps them where they are."""
    if held.shape[1]:
        matrix.held, matrix.grip = held, float(np.abs(np.diagonal(matrix.B)).mean())
