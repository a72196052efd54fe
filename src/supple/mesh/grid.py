"""A box cut into equal bricks of five tets each: exact geometry, for beams and blocks."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import MeshError
from supple.mesh.checks import check_size
from supple.mesh.tetmesh import TetMesh

__all__ = ["fill_box"]

TETS_PER_BRICK = 5

#: The five tets of a brick over its corners, numbered 4 x + 2 y + z: one in the middle, four around it. The
#: diagonals of opposite faces cross, so every other brick takes the mirror image and all faces match.
_EVEN = np.array([[0, 3, 5, 6], [1, 0, 3, 5], [2, 3, 0, 6], [4, 0, 5, 6], [7, 5, 3, 6]])
_ODD = _EVEN ^ 1  # mirrored in z


def fill_box(low: ArrayLike, high: ArrayLike, resolution: int | None = None, elements: int | None = None) -> TetMesh:
    """Tets filling the box between two corners [m] exactly, in nearly cubic bricks.

    `resolution` counts bricks along the longest side, `elements` the tets, met within 10 %.
    """
    size, counts_tets = check_size(resolution, elements)
    corner, opposite = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    sides = opposite - corner
    if sides.shape != (3,) or not np.isfinite(sides).all() or not (sides > 0).all():
        raise MeshError(f"a box from {corner.tolist()} to {opposite.tolist()} is empty; give three sides above 0.")
    counts = _count_bricks(sides, size) if counts_tets else _divide(sides, sides.max() / size)
    notes: tuple[str, ...] = ()
    tets = _number_tets(counts)
    if counts_tets and abs(len(tets) / size - 1) > 0.1:
        notes = (f"{size:,} tets were asked for; the nearest grid has {len(tets):,}",)
    steps = [np.linspace(0.0, 1.0, count + 1) for count in counts]
    shares = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    return TetMesh.clean(corner * (1 - shares) + opposite * shares, tets, notes=notes)


def _divide(sides: NDArray[np.float64], spacing: float) -> tuple[int, int, int]:
    x, y, z = np.maximum(np.rint(sides / spacing), 1).astype(int)
    return int(x), int(y), int(z)


def _count_bricks(sides: NDArray[np.float64], elements: int) -> tuple[int, int, int]:
    """Bricks along each axis: nearly cubic and near the wanted count; the nearest if none is within 8 %."""
    bricks = elements / TETS_PER_BRICK
    ideal = sides / np.cbrt(sides.prod() / bricks)
    longest = int(sides.argmax())
    across = [axis for axis in range(3) if axis != longest]
    ranges = [range(max(1, int(ideal[axis]) - 1), int(ideal[axis]) + 3) for axis in across]

    def rate(counts: tuple[int, int, int]) -> tuple[bool, float]:
        miss = abs(float(np.log(np.prod(counts) / bricks)))
        lengths = sides / counts
        return miss > 0.08, miss if miss > 0.08 else miss + float(np.log(lengths.max() / lengths.min()))

    candidates = []
    for pair in product(*ranges):
        along = bricks / np.prod(pair)
        for count in (int(along), int(along) + 1):
            counts = dict(zip((*across, longest), (*pair, max(1, count)), strict=True))
            candidates.append((counts[0], counts[1], counts[2]))
    return min(candidates, key=rate)


def _number_tets(counts: tuple[int, int, int]) -> NDArray[np.int64]:
    """Vertex numbers of all tets, brick by brick, the last axis running fastest, shape (5 bricks, 4)."""
    _, y, z = counts
    index = np.indices(counts).reshape(3, -1)
    strides = np.array([(y + 1) * (z + 1), z + 1, 1])
    first = strides @ index
    corners = np.array(list(product((0, 1), repeat=3))) @ strides
    odd = index.sum(axis=0) % 2 == 1
    local = np.where(odd[:, None, None], _ODD[:, [0, 1, 3, 2]], _EVEN)
    tets: NDArray[np.int64] = (first[:, None, None] + corners[local]).reshape(-1, 4)
    return tets
