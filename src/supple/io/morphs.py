"""Many frames as a few shapes: positions(t) = first frame + sum of weight(t) * shape, within a tolerance.

A morph target for every frame makes files that no engine takes; the shapes are the principal components of the
frames instead, as few as the tolerance allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

__all__ = ["Morphs", "fit_morphs"]

COLUMNS = 3 * 2**14  # coordinates worked on at a time: whole vertices
SHARE = 0.75  # of the tolerance that goes to leaving shapes out; the rest to leaving small displacements out


@dataclass(frozen=True)
class Morphs:
    """Shapes and their weights; every vertex of every frame is met within the tolerance."""

    start: NDArray[np.float64]  #: the first frame, shape (n, 3)
    shapes: NDArray[np.float32]  #: displacements, zero where they do not matter, shape (k, n, 3)
    weights: NDArray[np.float64]  #: of every frame, within -1 and 1, shape (frames, k)

    def frame(self, i: int) -> NDArray[np.float64]:
        """Positions in a frame, shape (n, 3)."""
        return self.start + np.tensordot(self.weights[i], self.shapes, axes=1)

    def part(self, vertices: slice) -> Morphs:
        """The same of some vertices."""
        return Morphs(self.start[vertices], self.shapes[:, vertices], self.weights)


def fit_morphs(frames: NDArray[np.floating], tolerance: float) -> Morphs:
    """The fewest principal shapes with which no vertex of frames (f, n, 3) is off by more than the tolerance."""
    count, vertices = frames.shape[:2]
    flat = frames.reshape(count, -1)
    start = flat[0].astype(np.float64)
    spans = [slice(at, at + COLUMNS) for at in range(0, 3 * vertices, COLUMNS)]
    gram = np.zeros((count, count))
    for span in spans:
        block = flat[:, span].astype(np.float64) - start[span]
        gram += block @ block.T
    values, vectors = scipy.linalg.eigh(gram)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    left = np.sqrt(np.maximum(values.sum() - np.cumsum(values), 0.0) / max(count * vertices, 1))
    useful = int((values > 1e-14 * max(values[0], 1e-300)).sum())
    low = k = min(int((left > SHARE * tolerance).sum()), useful)  # the root mean square is met; now the largest

    def shapes_of(count: int) -> NDArray[np.float64]:
        return np.concatenate([vectors[:, :count].T @ (flat[:, span] - start[span]) for span in spans], axis=1)

    def is_met(count: int) -> bool:
        error = _largest_error(flat, start, vectors[:, :count], shapes_of(count), spans)
        return error <= SHARE * tolerance

    while k < useful and not is_met(k):
        low, k = k + 1, min(k + max(1, k // 4), useful)
    while low < k:
        middle = (low + k) // 2
        low, k = (low, middle) if is_met(middle) else (middle + 1, k)
    basis, shapes = vectors[:, :k], shapes_of(k)
    reach = np.maximum(np.abs(basis).max(axis=0), 1e-300)
    shapes = (shapes * reach[:, None]).reshape(k, vertices, 3)
    small = np.linalg.norm(shapes, axis=2) <= (1.0 - SHARE) * tolerance / max(k, 1)
    shapes[small] = 0.0
    return Morphs(start.reshape(-1, 3), shapes.astype(np.float32), basis / reach)


def _largest_error(
    flat: NDArray[np.floating],
    start: NDArray[np.float64],
    basis: NDArray[np.float64],
    shapes: NDArray[np.float64],
    spans: list[slice],
) -> float:
    """Distance of the worst vertex of all frames from where the shapes put it."""
    worst = 0.0
    for span in spans:
        error = flat[:, span] - start[span] - basis @ shapes[:, span]
        worst = max(worst, float(np.square(error).reshape(len(flat), -1, 3).sum(axis=2).max(initial=0.0)))
    return math.sqrt(worst)
