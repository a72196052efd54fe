"""Forces, pins and grabs as a position space sees them."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce, external_force
from supple.solve.live import Live
from supple.subspace.position_space import PositionSpace

__all__ = ["Holds", "Loads"]

FloatArray = NDArray[np.float64]


class Holds(NamedTuple):
    """Points of the body that are drawn to targets: pins, which hardly give way, and grabs."""

    key: Hashable
    """Equal for equal points and stiffness."""
    rows: sp.csr_array
    """Rows of U, (k, c)."""
    pinned: NDArray[np.bool_]
    """Along which axes each is pinned, (k, 3)."""
    stiffness: FloatArray
    """Of grabs [N/m], 0 for pins, (k,)."""


class Loads:
    """What pushes and holds, made once for every load that comes."""

    def __init__(self, positions: PositionSpace, mass: sp.csr_array, own: Pins) -> None:
        self._positions, self._own = positions, own
        self.U = positions.matrix()
        """(n, c)"""
        self._weight = np.asarray(mass @ positions.constant)
        self._known: dict[tuple[int, int], tuple[object, FloatArray]] = {}
        self._held: Holds | None = None
        self._live: Live | None = None

    def gravity(self, forces: tuple[Force, ...]) -> FloatArray:
        """The sum of all gravity [m/s²], (3,)."""
        total = np.zeros(3)
        for force in forces:
            if isinstance(force, Gravity):
                total += force.acceleration
        return total

    def push(self, forces: tuple[Force, ...]) -> FloatArray:
        """Uᵀf [N], (c, 3)."""
        total = np.zeros((self._positions.columns, 3))
        for force in forces:
            match force:
                case Gravity(acceleration):
                    total += np.outer(self._weight, acceleration)
                case PassingForce(vertices, weights, vector):
                    total += np.outer(self.U[vertices].T @ weights, vector)
                case NodalForce(vertices, weights, vector):
                    total += np.outer(self.spread(vertices, weights), vector)
                case _:
                    total += self.U.T @ external_force((force,), self._positions.mass)
        return total

    def holds(self, live: Live) -> Holds:
        """The points held at present; the last are kept while the user changes nothing."""
        if self._held is None or self._live is not live:
            self._held, self._live = self._find(live), live
        return self._held

    def targets(self, live: Live, targets: FloatArray) -> FloatArray:
        """Where these points are drawn to [m], (k, 3)."""
        pins = live.pins(self._own)
        places = np.zeros((len(pins.vertices), 3))
        kept = self._own.without(live.released)
        mine = np.isin(self._own.vertices, kept.vertices)
        places[np.isin(pins.vertices, kept.vertices)] = targets[mine]
        added = np.isin(pins.vertices, live.added.vertices)
        places[added] = np.where(live.added.held, live.places, places[added])
        return np.concatenate([places, np.array([grab.target for grab in live.grabs]).reshape(-1, 3)])

    def _find(self, live: Live) -> Holds:
        pins = live.pins(self._own)
        grabs = [
            self.U[list(grab.vertices)].T @ np.asarray(grab.weights, np.float64) for grab in live.grabs
        ]  # fmt: skip
        rows = sp.vstack([self.U[pins.vertices], sp.csr_array(np.reshape(grabs, (-1, self.U.shape[1])))], "csr")
        pinned = np.concatenate([pins.held, np.zeros((len(grabs), 3), np.bool_)])
        stiffness = np.concatenate([np.zeros(len(pins.vertices)), [grab.stiffness for grab in live.grabs]])
        key = (
            pins.vertices.tobytes(), pins.held.tobytes(),
            *((grab.vertices, grab.weights, grab.stiffness) for grab in live.grabs),
        )  # fmt: skip
        return Holds(key, sp.csr_array(rows), pinned, stiffness)

    def spread(self, vertices: NDArray[np.integer], weights: FloatArray) -> FloatArray:
        """Uᵀw of weights at some vertices, (c,), kept for as long as the same arrays name them."""
        key = (id(vertices), id(weights))
        if key not in self._known:
            # The arrays are kept too, so that no others can get their numbers
            self._known[key] = (vertices, weights), np.asarray(self.U[vertices].T @ np.asarray(weights, np.float64))
        return self._known[key][1]
