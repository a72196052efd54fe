"""What a user may say about contact."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.arguments import as_indices, check_number, check_type, remember

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
        for name in ("self_contact", "rules", "edges", "ccd"):
            check_type(getattr(self, name), f"ContactSettings({name})", (bool, np.bool_), "True or False")
        check_type(self.ignored, "ContactSettings(ignored)", (tuple, list), "pairs of sets of vertices")
        rubbing = "0 for none, seldom above 1."
        check_number(self.friction, "ContactSettings(friction)", least=0.0, remedy=rubbing)
        check_number(self.restitution, "ContactSettings(restitution)", least=0.0, most=1.0)
        check_type(self.collider_friction, "ContactSettings(collider_friction)", (tuple, list), "one for each collider")
        for number, value in enumerate(self.collider_friction):
            if value is not None:
                check_number(value, f"ContactSettings(collider_friction[{number}])", least=0.0, remedy=rubbing)
        check_number(self.thickness, "ContactSettings(thickness)", least=0.0, unit="m")
        check_number(self.alpha, "ContactSettings(alpha)", least=0.0, most=1.0)
        if self.stiffness is not None:
            check_number(self.stiffness, "ContactSettings(stiffness)", above=0.0, unit="Pa/m")
        pairs = tuple(
            tuple(as_indices(side, f"ContactSettings(ignored[{number}])") for side in pair)
            for number, pair in enumerate(self.ignored)
        )
        remember(self, ignored=pairs, collider_friction=tuple(self.collider_friction))

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
