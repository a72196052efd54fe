"""The potential that one step minimises.

Acceleration and velocity at the end of a step are affine in the positions there, a = ca (x - xa) and
v = cv (x - xv), so the equation of motion M a + C v + ∇ψ(x) = f is the minimum of

    Φ(x) = ca/2 |x - xa|²_M + cv/2 |x - xv|²_C + ψ(x) - f·x + grabs + contacts,      C = α M + β K(x_begin).

Statics is ca = cv = 0. The stiffness in C is that of the step's beginning, so that Φ has a Hessian.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import EXACT, PROJECTED, Elements, StiffnessMap, elastic_energy, elastic_gradient
from supple.linalg.blocks import BlockRows
from supple.linalg.overlay import Overlay
from supple.solve.coupling import Coupling
from supple.solve.events import Grab
from supple.solve.potential import Potential
from supple.solve.pull import Pull, Springs

__all__ = ["Drag", "Increment", "Motion", "sum_fields"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """Acceleration ca (x - xa) and velocity cv (x - xv) at the end of a step."""

    ca: float
    """[1/s²]"""
    xa: FloatArray
    cv: float
    """[1/s]"""
    xv: FloatArray
    share: float = 0.0
    """Of the acceleration at the step's beginning in the one that forces balance."""
    before: FloatArray | None = None
    """That acceleration [m/s²], where it counts."""

    def velocity(self, x: FloatArray) -> FloatArray:
        return self.cv * (x - self.xv)

    def acceleration(self, x: FloatArray) -> FloatArray:
        """What forces balance [m/s²]."""
        return self.ca * (x - self.xa)

    def end_acceleration(self, balanced: FloatArray) -> FloatArray:
        """The acceleration at the step's end [m/s²], given the one that forces balance."""
        if self.before is None:
            return balanced
        return np.asarray((balanced - self.share * self.before) / (1.0 - self.share))


@dataclass(frozen=True, eq=False)
class Drag:
    """Stiffness-proportional damping with the stiffness of the step's beginning, C (x - origin) cv.

    It acts on all vertices, held ones too: a body that its pins carry along is not strained and must not be slowed.
    """

    factor: float
    """β [s]"""
    data: FloatArray
    """Upper triangle of K over the unknowns."""
    rows: BlockRows
    blocks: NDArray[np.floating]
    """K over all vertices."""
    origin: FloatArray
    """Positions that are no motion [m], (n, 3): the integrator's xv, taken along by the rigid part of the step."""

    def product(self, field: FloatArray) -> FloatArray:
        """β K u for a field over all vertices, (n, 3)."""
        return self.factor * self.rows.multiply(self.blocks, field)


@dataclass(frozen=True, eq=False)
class Increment:
    """Φ of one step."""

    parts: tuple[Elements, ...]
    mass: FloatArray
    motion: Motion
    damping_mass: float
    drag: Drag | None
    force: FloatArray
    """External force [N], (n, 3)."""
    grabs: tuple[Grab, ...]
    map: StiffnessMap
    contact: Potential | None = None
    anchors: Springs | None = None
    """What ties flesh to a rig."""

    def energy(self, x: FloatArray) -> tuple[float, float]:
        """Φ(x), and the size of the numbers it is the sum of [J], by which its round-off is judged."""
        m = self.motion
        parts = [elastic_energy(self.parts, x), -float(np.vdot(self.force, x - m.xa))]
        if m.ca:
            parts.append(0.5 * m.ca * _weighted_square(self.mass, x - m.xa))
        if m.cv and self.damping_mass:
            parts.append(0.5 * m.cv * self.damping_mass * _weighted_square(self.mass, x - m.xv))
        if m.cv and self.drag is not None:
            u = x - self.drag.origin
            parts.append(0.5 * m.cv * float(np.vdot(u, self.drag.product(u))))
        parts += [potential.energy(x) for potential in self._joints]
        return sum(parts), sum(map(abs, parts)) + self._unit_strain_energy

    @cached_property
    def _unit_strain_energy(self) -> float:
        """Densities are differences of terms of this size [J], also where they vanish."""
        return sum(float(part.volume.sum()) * (part.material.mu + part.material.lam) for part in self.parts)

    def terms(self, x: FloatArray) -> dict[str, FloatArray]:
        """The gradient of Φ by where it comes from [N], each (n, 3)."""
        m = self.motion
        terms = {"elastic force": elastic_gradient(self.parts, x), "external force": -self.force}
        if m.ca:
            terms["inertia"] = m.ca * self.mass[:, None] * (x - m.xa)
        if m.cv and (self.damping_mass or self.drag is not None):
            drag = m.cv * self.damping_mass * self.mass[:, None] * (x - m.xv)
            if self.drag is not None:
                drag += m.cv * self.drag.product(x - self.drag.origin)
            terms["damping"] = drag
        for potential in self._joints:
            terms |= potential.terms(x)
        return terms

    def gradient(self, x: FloatArray) -> FloatArray:
        """∇Φ over the unknowns [N]."""
        return self.map.unknowns(sum_fields(self.terms(x).values()))

    def stiffen(self, x: FloatArray, out: FloatArray, *, project: bool) -> None:
        """Fill `out` with the upper triangle of what elements, inertia and damping contribute to ∇²Φ [N/m].

        `project` clamps what elements contribute.
        """
        m, pattern = self.motion, self.map.pattern
        self.map.assemble(self.parts, x, out, form=PROJECTED if project else EXACT)
        diagonal = np.repeat(self.mass[self.map.free] * (m.ca + m.cv * self.damping_mass), 3)
        diagonal[self.map.locked] = 1.0  # a locked unknown does not move: its right-hand side is zero
        out[pattern.diagonal] += diagonal
        if m.cv and self.drag is not None:
            out += m.cv * self.drag.factor * self.drag.data

    def join(self, x: FloatArray, *, cautious: bool = False) -> Overlay | None:
        """What grabs and contacts contribute to ∇²Φ; `cautious` bounds the terms of contacts from above."""
        return self._coupling.stiffen(x, cautious=cautious) if self._joints else None

    @cached_property
    def _joints(self) -> tuple[Potential, ...]:
        """The terms that join a few vertices each."""
        pull = Pull(self.grabs) if self.grabs else None
        return tuple(one for one in (pull, self.anchors, self.contact) if one is not None)

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self._joints, self.map)


def _weighted_square(mass: FloatArray, field: FloatArray) -> float:
    return float(mass @ np.einsum("ij,ij->i", field, field))


def sum_fields(fields: Iterable[FloatArray]) -> FloatArray:
    """The sum of arrays of one shape."""
    first, *others = fields
    total = first.copy()
    for field in others:
        total += field
    return total
