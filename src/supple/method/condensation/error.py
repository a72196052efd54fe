"""An oracle that needs no contact to be told: full space where the balance of all forces says that it is missing.

The motion of a subspace leaves forces r that it cannot answer. Beside the stiffness D of a vertex alone they are a
length, |D⁻¹ r|: far above its usual size at a load that the subspace does not know, but nowhere else. So it finds where
a region begins, never where it ends; a region has grown far enough when the same length is small all along its border.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import EXACT, Pins, StiffnessMap
from supple.mesh.spread import Spread
from supple.method.condensation.oracle import Sight
from supple.method.condensation.region import Ground

__all__ = ["ErrorOracle"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_PATCH = 4.5  # error of a patch by the largest length along its border, measured on loads at points
_STARTS, _GOES_ON = 12.0, 8.0  # medians of a sample that start a region, and that make one grow
_STILL = 0.01  # sizes of the body that it is taken to move by, should it move less
_SAMPLE = 0.01  # share of the surface that is looked at in every step; another one in the next
_FEWEST = 32  # vertices of a sample
_BEYOND = 2.0  # edges by which a region grows where it has to


class ErrorOracle:
    """Wants what touches or is pushed at a point, what is out of balance, and as much about it as accuracy takes."""

    def __init__(self, ground: Ground, accuracy: float, radius: float, edge: float) -> None:
        """`accuracy` is the error of a patch relative to the body's displacement; regions begin with a `radius` [m];
        `edge` [m] of the surface."""
        self._ground, self._accuracy, self._radius = ground, accuracy, radius
        self._step, self._least = _BEYOND * edge, _STILL * ground.body.mesh.size()
        self._spread = Spread(ground.rest, ground.neighbours, ground.movable)
        surface = ground.body.mesh.surface_vertices()
        surface = surface[ground.movable[surface]]
        self._sampled = np.random.default_rng(0).permutation(surface)
        self._size = min(max(_FEWEST, round(_SAMPLE * len(surface))), len(surface))

    def want(self, sight: Sight) -> IntArray:
        sample = self._draw(sight.state.steps)
        lengths = self._measure(sight, sample)
        usual = float(np.median(lengths)) if len(lengths) else 0.0
        stance = self._ground.subspace.stance(sight.state.below)
        far = np.linalg.norm(sight.state.place(self._ground, sample) - stance.origin(sample), axis=1)
        if len(sight.state.full):
            own = sight.state.motion[0] - stance.origin(sight.state.full)
            far = np.append(far, np.linalg.norm(own, axis=1))
        allowed = self._accuracy * float(far.max(initial=self._least)) / _PATCH
        loaded = np.setdiff1d(sight.loaded, sight.state.full)
        loaded = loaded[self._ground.movable[loaded]].astype(np.int32)
        looked, found = np.concatenate([sample, loaded]), np.concatenate([lengths, self._measure(sight, loaded)])
        seeds = looked[found > max(allowed, _STARTS * usual)]
        wanted = [self._spread.reach(np.union1d(seeds, sight.seeds), self._radius)]
        border = self._find_border(sight.state.full)
        if len(border):
            grows = border[self._measure(sight, border) > max(allowed, _GOES_ON * usual)]
            wanted.append(self._spread.reach(grows, self._step))
        return np.unique(np.concatenate(wanted)).astype(np.int32)

    def hold(self, sight: Sight) -> NDArray[np.bool_]:
        return np.asarray(sight.state.idle < 2)

    def _draw(self, number: int) -> IntArray:
        """The sample of a step."""
        begin = number * self._size % max(len(self._sampled), 1)
        return np.sort(np.take(self._sampled, np.arange(begin, begin + self._size), mode="wrap")).astype(np.int32)

    def _measure(self, sight: Sight, vertices: IntArray) -> FloatArray:
        """|D⁻¹ r| [m], (k,)."""
        if not len(vertices) or sight.unbalance is None:
            return np.zeros(len(vertices))
        way = np.einsum("vij,vj->vi", self._soft[vertices], sight.unbalance(vertices))
        return np.asarray(np.linalg.norm(way, axis=1))

    def _find_border(self, full: IntArray) -> IntArray:
        """Movable vertices beside the full ones, ascending."""
        if not len(full):
            return full
        start, neighbours = self._ground.neighbours
        lengths = start[full + 1] - start[full]
        first = np.repeat(start[full] - (np.cumsum(lengths) - lengths), lengths)
        beside = np.unique(neighbours[first + np.arange(lengths.sum())])
        beside = np.setdiff1d(beside, full, assume_unique=True)
        return np.asarray(beside[self._ground.movable[beside]], np.int32)

    @cached_property
    def _soft(self) -> FloatArray:
        """D⁻¹ of every vertex, the others held, at rest [m/N], (n, 3, 3)."""
        body = self._ground.body
        map = StiffnessMap.build(len(body.mass), body.parts, Pins.none())
        data = map.assemble(body.parts, body.mesh.vertices, np.empty(map.pattern.nonzeros), form=EXACT)
        a, b, c, d, e, f = data[map.pattern.diagonal_entries(np.arange(len(body.mass)))].T
        blocks = np.stack([a, b, c, b, d, e, c, e, f], axis=1).reshape(-1, 3, 3)
        return np.linalg.inv(blocks)
