"""Is a load one that a subspace was made for? What the subspace misses of the body's linear answer to it."""

import hashlib
import warnings
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.solve.forces import NodalForce
from supple.subspace import Basis, RestStiffness

__all__ = ["Novelty", "digest_load", "missed_share"]

FloatArray = NDArray[np.float64]
_MISSED = 0.1  # share of the answer to a load that may be missing before a user is told


def digest_load(vertices: NDArray[np.integer], weights: FloatArray) -> str:
    """Fingerprint of what a force acts on."""
    vertices, weights = np.asarray(vertices, np.int64), np.asarray(weights, np.float64)
    return hashlib.sha256(vertices.tobytes() + weights.tobytes()).hexdigest()[:16]


def missed_share(stiffness: RestStiffness, basis: Basis, field: FloatArray) -> float:
    """Share of the static answer to small forces (n, 3) [N] that lies outside a diagonalised basis, by energy norm."""
    b = stiffness.gather(field.reshape(-1, 1))[:, 0]
    whole = float(b @ stiffness.solve(b))
    within = basis.columns.T @ field.ravel()
    return float(np.sqrt(max(0.0, 1.0 - float(within @ (within / basis.importance)) / whole))) if whole > 0.0 else 0.0


class Novelty:
    """Looks at every load that was not trained for, once."""

    def __init__(self, body: Body, basis: Basis, trained: Collection[str]) -> None:
        self._body, self._basis, self._known = body, basis, set(trained)
        self._seen: dict[int, object] = {}  # arrays looked at, kept so that no others get their numbers

    def look(self, force: NodalForce) -> None:
        """Warn where the subspace cannot answer a force."""
        if id(force.weights) in self._seen or not np.any(force.vector):
            return
        self._seen[id(force.weights)] = force.weights
        name = digest_load(force.vertices, force.weights)
        if name in self._known:
            return
        self._known.add(name)
        field = np.zeros_like(self._body.mesh.vertices)
        force.add_to(field, self._body.mass)
        missed = missed_share(RestStiffness(self._body), self._basis, field)
        if missed > _MISSED:
            warnings.warn(
                f"the subspace misses {100 * missed:.0f} % of how the body answers a force on {len(force.vertices)} "
                "vertices that it was not trained for: add the force to [training] and train again, or use the full "
                "solver.",
                SuppleWarning,
                stacklevel=2,
            )
