"""What training leaves behind: a subspace, a rule for its forces, and what is known of their errors."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.elastic import Body
from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["ReducedModel", "fingerprint", "refuse_other_body"]

FloatArray = NDArray[np.float64]

REASONS = {
    "vertices": "has {theirs} vertices where this one has {ours}",
    "tets": "has {theirs} tetrahedra where this one has {ours}",
    "mesh": "is another mesh of as many vertices and tetrahedra",
    "materials": "is made of other materials",
    "pins": "is held by other pins",
    "damping": "has another damping",
}


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """Positions x = c + R (X + S p + U q): the frame R, c and p follow the pins or are unknowns, q is solved for."""

    basis: Basis
    """U, mass-orthonormal and diagonalised, zero at pins; importance is λ [1/s²]."""
    rule: Rule
    """Elements and weights for the elastic forces."""
    carried: FloatArray
    """S, (3 n, s): fields that follow pins which move other than rigidly together; orthonormal at the pins."""
    reach: float
    """Largest size of trained coordinates in the energy norm: the root of the sum of λ_i q_i² [m kg^½/s]."""
    error: float | None = None
    """Relative error of held-out cases against the full solver, the largest of them."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was asked, chosen and achieved: plain values, as JSON knows them."""

    def hash(self) -> str:
        """Fingerprint of everything that decides how a body moves under this model."""
        digest = hashlib.sha256()
        for array in (self.basis.columns, self.basis.importance, self.rule.members, self.rule.weights, self.carried):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def tell(self) -> dict[str, Any]:
        """What there is beside subspace and rule, by name."""
        return {"carried_fields": self.carried.shape[1]}


def fingerprint(body: Body) -> dict[str, Any]:
    """What a model must find again in the body it serves, part by part."""
    mesh, pins = body.mesh, body.pins
    made_of = [body.made_of()]
    made_of += [] if body.stiffening is None else [body.stiffening.digest().encode()]
    return {
        "vertices": len(mesh.vertices),
        "tets": len(mesh.tets),
        "mesh": _digest(mesh.vertices.tobytes(), mesh.tets.tobytes()),
        "materials": _digest(*made_of),
        "pins": _digest(pins.vertices.tobytes(), pins.held.tobytes()),
        "damping": repr(body.damping),
        "body": body.hash(),
    }


def _digest(*pieces: bytes) -> str:
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def refuse_other_body(stored: Mapping[str, Any], body: Body, source: str) -> None:
    """Raise what differs between the body a model was trained for, by its fingerprint, and this one."""
    own = fingerprint(body)
    if stored.get("body") == own["body"]:
        return
    for part, reason in REASONS.items():
        theirs, ours = stored.get(part), own[part]
        if theirs != ours:
            sentence = reason.format(theirs=theirs, ours=ours)
            raise TrainingError(f"{source} was trained for another body, which {sentence}: train again.")
    raise TrainingError(f"{source} was trained for a body of other masses: train again.")
