"""Points of a skinned body that forces push and springs hold: Σ w x, in any pose."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.skinned_elements import restrict_rig
from supple.errors import SceneError
from supple.method.skinned.particles import Particles, Placed
from supple.rig import SkinnedRig
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce
from supple.solve.live import Live
from supple.subspace import Basis, DomainBases

__all__ = ["Patches"]

FloatArray = NDArray[np.float64]


class Patch(NamedTuple):
    """Some vertices and their weights."""

    rig: SkinnedRig
    columns: FloatArray
    """U there, (k, 3, r)."""
    weights: FloatArray
    """(k,)"""

    def at(self, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        """J (3, r) and c (3,) [m] in a pose: the point is c + J q."""
        A, t = self.rig.frames(pose)
        turned = self.weights[:, None, None] * A
        place = np.einsum("vij,vj->i", turned, self.rig.rest) + self.weights @ t
        return np.tensordot(turned, self.columns, ((0, 2), (0, 1))), np.asarray(place)


class Patches:
    """Patches of a body, made once for every load that comes."""

    def __init__(self, rig: SkinnedRig, basis: Basis | DomainBases, particles: Particles) -> None:
        """Of a body in domains, what is drawn is pushed: the means of copies."""
        self._rig, self._particles, self._basis = rig, particles, basis
        self._hold = float(basis.mass.sum() * basis.importance.max())  # [N/m], shared by what a user pins
        self._known: dict[Hashable, tuple[object, Patch]] = {}

    def load(self, forces: Sequence[Force], pose: FloatArray, placed: Placed) -> FloatArray:
        """What forces do to the coordinates, (r,)."""
        total = np.zeros(self._basis.rank)
        for force in forces:
            match force:
                case Gravity(acceleration):
                    total += self._particles.weight(placed, np.asarray(acceleration, np.float64))
                case PassingForce(vertices, weights, vector):
                    J, _ = self._make(vertices, weights).at(pose)
                    total += np.asarray(vector, np.float64) @ J
                case NodalForce(vertices, weights, vector):
                    # The arrays are kept too, so that no others can get their numbers
                    J, _ = self._find((id(vertices), id(weights)), vertices, weights).at(pose)
                    total += np.asarray(vector, np.float64) @ J
                case _:
                    kind = type(force).__name__
                    raise SceneError(f"a force of kind {kind} is unknown in a subspace: use the full solver.")
        return total

    def springs(self, live: Live, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        """M (r, r) and pull (r,) of the user's grabs and pins, whose energy is ½ qᵀM q - pull·q."""
        rank = self._basis.rank
        M, pull = np.zeros((rank, rank)), np.zeros(rank)
        held = live.added
        patches = [self._find((grab.vertices, grab.weights), grab.vertices, grab.weights) for grab in live.grabs]
        stiffness = [np.full(3, grab.stiffness) for grab in live.grabs]
        targets = [np.asarray(grab.target) for grab in live.grabs]
        for vertex, axes, place in zip(held.vertices.tolist(), held.held, live.places, strict=True):
            patches.append(self._find(vertex, (vertex,), (1.0,)))
            stiffness.append(self._hold / len(held.vertices) * axes)
            targets.append(place)
        for patch, k, target in zip(patches, stiffness, targets, strict=True):
            J, place = patch.at(pose)
            M += J.T @ (k[:, None] * J)
            pull += J.T @ (k * (target - place))
        return M, pull

    def _find(self, key: Hashable, vertices: object, weights: object) -> Patch:
        if key not in self._known:
            self._known[key] = (vertices, weights), self._make(vertices, weights)
        return self._known[key][1]

    def _make(self, vertices: object, weights: object) -> Patch:
        numbers = np.asarray(vertices, np.int64)
        return Patch(restrict_rig(self._rig, numbers), self._basis.rows(numbers), np.asarray(weights, np.float64))
