"""Position spaces from recorded motion: principal components of the coordinates, shared by x, y and z."""

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError
from supple.linalg.ties import in_single
from supple.subspace.pca import principal_columns
from supple.subspace.position_space import PositionSpace
from supple.subspace.recorded import check_recorded

__all__ = ["add_recorded", "affine_space"]

FloatArray = NDArray[np.float64]


def affine_space(rest: FloatArray, mass: FloatArray) -> PositionSpace:
    """All affine maps of the rest positions [m], (n, 3): what recorded motion alone is added to."""
    count = len(rest)
    centre = mass @ rest / mass.sum()
    local = (rest - centre) / max(float(np.ptp(rest, axis=0).max()), np.finfo(float).tiny)
    values = np.column_stack([np.ones(count), local])
    starts = np.arange(count + 1, dtype=np.int64)
    return PositionSpace.build(starts, np.zeros(count, np.int32), values, 1, mass, "one affine map")


def add_recorded(space: PositionSpace, recorded: FloatArray, rank: int) -> PositionSpace:
    """A space with `rank` more columns, rounded up to fours, that hold most of recorded positions [m], (k, n, 3).

    Components of what the space holds already are taken out first. Where the recording has fewer, the rest stays idle.
    """
    count = len(space.mass)
    check_recorded(recorded, count)
    if rank < 1:
        raise TrainingError(f"{rank} columns from recorded motion make no sense: ask for at least 1.")
    left = in_single(np.column_stack([x - space.lift(space.project(x)) for x in np.asarray(recorded, np.float64)]))
    size = float(np.abs(recorded - recorded.mean(axis=1, keepdims=True)).max())
    columns, singular = principal_columns(left, space.mass, rank)
    columns = columns[:, singular > 1e-9 * size * np.sqrt(space.mass.sum())]  # less is round-off of the projection
    added = -(-max(columns.shape[1], 1) // 4)
    dense = np.zeros((count, 4 * added))
    dense[:, : columns.shape[1]] = columns
    own = np.diff(space.starts)
    starts = space.starts + added * np.arange(count + 1)
    blocks = np.empty(starts[-1], np.int32)
    values = np.empty((starts[-1], 4))
    old = np.arange(len(space.blocks)) + added * np.repeat(np.arange(count), own)
    new = (starts[1:, None] - added + np.arange(added)).ravel()
    blocks[old], values[old] = space.blocks, space.values
    blocks[new], values[new] = np.tile(space.size + np.arange(added), count), dense.reshape(-1, 4)
    source = f"{space.source} + {columns.shape[1]} columns from {len(recorded)} recorded frames"
    return PositionSpace.build(starts, blocks, values, space.size + added, space.mass, source)
