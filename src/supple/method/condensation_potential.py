"""What a condensed step minimises over z = (x_f, q): Eqs. (9) to (12) of [TMDK15] as one potential.

    Φ = Σ_exact Ψ(x) + Σ_rule w Ψ(Uq) - Σ_exact Ψ(Uq) + inertia + loads + contacts

Tets that touch a full vertex are exact. Their share of what the rule integrates is taken away again at the positions
that the subspace gives them ("subtract"): a rule's weights stand for far more than their own tets, so that leaving out
those inside the exact set, as Eq. (12) prints it ("paper"), takes stiffness from elsewhere. Where the region is large
nothing is left for the rule to integrate, and all tets are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import EXACT, VISCOUS, Elements, elastic_energy, elastic_gradient
from supple.linalg.bordered import Bordered, Handled, fold_border, multiply_rows
from supple.method.condensation_footing import Footing
from supple.method.condensation_region import Region
from supple.method.condensation_subspace import Ahead
from supple.solve.increment import Motion
from supple.solve.potential import Potential

__all__ = ["Condensed", "Drag", "Share", "Weights"]

FloatArray = NDArray[np.float64]
Weights = Literal["subtract", "paper"]
_UNSEEN = 1e-7  # share of its stiffness at rest that a coordinate keeps where no vertex is left to it


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
        mass, J = np.repeat(footing.region.mass, 3), footing.U_full
        origin = footing.origin[: len(footing.region.full)].ravel()
        own = followed.ca * (followed.xa - origin) + followed.cv * slowed * (followed.xv - origin)
        matrix, pull = ahead.inertia
        return cls(
            matrix - (followed.ca + followed.cv * slowed) * footing.taken, pull - (mass * own) @ J,
            ahead.load - force @ J, ahead.begin,
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


@dataclass(frozen=True, eq=False)
class Condensed:
    """Φ of one step in one region."""

    footing: Footing
    elements: ReducedElements
    """Of the rule."""
    frequencies: FloatArray
    """λ of the basis [1/s²], (r,)."""
    motion: Motion
    """Of the full vertices, (3 f,)."""
    damping_mass: float
    force: FloatArray
    """On the full vertices [N], (3 f,)."""
    share: Share
    """Of the coordinates."""
    joints: tuple[Potential, ...] = ()
    """Contacts and grabs over the region's numbers."""
    weights: Weights = "subtract"
    stiffness: float = 1.0
    drag: Drag | None = None

    @property
    def region(self) -> Region:
        return self.footing.region

    def with_joints(self, joints: Sequence[Potential]) -> "Condensed":
        """The same with other contacts and grabs."""
        return replace(self, joints=tuple(joints))

    @cached_property
    def parts(self) -> tuple[Elements, ...]:
        """The exact tets."""
        if self.stiffness == 1.0:
            return self.region.parts
        return tuple(part.with_stiffness(self.stiffness) for part in self.region.parts)

    @cached_property
    def _outside(self) -> ReducedElements:
        """The rule's tets that are not exact."""
        return self.elements.without(self.region.tets)

    @cached_property
    def _rule(self) -> ReducedElements:
        return self.elements if self.subtracts else self._outside

    @property
    def subtracts(self) -> bool:
        """Whether exact tets are taken away at Uq."""
        return self.weights == "subtract" and not self.region.whole

    def energy(self, z: FloatArray) -> tuple[float, float]:
        """Φ(z), and the size of the numbers it is the sum of [J]."""
        region, m = self.region, self.motion
        y, x, q = self.footing.place(z), z[: region.size], z[region.size :]
        terms = [elastic_energy(self.parts, y), -float(self.force @ (x - m.xa)), self.share.energy(q)]
        if not region.whole:
            terms.append(self._rule.energy(q))
        if self.subtracts:
            terms.append(-elastic_energy(self.parts, self.footing.follow(q)))
        for factor, origin in ((m.ca, m.xa), (m.cv * self.damping_mass, m.xv)):
            if factor:
                terms.append(0.5 * factor * float((x - origin) @ (self._mass * (x - origin))))
        if self.drag is not None:
            terms.append(self.drag.energy(z))
        terms += [joint.energy(y) for joint in self.joints]
        return sum(terms), sum(map(abs, terms)) + self._unit_strain_energy

    @cached_property
    def _unit_strain_energy(self) -> float:
        return sum(float(part.volume.sum()) * (part.material.mu + part.material.lam) for part in self.parts)

    @cached_property
    def _mass(self) -> FloatArray:
        return np.repeat(self.region.mass, 3)

    def terms(self, z: FloatArray) -> dict[str, FloatArray]:
        """∇Φ by where it comes from, each (3 f + r,)."""
        region, footing, m = self.region, self.footing, self.motion
        y, x, q = footing.place(z), z[: region.size], z[region.size :]
        elastic = footing.gather(elastic_gradient(self.parts, y))
        if not region.whole:
            elastic[region.size :] += self._rule.force(q)
        if self.subtracts:
            elastic[region.size :] -= elastic_gradient(self.parts, footing.follow(q)).ravel() @ footing.U
        found = {"elastic force": elastic, "external force": -np.concatenate([self.force, self.share.force])}
        slowed = m.cv * self.damping_mass
        above = self._mass * (m.ca * (x - m.xa) + slowed * (x - m.xv))
        # Drag of the coordinates is among their inertia
        found["inertia"] = np.concatenate([above, self.share.matrix @ q - self.share.pull])
        if self.drag is not None:
            found["damping"] = self.drag.resist(z)
        for joint in self.joints:
            for name, field in joint.terms(y).items():
                found[name] = footing.gather(field)
        return found

    def gradient(self, z: FloatArray) -> FloatArray:
        """∇Φ, (3 f + r,)."""
        return np.asarray(sum(self.terms(z).values()))

    def stiffen(self, z: FloatArray, form: int = EXACT, *, exact: bool = True, cautious: bool = False) -> Bordered:
        """∇²Φ in a form of elastic/kernels.py.

        `exact`: with what is taken away at Uq. Without, the rule's tets outside stand for the rest, a matrix that is
        positive where the other may not be, but takes Newton's method up to ten times as many iterations.
        `cautious` bounds the terms of contacts from above.
        """
        region, m = self.region, self.motion
        y, q = self.footing.place(z), z[region.size :]
        matrix = self._assemble(y, q, form)
        matrix.B += self._stiffen_rest(q, form, exact)
        matrix.extra = region.mass * (m.ca + m.cv * self.damping_mass)
        matrix.diagonal[:, [0, 4, 8]] += matrix.extra[:, None]
        matrix.B += self.share.matrix
        matrix.B[np.diag_indices(len(q))] += _UNSEEN * (self.frequencies + m.ca)
        if self.drag is not None:
            drag, factor = self.drag.matrix, self.drag.factor
            matrix.blocks = matrix.blocks + factor * drag.blocks
            matrix.diagonal += factor * drag.diagonal
            matrix.C += factor * drag.C
            matrix.B += factor * drag.B
        if self.joints:
            matrix.springs = self._join(y, cautious)
        return matrix

    def slow(self, begin: FloatArray, ahead: Ahead, beta: float) -> "Condensed":
        """The same step, slowed by β times the stiffness where it begins, with its vertices at `begin` [m], (l, 3)."""
        region, footing, m = self.region, self.footing, self.motion
        matrix = self._assemble(begin, ahead.begin, VISCOUS)
        origin = np.concatenate([begin[: len(region.full)].ravel(), ahead.begin])
        apart = footing.place(origin) - begin
        pull = np.zeros_like(origin)
        if apart.any():
            rows, data = region.block_rows, np.empty(region.map.pattern.nonzeros)
            blocks = np.asarray(rows.fill(region.map.assemble(self.parts, begin, data, form=VISCOUS)), np.float64)
            pull = footing.gather(multiply_rows(rows.start, rows.columns, blocks, 0, apart[:, :, None])[:, :, 0])
        share = self.share if region.whole else self.share.slowed(ahead.resist(self._outside))
        return replace(self, drag=Drag(matrix, beta * m.cv, origin, pull), share=share)

    def _assemble(self, y: FloatArray, q: FloatArray, form: int) -> Bordered:
        """The stiffness of the exact tets."""
        region, footing, rank = self.region, self.footing, len(q)
        begin, stop, end, edge = region.split
        rows, count = region.block_rows, len(region.full)
        data = np.empty(region.map.pattern.nonzeros)
        blocks = np.asarray(rows.fill(region.map.assemble(self.parts, y, data, form=form)), np.float64)
        U = footing.U_around.reshape(-1, 3, rank)
        C = fold_border(stop, end, edge, rows.columns, blocks, count, U)
        folded = multiply_rows(rows.start, rows.columns, blocks, count, U).reshape(-1, rank)
        B = footing.U_around.T @ folded
        return Bordered(
            begin, stop, rows.columns, blocks, _diagonal(rows.start, rows.columns, blocks, count),
            np.zeros(count), edge, C, 0.5 * (B + B.T), Handled.none(rank),
        )  # fmt: skip

    def _stiffen_rest(self, q: FloatArray, form: int, exact: bool) -> FloatArray:
        """That of all other tets, as the coordinates see it, (r, r)."""
        region, footing, rank = self.region, self.footing, len(q)
        if region.whole:
            return np.zeros((rank, rank))
        if not (self.subtracts and exact):
            return self._outside.stiffness(q, form=form)
        rows, data = region.block_rows, np.empty(region.map.pattern.nonzeros)
        again = np.asarray(rows.fill(region.map.assemble(self.parts, footing.follow(q), data, form=form)), np.float64)
        inner = multiply_rows(rows.start, rows.columns, again, 0, footing.U.reshape(-1, 3, rank))
        B = footing.U.T @ inner.reshape(-1, rank)
        return np.asarray(self.elements.stiffness(q, form=form) - 0.5 * (B + B.T))

    def _join(self, y: FloatArray, cautious: bool) -> Handled:
        """What contacts and grabs add, as springs between full vertices and the coordinates."""
        region, rank = self.region, len(self.frequencies)
        width = max(joint.weights.shape[1] for joint in self.joints)
        rows, weights = (np.concatenate([_widen(part, width) for part in both]) for both in (
            [np.asarray(joint.vertices, np.int64) for joint in self.joints], [joint.weights for joint in self.joints]
        ))  # fmt: skip
        outside = (rows >= len(region.full)) & (weights != 0.0)
        places, H = np.full(len(rows), -1, np.int64), np.zeros((0, 3, rank))
        mixed = np.flatnonzero(outside.any(axis=1))
        if len(mixed):
            places[mixed] = np.arange(len(mixed))
            share = np.where(outside[mixed], weights[mixed], 0.0)
            H = np.einsum("mk,mkir->mir", share, self.footing.U.reshape(-1, 3, rank)[rows[mixed]])
        curvature = np.concatenate([joint.curvature(y, cautious=cautious) for joint in self.joints])
        return Handled(
            np.where(outside, 0, rows), np.where(outside, 0.0, weights), np.ascontiguousarray(curvature), places, H
        )


def _widen(rows: NDArray[np.generic], width: int) -> NDArray[np.generic]:
    return rows if rows.shape[1] == width else np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


def _diagonal(start: NDArray[np.int64], columns: NDArray[np.int32], blocks: FloatArray, count: int) -> FloatArray:
    """The diagonal blocks of the first rows, (count, 9)."""
    row = np.repeat(np.arange(count), np.diff(start[: count + 1]))
    return np.asarray(blocks[: len(row)][columns[: len(row)] == row])
