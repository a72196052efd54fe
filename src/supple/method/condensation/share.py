"""Parts of a condensed step that are quadratic: drag by stiffness, and what inertia and forces ask of coordinates."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supple.linalg.bordered import Bordered
from supple.method.condensation.footing import Footing
from supple.method.condensation.subspace import Ahead
from supple.solve.increment import Motion

__all__ = ["Drag", "Share"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drag:
    """Damping by stiffness of the exact tets: cv β K of the step's beginning."""

    matrix: Bordered
    factor: float
    origin: FloatArray
    pull: FloatArray
    """What is left at the origin, where the stance of the end does not have all vertices where they were."""

    def resist(self, z: FloatArray) -> FloatArray:
        """Its gradient at z."""
        return self.factor * (self.matrix.multiply(z - self.origin) + self.pull)

    def energy(self, z: FloatArray) -> float:
        """[J], but for a constant."""
        gone = z - self.origin
        return self.factor * float(0.5 * gone @ self.matrix.multiply(gone) + gone @ self.pull)


@dataclass(frozen=True, eq=False)
class Share:
    """What inertia and forces ask of the coordinates, less what full vertices have taken over."""

    matrix: FloatArray
    """(r, r)"""
    pull: FloatArray
    """Of inertia and drag, (r,)."""
    force: FloatArray
    """From outside, (r,)."""
    begin: FloatArray
    """Where the step begins, (r,)."""

    @classmethod
    def of(cls, ahead: Ahead, footing: Footing, followed: Motion, slowed: float, force: FloatArray) -> "Share":
        """The subspace would have moved the full vertices by `followed`, (3 f,), against drag by mass, and forces
        (3 f,) would have pushed it there."""
        mass, gather = np.repeat(footing.region.mass, 3), footing.rows.gather_full
        origin = footing.origin[: len(footing.region.full)].ravel()
        own = followed.ca * (followed.xa - origin) + followed.cv * slowed * (followed.xv - origin)
        matrix, pull = ahead.inertia
        if ahead.untie is not None:  # copies of a full vertex are one vertex
            matrix = matrix - ahead.untie(footing.region.full)
        return cls(
            matrix - (followed.ca + followed.cv * slowed) * footing.taken, pull - gather(mass * own),
            ahead.load - gather(force), ahead.begin,
        )  # fmt: skip

    def slowed(self, drag: tuple[FloatArray, FloatArray]) -> "Share":
        """The same with drag M, b."""
        # Products in single precision leave coordinates that move nothing a stiffness of either sign
        values, vectors = np.linalg.eigh(drag[0])
        matrix = (vectors * np.maximum(values, 0.0)) @ vectors.T
        pull = drag[1] + (matrix - drag[0]) @ self.begin
        return replace(self, matrix=self.matrix + matrix, pull=self.pull + pull)

    def energy(self, q: FloatArray) -> float:
        """[J], but for a constant."""
        gone = q - self.begin
        return float(0.5 * gone @ (self.matrix @ gone) - gone @ (self.pull + self.force - self.matrix @ self.begin))
