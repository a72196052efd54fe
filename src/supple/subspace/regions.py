"""Overlapping regions of a body, each around a point or a segment that a user names ([XB16] 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import TrainingError
from supple.mesh import TetMesh
from supple.rig.biharmonic_weights import biharmonic_weights
from supple.rig.skeleton import Skeleton
from supple.subspace.restriction import region_weights

__all__ = ["Region", "Regions", "find_regions"]

FloatArray = NDArray[np.float64]

FADE, DECAY = 0.1, 0.5  #: η and κ of the paper


@dataclass(frozen=True)
class Region:
    """What is named to denote a region: a point, a segment or the whole body."""

    name: str
    begin: tuple[float, float, float] | None
    """A point in the body at rest [m]; None: the whole body, which is a region beside all others."""
    end: tuple[float, float, float] | None = None
    """The other end of a segment; None for a point."""
    rank: int | None = None
    """Columns of its basis; None: an even share of all."""


@dataclass(frozen=True, eq=False)
class Regions:
    """d regions of n vertices."""

    names: tuple[str, ...]
    weights: FloatArray
    """How freely each vertex moves in each region, (d, n): 1 at its handle, 0 outside."""
    ranks: tuple[int | None, ...]

    @classmethod
    def of(cls, weights: ArrayLike, ranks: Sequence[int | None] | None = None) -> Regions:
        """Regions by their weights (d, n)."""
        table = np.asarray(weights, np.float64)
        names = tuple(f"region {k}" for k in range(len(table)))
        return cls(names, table, tuple(ranks or [None] * len(table)))

    @property
    def parts(self) -> FloatArray:
        """What is each region's of every vertex, (d, n): 0 outside, and 1 in all; nothing for the whole body's."""
        local = np.where((self.weights == 1.0).all(axis=1, keepdims=True), 0.0, self.weights)
        return np.asarray(local / np.maximum(local.sum(axis=0), 1e-300))

    @property
    def fixed(self) -> bool:
        """Whether every region has a rank of its own."""
        return None not in self.ranks

    def share(self, rank: int) -> tuple[int, ...]:
        """Columns of every region, `rank` of them in all unless each has its own number."""
        open_ = [k for k, own in enumerate(self.ranks) if own is None]
        left = rank - sum(own for own in self.ranks if own is not None)
        if open_ and left < len(open_):
            raise TrainingError(
                f"a rank of {rank} leaves {max(left, 0)} columns for {len(open_)} regions without a rank of their own: "
                "raise method.rank, or name fewer regions."
            )
        found = list(self.ranks)
        for order, k in enumerate(open_):
            found[k] = left // len(open_) + (order < left % len(open_))
        return tuple(own for own in found if own is not None)


def find_regions(mesh: TetMesh, handles: Sequence[Region], *, fade: float = FADE, decay: float = DECAY) -> Regions:
    """Regions around handles by bounded biharmonic weights: where these are above `fade` (η), to the power `decay` (κ).

    What no region reaches would not move, and is refused.
    """
    if not handles:
        raise TrainingError("regions need a handle each: name at least one point or segment.")
    if not (0.0 < fade < 1.0 and decay > 0.0):
        raise TrainingError(f"regions that fade at {fade:g} by the power {decay:g} make no sense: use 0.1 and 0.5.")
    names = tuple(one.name for one in handles)
    weights = np.ones((len(handles), len(mesh.vertices)))
    local = [k for k, one in enumerate(handles) if one.begin is not None]
    if local:
        parents = [-1, *[0] * (len(local) - 1)]
        heads, tails = zip(*((handles[k].begin, handles[k].end or handles[k].begin) for k in local), strict=True)
        bones = Skeleton.of([names[k] for k in local], parents, heads, tails)
        smooth = biharmonic_weights(mesh, bones, most=None).dense(len(local)).T
        weights[local] = region_weights(smooth, fade, decay)
    bare = int(np.count_nonzero(~(weights > 0.0).any(axis=0)))
    if bare:
        raise TrainingError(
            f"{bare} vertices are in none of the {len(handles)} regions: name fewer, or let them fade at less than "
            f"{fade:g}."
        )
    return Regions(names, weights, tuple(one.rank for one in handles))
