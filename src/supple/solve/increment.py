"""The potential that one step minimises.

Acceleration and velocity at the end of a step are affine in the positions there, a = ca (x - xa) and
v = cv (x - xv), so the equation of motion M a + C v + ∇ψ(x) = f is the minimum of

    Φ(x) = ca/2 |x - xa|²_M + cv/2 |x - xv|²_C + ψ(x) - f·x + grabs,      C = α M + β K(x_begin).

Statics is ca = cv = 0. The stiffness in C is that of the step's beginning, so that Φ has a Hessian.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import EXACT, PROJECTED, Elements, StiffnessMap, elastic_energy, elastic_gradient
from supple.linalg.blocks import BlockRows
from supple.solve.events import Grab

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

    def velocity(self, x: FloatArray) -> FloatArray:
        return self.cv * (x - self.xv)

    def acceleration(self, x: FloatArray) -> FloatArray:
        return self.ca * (x - self.xa)


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
        for grab in self.grabs:
            gap = np.asarray(grab.weights) @ x[list(grab.vertices)] - np.asarray(grab.target)
            parts.append(0.5 * grab.stiffness * float(gap @ gap))
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
        if self.grabs:
            pull = np.zeros_like(x)
            for grab in self.grabs:
                vertices, weights = list(grab.vertices), np.asarray(grab.weights)
                gap = weights @ x[vertices] - np.asarray(grab.target)
                np.add.at(pull, vertices, grab.stiffness * weights[:, None] * gap)
            terms["grab"] = pull
        return terms

    def gradient(self, x: FloatArray) -> FloatArray:
        """∇Φ over the unknowns [N]."""
        return self.map.unknowns(sum_fields(self.terms(x).values()))

    def hessian(self, x: FloatArray, out: FloatArray, *, project: bool) -> FloatArray:
        """Fill `out` with the upper triangle of ∇²Φ [N/m]; `project` clamps what elements contribute."""
        m, pattern = self.motion, self.map.pattern
        self.map.assemble(self.parts, x, out, form=PROJECTED if project else EXACT)
        diagonal = np.repeat(self.mass[self.map.free] * (m.ca + m.cv * self.damping_mass), 3)
        diagonal[self.map.locked] = 1.0  # a locked unknown does not move: its right-hand side is zero
        out[pattern.diagonal] += diagonal
        if m.cv and self.drag is not None:
            out += m.cv * self.drag.factor * self.drag.data
        for grab in self.grabs:
            self._add_grab(grab, out)
        return out

    def _add_grab(self, grab: Grab, out: FloatArray) -> None:
        """k w_i w_j I on the blocks of the grabbed vertices, which share an element."""
        rows, locked = self.map.rows, self.map.locked
        order = np.argsort(grab.vertices)
        block_row = {int(v): int(np.searchsorted(self.map.free, v)) for v in grab.vertices if rows[v] >= 0}
        for place, i in enumerate(order):
            for j in order[place:]:
                a, b = grab.vertices[i], grab.vertices[j]
                if a not in block_row or b not in block_row:
                    continue
                value = grab.stiffness * grab.weights[i] * grab.weights[j]
                first, second = block_row[a], block_row[b]
                axes = [k for k in range(3) if not np.isin([3 * first + k, 3 * second + k], locked).any()]
                if a == b:
                    out[self.map.pattern.diagonal[3 * first + np.array(axes, int)]] += value
                    continue
                step = int(self.map.lengths[a])
                slot = int(self.map.pattern.slots(np.array([first]), np.array([second]))[0])
                corner = np.array([slot, slot + step, slot + 2 * step - 1])  # the block's diagonal entries
                out[corner[axes]] += value


def _weighted_square(mass: FloatArray, field: FloatArray) -> float:
    return float(mass @ np.einsum("ij,ij->i", field, field))


def sum_fields(fields: Iterable[FloatArray]) -> FloatArray:
    """The sum of arrays of one shape."""
    first, *others = fields
    total = first.copy()
    for field in others:
        total += field
    return total
