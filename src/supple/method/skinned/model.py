"""What training leaves behind for a skinned body: a subspace, a rule for its forces and one for its moving frame."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.cubature.contact_rules import ContactRules
from supple.subspace import Basis

__all__ = ["SkinnedModel"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SkinnedModel:
    """Positions x = A (X + U q) + t, A and t the skinning of the pose."""

    basis: Basis
    """U, mass-orthonormal and diagonalised, zero where bones hold; importance is λ [1/s²]."""
    rule: Rule
    """Elements and weights for the elastic forces."""
    particles: Rule
    """Vertices and weights, which multiply masses, for gravity and the inertia of the moving frame."""
    reach: float
    """Largest size of trained coordinates in the energy norm: the root of the sum of λ_i q_i² [m kg^½/s]."""
    poses: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """Poses it was trained in, (k, p); none where that is not known."""
    error: float | None = None
    """Relative error of held-out cases against the full solver, the largest of them."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was asked, chosen and achieved: plain values, as JSON knows them."""
    contacts: ContactRules | None = None
    """Rules for its contact with itself; None where it was not trained for that."""

    def hash(self) -> str:
        """Fingerprint of everything that decides how a body moves under this model."""
        digest = hashlib.sha256()
        rules = (self.rule.members, self.rule.weights, self.particles.members, self.particles.weights)
        for array in (self.basis.columns, self.basis.importance, *rules):
            digest.update(np.ascontiguousarray(array).tobytes())
        if self.contacts is not None:
            self.contacts.digest(digest.update)
        return digest.hexdigest()

    def tell(self) -> dict[str, Any]:
        """What there is beside subspace and rule, by name."""
        return {"particles": self.particles.size, "particles_heldout_error": self.particles.heldout_error}
