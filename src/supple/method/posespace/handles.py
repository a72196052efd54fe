"""Points of a character that forces push and springs hold, as every example sees them: made once for each load."""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.method.posespace.lift import PoseLift
from supple.rig import Rig
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce
from supple.solve.live import Live

__all__ = ["PoseHandles", "Pushes"]

FloatArray = NDArray[np.float64]
Gathered = tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]


_FREE = np.zeros((1, 1, 3))  # springs where nobody holds anything


class Pushes(NamedTuple):
    """What acts on one character, by the number of the handle it acts on."""

    pulls: dict[int, FloatArray]
    """Forces, those of springs where the rig has the handle among them [N], (3,)."""
    stiffness: dict[int, FloatArray]
    """Of springs [N/m], (3,)."""


class PoseHandles:
    """Handles by number; gravity is the first.

    Those of columns that turn with the flesh are others in every pose: each character has its own.
    """

    def __init__(self, lift: PoseLift, gravity: FloatArray, hold: float) -> None:
        """`gravity` (m, 3, r); `hold` [N/m]: stiffness shared by the vertices that a user pins."""
        self._lift, self._hold = lift, hold
        self._rows = [gravity]
        self._known: dict[Hashable, tuple[int, object]] = {}
        self._stacks: dict[tuple[int, ...], FloatArray] = {}
        self._calm: tuple[Force, Gathered] | None = None  # gravity alone, as it was last gathered

    def find(self, forces: Sequence[Force], live: Live, rig: Rig, pose: FloatArray, who: int = 0) -> Pushes:
        """What acts on a character, called by a number, in a pose."""
        pulls: dict[int, FloatArray] = {}
        for force in forces:
            number, vector = self._of_force(force, pose, who)
            pulls[number] = pulls[number] + vector if number in pulls else vector
        stiffness: dict[int, FloatArray] = {}
        for vertices, weights, spring, target in self._springs(live):
            number = self._number((vertices, weights), np.array(vertices), np.array(weights), pose, who)
            gap = np.asarray(target) - np.asarray(weights) @ rig.positions(pose, np.array(vertices))
            pulls[number] = pulls.get(number, 0.0) + spring * gap
            stiffness[number] = stiffness.get(number, 0.0) + spring
        return Pushes(pulls, stiffness)

    def gather(
        self, acting: Sequence[tuple[tuple[Force, ...], Live]], rig: Rig, poses: Sequence[FloatArray]
    ) -> Gathered:
        """The handles (k, m, 3, r) that forces and users act on in the poses of b characters, pulls and stiffness
        there, (b, k, 3) each, and what of the pulls is gravity [m/s²], (b, 3), if there is any."""
        if len(acting) == 1 and _is_calm(*acting[0]):
            (force,) = acting[0][0]
            if self._calm is None or force is not self._calm[0]:
                pulls = np.array(force.acceleration, np.float64).reshape(1, 1, 3)  # type: ignore[attr-defined]
                self._calm = force, (self._stack((0,)), pulls, _FREE, pulls[:, 0])
            return self._calm[1]
        found = [self.find(*one, rig, pose, who) for who, (one, pose) in enumerate(zip(acting, poses, strict=True))]
        numbers = tuple(sorted(set().union(*(one.pulls for one in found))))
        pulls, stiffness = np.zeros((2, len(found), len(numbers), 3))
        for b, one in enumerate(found):
            for k, number in enumerate(numbers):
                if number in one.pulls:
                    pulls[b, k] = one.pulls[number]
                    stiffness[b, k] = one.stiffness.get(number, 0.0)
        return self._stack(numbers), pulls, stiffness, pulls[:, 0] if 0 in numbers else None

    def _springs(self, live: Live) -> Iterator[tuple[tuple[int, ...], tuple[float, ...], FloatArray, Sequence[float]]]:
        """Vertices, weights, stiffness [N/m], (3,), and far ends [m] of what a user holds."""
        for grab in live.grabs:
            yield grab.vertices, grab.weights, np.full(3, grab.stiffness), grab.target
        held = live.added
        for vertex, axes, place in zip(held.vertices.tolist(), held.held, live.places, strict=True):
            yield (vertex,), (1.0,), self._hold / len(held.vertices) * axes, place

    def _stack(self, numbers: tuple[int, ...]) -> FloatArray:
        """Handles on top of each other, (k, m, 3, r), kept while the same loads act."""
        if numbers not in self._stacks:
            if len(self._stacks) > 64:
                self._stacks.clear()
            shape = (len(numbers), *self._rows[0].shape)
            self._stacks[numbers] = np.array([self._rows[k] for k in numbers]).reshape(shape)
        return self._stacks[numbers]

    def _of_force(self, force: Force, pose: FloatArray, who: int) -> tuple[int, FloatArray]:
        match force:
            case Gravity(acceleration):
                return 0, np.asarray(acceleration, np.float64)
            case NodalForce(vertices, weights, vector):
                direction = np.asarray(vector, np.float64)
                if isinstance(force, PassingForce):
                    return self._renew(("passing", *direction.tolist()), vertices, weights, pose), direction
                # The arrays are kept too, so that no others can get their numbers
                return self._number((id(vertices), id(weights)), vertices, weights, pose, who), direction
        raise SceneError(f"a force of kind {type(force).__name__} is unknown in a subspace: use the full solver.")

    def _number(
        self, key: Hashable, vertices: NDArray[np.integer], weights: FloatArray, pose: FloatArray, who: int
    ) -> int:
        if self._lift.turning:
            return self._renew((who, key), vertices, weights, pose)
        if key not in self._known:
            self._add(key, vertices, weights, pose)
        return self._known[key][0]

    def _renew(self, key: Hashable, vertices: NDArray[np.integer], weights: FloatArray, pose: FloatArray) -> int:
        """The number of a handle that is another one in every step."""
        if key not in self._known:
            self._add(key, vertices, weights, pose)
        number = self._known[key][0]
        self._rows[number] = self._lift.sum_rows(pose, vertices, weights)
        self._stacks = {numbers: stack for numbers, stack in self._stacks.items() if number not in numbers}
        return number

    def _add(self, key: Hashable, vertices: NDArray[np.integer], weights: FloatArray, pose: FloatArray) -> None:
        self._rows.append(self._lift.sum_rows(pose, vertices, weights))
        self._known[key] = len(self._rows) - 1, (vertices, weights)


def _is_calm(forces: tuple[Force, ...], live: Live) -> bool:
    """Whether there is gravity and nothing else."""
    return len(forces) == 1 and type(forces[0]) is Gravity and not live.grabs and not len(live.added.vertices)
