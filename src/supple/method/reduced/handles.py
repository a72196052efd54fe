"""Points of a body that forces push and springs hold, as a subspace sees them: Σ w Ψ, a few numbers each."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.solve.events import Grab
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce
from supple.solve.live import Live

__all__ = ["Handle", "Handles", "Springs"]

FloatArray = NDArray[np.float64]


class Handle(NamedTuple):
    """Where the weighted sum of some vertices is: weight c + R (J s)."""

    J: FloatArray
    """(3, m)"""
    weight: float


class Springs(NamedTuple):
    """Springs along world axes between handles and targets."""

    handles: list[Handle]
    stiffness: FloatArray
    """[N/m], (k, 3)"""
    targets: FloatArray
    """[m], (k, 3)"""


class Handles:
    """Handles of a body, made once for every load that comes."""

    def __init__(self, shapes: FloatArray, mass: FloatArray, hold: float) -> None:
        """`shapes` Ψ (n, 3, m); `hold` [N/m]: stiffness shared by the vertices that a user pins."""
        self._shapes, self._hold = shapes, hold
        self._total = float(mass.sum())
        self.gravity = Handle(np.tensordot(mass, shapes, 1), self._total)
        self._known: dict[Hashable, tuple[object, Handle]] = {}
        self._stacks: dict[tuple[int, ...], tuple[Sequence[Handle], FloatArray]] = {}

    def of_force(self, force: Force) -> tuple[Handle, FloatArray]:
        """What a force acts on, and with which vector [N]."""
        match force:
            case Gravity(acceleration):
                return self.gravity, np.asarray(acceleration, np.float64)
            case NodalForce(vertices, weights, vector):
                if isinstance(force, PassingForce):
                    return self._point(vertices, weights), np.asarray(vector, np.float64)
                return self.of_points(vertices, weights), np.asarray(vector, np.float64)
        raise SceneError(f"a force of kind {type(force).__name__} is unknown in a subspace: use the full solver.")

    def of_points(self, vertices: NDArray[np.integer], weights: FloatArray) -> Handle:
        """The weighted sum of some vertices, kept for as long as the same arrays name them."""
        key = (id(vertices), id(weights))
        if key not in self._known:
            # The arrays are kept too, so that no others can get their numbers
            self._known[key] = (vertices, weights), self._point(vertices, weights)
        return self._known[key][1]

    def of_live(self, live: Live) -> Springs:
        """The user's grabs and pins."""
        handles, stiffness, targets = [], [], []
        for grab in live.grabs:
            handles.append(self._of_grab(grab))
            stiffness.append([grab.stiffness] * 3)
            targets.append(grab.target)
        held = live.added
        for vertex, axes, place in zip(held.vertices.tolist(), held.held, live.places, strict=True):
            handles.append(Handle(self._shapes[vertex], 1.0))
            stiffness.append(self._hold / len(held.vertices) * axes)
            targets.append(place)
        return Springs(handles, np.array(stiffness, float).reshape(-1, 3), np.array(targets, float).reshape(-1, 3))

    def _of_grab(self, grab: Grab) -> Handle:
        key = (grab.vertices, grab.weights)
        if key not in self._known:
            self._known[key] = None, self._point(np.array(grab.vertices), np.array(grab.weights))
        return self._known[key][1]

    def _point(self, vertices: NDArray[np.integer], weights: FloatArray) -> Handle:
        return Handle(np.tensordot(weights, self._shapes[vertices], 1), float(np.sum(weights)))

    def stack(self, handles: Sequence[Handle], columns: slice) -> FloatArray:
        """The J of handles on top of each other, (k, 3, ...), kept while the same loads act."""
        key = (columns.start or 0, *(id(handle.J) for handle in handles))
        if key not in self._stacks:
            if len(self._stacks) > 64:
                self._stacks.clear()
            count = columns.stop - columns.start
            rows = [handle.J[:, columns] for handle in handles]
            # The handles are kept too, so that no others can get their numbers
            self._stacks[key] = handles, np.array(rows).reshape(len(handles), 3, count)
        return self._stacks[key][1]
