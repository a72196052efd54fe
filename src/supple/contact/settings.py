"""What a user may say about contact."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError

__all__ = ["ContactSettings"]

VertexSet = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class ContactSettings:
    """How bodies touch: what is looked for, and how hard it pushes back."""

    self_contact: bool = False
    """Whether the body touches itself."""
    rules: bool = False
    """Whether a method that has rules for it looks at their contacts only."""
    friction: float = 0.0
    """Coulomb's coefficient μ."""
    restitution: float = 0.0
    """Share of its speed toward a collider that a vertex leaves with; for projective dynamics only."""
    collider_friction: tuple[float | None, ...] = ()
    """The same for each collider; None, or none for it: `friction`."""
    thickness: float = 0.0
    """Distance at which surfaces already touch [m]."""
    stiffness: float | None = None
    """k [Pa/m] of Eq. (6) of [TOK14]; None: from the material and the mesh."""
    alpha: float = 0.0
    """α of Eq. (7) of [TOK14]: share of the stiffness that also acts along the surface."""
    ignored: tuple[tuple[VertexSet, VertexSet], ...] = ()
    """Pairs of sets of vertices that never touch each other."""
    edges: bool = False
    """Whether edges of a body that touches itself touch each other."""
    ccd: bool = False
    """Whether a scene's run checks every step for crossings; a solver alone does not: see `check_step` of ccd.py."""

    def __post_init__(self) -> None:
        _check("friction", self.friction, 0.0, math.inf, "give Coulomb's coefficient, 0 for none, seldom above 1")
        _check("restitution", self.restitution, 0.0, 1.0, "give a share from 0 to 1")
        for number, value in enumerate(self.collider_friction):
            if value is not None:
                name = f"collider_friction[{number}]"
                _check(name, value, 0.0, math.inf, "give Coulomb's coefficient, 0 for none, seldom above 1")
        _check("thickness", self.thickness, 0.0, math.inf, "give a length in metres, 0 for none")
        _check("alpha", self.alpha, 0.0, 1.0, "give a share from 0 to 1")
        if self.stiffness is not None:
            _check("stiffness", self.stiffness, math.ulp(0.0), math.inf, "give Pa/m above 0, or leave it out")

    @property
    def is_slippery(self) -> bool:
        """Whether nothing rubs."""
        return self.friction == 0.0 and not any(self.collider_friction)

    def friction_of(self, source: NDArray[np.integer]) -> NDArray[np.float64]:
        """μ of contacts by their sources, (m,): numbers of colliders, or -1 for the body itself."""
        most = int(source.max(initial=-1)) + 1
        own = (*self.collider_friction, *[None] * most)[:most]
        table = np.array([*(self.friction if one is None else one for one in own), self.friction])
        return np.asarray(table[source])  # -1 is the last


def _check(name: str, value: float, low: float, high: float, remedy: str) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise SceneError(f"contact {name} = {value:g} makes no sense: {remedy}.")
