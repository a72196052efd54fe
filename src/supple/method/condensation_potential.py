"""What a condensed step minimises over z = (x_f, q): Eqs. (9) to (12) of [TMDK15] as one potential.

    Φ = Σ_exact Ψ(x) + Σ_rule w Ψ(Uq) - Σ_exact Ψ(Uq) + inertia + loads + contacts

Tets that touch a full vertex are exact. Their share of what the rule integrates is taken away again at the positions
that the subspace gives them ("subtract"): a rule's weights stand for far more than their own tets, so that leaving out
those inside the exact set, as Eq. (12) prints it ("paper"), takes stiffness from elsewhere. Where the region is large
nothing is left for the rule to integrate, and all tets are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import EXACT, PROJECTED, VISCOUS, Elements, elastic_energy, elastic_gradient
from supple.linalg.bordered import Bordered, Handled
from supple.method.condensation_assembly import assemble, fold_parts, fold_under
from supple.method.condensation_flat import NO_SPRINGS, Flat, Quadratic, Springs
from supple.method.condensation_footing import Footing
from supple.method.condensation_held import HeldMotions, find_held, follow_held, hold
from supple.method.condensation_region import Region
from supple.method.condensation_share import Drag, Share
from supple.method.condensation_springs import hang_springs
from supple.method.condensation_strained import Strained
from supple.method.condensation_subspace import Ahead, Ruled
from supple.solve.increment import Motion
from supple.solve.potential import Potential

__all__ = ["Condensed", "Weights"]

FloatArray = NDArray[np.float64]
Made = TypeVar("Made")
Weights = Literal["subtract", "paper"]
_LEFT = 2.5  # errors of the rule below which what exact tets leave of a motion's stiffness says nothing
_HALF = 0.5  # share of its mass in a region below which a motion has enough of its stiffness outside
_EXACT = 1e-9  # error of a rule that has none
_UNSEEN = 1e-7  # share of its stiffness at rest that a coordinate keeps where no vertex is left to it


@dataclass(frozen=True, eq=False)
class Condensed:
    """Φ of one step in one region."""

    footing: Footing
    elements: Ruled
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
    error: float = 0.0
    """That the rule was trained to, relative."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What does not change with contacts, by name."""

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

    def _recall(self, name: str, make: Callable[[], Made]) -> Made:
        """What has been made once for all contacts of the step."""
        if name not in self.memory:
            self.memory[name] = make()
        made: Made = self.memory[name]
        return made

    @cached_property
    def _parts_under(self) -> tuple[Elements, ...]:
        """The exact tets where the subspace has them."""
        under = self.region.under
        if under is self.region or self.stiffness == 1.0:
            return self.parts if under is self.region else under.parts
        return tuple(part.with_stiffness(self.stiffness) for part in under.parts)

    def _push_under(self, q: FloatArray) -> FloatArray:
        """What those do to the coordinates, (r,)."""
        return self.footing.gather_under(elastic_gradient(self._parts_under, self.footing.follow(q)))

    @property
    def _outside(self) -> Ruled:
        """The rule's tets that are not exact."""
        return self._recall("outside", lambda: self.elements.without(self.region.tets))

    @property
    def _rule(self) -> Ruled:
        if not self.subtracts:
            return self._outside
        return self._recall("rule", lambda: self.elements.without(self.region.filled))

    @property
    def subtracts(self) -> bool:
        """Whether exact tets are taken away at Uq."""
        return self.weights == "subtract" and not self.region.whole

    @property
    def _flat(self) -> Flat | None:
        """The step without contacts over flat arrays; None where it has several materials, domains or rules."""
        return self._recall("flat", self._flatten)

    def _flatten(self) -> Flat | None:
        region, m, share = self.region, self.motion, self.share
        if len(self.parts) != 1 or region.under is not region or not isinstance(self.elements, ReducedElements):
            return None
        slowed, mass = m.cv * self.damping_mass, self._mass
        quadratic = Quadratic(
            (m.ca + slowed) * mass, share.matrix, np.concatenate([m.xa, share.begin]),
            np.concatenate(
                [slowed * mass * (m.xv - m.xa) + self.force, share.pull + share.force - share.matrix @ share.begin]
            ),
        )  # fmt: skip
        rule = self.elements.none() if region.whole else self._rule
        assert isinstance(rule, ReducedElements)
        return Flat.of(self.parts[0], self.footing, rule, quadratic, self.subtracts)

    @cached_property
    def _flat_joints(self) -> tuple[Springs, tuple[Potential, ...]]:
        """Contacts without friction, and all other joints."""
        own = [one for one in self.joints if isinstance(one, ContactPotential) and one.friction is None][:1]
        return Springs.of(own[0]) if own else NO_SPRINGS, tuple(one for one in self.joints if one not in own)

    def energy(self, z: FloatArray) -> tuple[float, float]:
        """Φ(z), and the size of the numbers it is the sum of [J]."""
        if self._flat is None:
            return self._weigh(z)
        springs, others = self._flat_joints
        total, size = self._flat.weigh(z, springs)
        more = [] if self.drag is None else [self.drag.energy(z)]
        if others:
            y = self.footing.place(z)
            more += [joint.energy(y) for joint in others]
        return total + sum(more), size + sum(map(abs, more)) + self._unit_strain_energy

    def _weigh(self, z: FloatArray) -> tuple[float, float]:
        """The same, term by term."""
        region, m = self.region, self.motion
        y, x, q = self.footing.place(z), z[: region.size], z[region.size :]
        terms = [elastic_energy(self.parts, y), -float(self.force @ (x - m.xa)), self.share.energy(q)]
        if not region.whole:
            terms.append(self._rule.energy(q))
        if self.subtracts:
            terms.append(-elastic_energy(self._parts_under, self.footing.follow(q)))
        for factor, origin in ((m.ca, m.xa), (m.cv * self.damping_mass, m.xv)):
            if factor:
                terms.append(0.5 * factor * float((x - origin) @ (self._mass * (x - origin))))
        if self.drag is not None:
            terms.append(self.drag.energy(z))
        terms += [joint.energy(y) for joint in self.joints]
        return sum(terms), sum(map(abs, terms)) + self._unit_strain_energy

    @property
    def _unit_strain_energy(self) -> float:
        def add() -> float:
            return sum(float(part.volume.sum()) * (part.material.mu + part.material.lam) for part in self.parts)

        return self._recall("unit", add)

    @property
    def _mass(self) -> FloatArray:
        return self._recall("mass", lambda: np.repeat(self.region.mass, 3))

    def terms(self, z: FloatArray) -> dict[str, FloatArray]:
        """∇Φ by where it comes from, each (3 f + r,)."""
        region, footing = self.region, self.footing
        y, q = footing.place(z), z[region.size :]
        elastic = footing.gather(elastic_gradient(self.parts, y))
        if not region.whole:
            elastic[region.size :] += self._rule.force(q)
        if self.subtracts:
            elastic[region.size :] -= self._push_under(q)
        found = {"elastic force": elastic, "external force": -np.concatenate([self.force, self.share.force])}
        found["inertia"] = self._resist(z)  # drag of the coordinates is among it
        if self.drag is not None:
            found["damping"] = self.drag.resist(z)
        for joint in self.joints:
            for name, term in joint.terms(y).items():
                found[name] = footing.gather(term)
        return found

    def press(self, z: FloatArray) -> FloatArray:
        """What contacts and grabs have of ∇Φ, (3 f + r,)."""
        if not self.joints:
            return np.zeros_like(z)
        at, y, _ = self.memory.get("seen", (None, z, z))
        return self.footing.gather(_sum_terms(self.joints, y if at is z else self.footing.place(z)))

    def gradient(self, z: FloatArray) -> FloatArray:
        """∇Φ, (3 f + r,)."""
        if self._flat is None:
            return self.see(self._differentiate(z))
        springs, others = self._flat_joints
        total, y, strain = self._flat.differentiate(z, springs)
        self.memory["seen"] = z, y, strain
        if self.drag is not None:
            total += self.drag.resist(z)
        if others:
            total += self.footing.gather(_sum_terms(others, y))
        return self.see(total)

    def balance(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """∇Φ without contacts and grabs, and what elements and forces from outside have of it, each (3 f + r,)."""
        outside = -np.concatenate([self.force, self.share.force])
        if self._flat is None:
            terms = self.terms(z)
            return np.sum(list(terms.values()), axis=0), terms["elastic force"], outside
        total, y, strain = self._flat.differentiate(z)
        self.memory["seen"] = z, y, strain
        elastic = total - self._resist(z) - outside
        return total if self.drag is None else total + self.drag.resist(z), elastic, outside

    def _resist(self, z: FloatArray) -> FloatArray:
        """What inertia and drag by mass have of it, (3 f + r,)."""
        m, x, q = self.motion, z[: self.region.size], z[self.region.size :]
        above = self._mass * (m.ca * (x - m.xa) + m.cv * self.damping_mass * (x - m.xv))
        return np.concatenate([above, self.share.matrix @ q - self.share.pull])

    def _differentiate(self, z: FloatArray) -> FloatArray:
        """∇Φ part by part, held motions included."""
        region, footing, m, share = self.region, self.footing, self.motion, self.share
        y, x, q = footing.place(z), z[: region.size], z[region.size :]
        field = elastic_gradient(self.parts, y)
        for joint in self.joints:
            for term in joint.terms(y).values():
                field += term
        total = footing.gather(field)
        above, below = total[: region.size], total[region.size :]
        below += share.matrix @ q - share.pull - share.force
        if not region.whole:
            below += self._rule.force(q)
        if self.subtracts:
            below -= self._push_under(q)
        slowed = m.cv * self.damping_mass
        above += self._mass * ((m.ca + slowed) * x - (m.ca * m.xa + slowed * m.xv)) - self.force
        if self.drag is not None:
            total += self.drag.resist(z)
        return total

    def see(self, total: FloatArray) -> FloatArray:
        """Forces on z without those along motions that are held: all of these is what rules miss."""
        held, below = self.held.rows, total[self.region.size :]
        if held.shape[1]:
            below -= held @ (held.T @ below)
        return total

    @property
    def held(self) -> HeldMotions:
        """Motions of the coordinates that stay as they are: they move full vertices alone, or exact tets leave less of
        their stiffness than the rule can tell. Full unknowns stand for what they did there."""
        return self._recall("held", self._find_held)

    def _find_held(self) -> HeldMotions:
        unseen, own = self.region.unseen, self.footing.stirred
        if not self.subtracts or not len(own) or self.error < _EXACT:
            return HeldMotions(unseen, unseen)
        if self.footing.most_taken < _HALF:  # what moves little mass there has most of its stiffness elsewhere
            return HeldMotions(unseen, unseen)
        q, inertia, moved = self.share.begin, self.share.matrix, self.motion.ca * self.footing.taken
        whole = self._rule.stiffness(q, form=PROJECTED) + inertia
        left = whole - self._take_away(q, PROJECTED)
        return find_held(left, whole + moved, own, _LEFT * self.error, unseen)

    def carry_held(self, z: FloatArray) -> FloatArray:
        """z with those motions as full vertices have them, for around them they have ends that go along."""
        size, q = self.region.size, z[self.region.size :]
        if not self.held.motions.shape[1] or not size:
            return z
        rows = self.footing.rows
        away = z[:size] - self.footing.origin[: len(self.region.full)].ravel() - rows.move_full(q)
        held = self.held.motions
        return np.concatenate([z[:size], q + follow_held(held, rows.move_full(held), self._mass, away)])

    def stiffen(
        self, z: FloatArray, form: int = EXACT, *, exact: bool = True, lagged: bool = False, cautious: bool = False
    ) -> Bordered:
        """∇²Φ in a form of elastic/kernels.py.

        `exact`: with what is taken away at Uq. Without, the rule's tets outside stand for the rest, a matrix that is
        positive where the other may not be, but takes Newton's method up to ten times as many iterations.
        `lagged`: elements are not asked again before they have strained by 0.005; and in motion what is taken away
        stays that of where the step begins, for beside inertia it hardly changes, and it is half of the work.
        `cautious` bounds the terms of contacts from above.
        """
        q = z[self.region.size :]
        at, y, strain = self.memory.get("seen", (None, z, z))
        if at is not z:
            y, strain = self.footing.place(z), np.zeros(0) if self.region.whole else self._rule.strain(q)
        strained = Strained(form, exact, y, strain)
        known: tuple[Strained, Bordered] | None = self.memory.pop("matrix", None)
        if not lagged or known is None or not known[0].serves(strained, self.parts):
            known = strained, self._stiffen(y, q, form, exact, lagged)
        if lagged:
            self.memory["matrix"] = known
        springs = self._join(y, cautious) if self.joints else known[1].springs
        return replace(known[1], springs=springs)

    def _stiffen(self, y: FloatArray, q: FloatArray, form: int, exact: bool, lagged: bool) -> Bordered:
        """The same without contacts and grabs."""
        m = self.motion
        rest = self._stiffen_rest(q, form, exact, lagged)
        matrix = self._assemble(y, q, form)
        matrix.extra = self.region.mass * (m.ca + m.cv * self.damping_mass)
        matrix.diagonal[:, ::4] += matrix.extra[:, None]
        matrix.B += rest + self.share.matrix
        matrix.B.ravel()[:: len(q) + 1] += _UNSEEN * (self.frequencies + m.ca)
        if self.drag is not None:
            drag, factor = self.drag.matrix, self.drag.factor
            matrix.blocks = matrix.blocks + factor * drag.blocks
            matrix.diagonal += factor * drag.diagonal
            matrix.C += factor * drag.C
            matrix.B += factor * drag.B
        hold(matrix, self.held.rows)
        return matrix

    def slow(self, begin: FloatArray, ahead: Ahead, beta: float) -> "Condensed":
        """The same step, slowed by β times the stiffness where it begins, with its vertices at `begin` [m], (l, 3)."""
        region, footing, m = self.region, self.footing, self.motion
        matrix = self._assemble(begin, ahead.begin, VISCOUS, keep=True)
        origin = np.concatenate([begin[: len(region.full)].ravel(), ahead.begin])
        apart = footing.place(origin) - begin
        pull = np.zeros_like(origin)
        if apart.any():
            pull = footing.gather(region.block_rows.multiply(matrix.blocks, apart))
        share = self.share if region.whole else self.share.slowed(ahead.resist(self._outside))
        return replace(self, drag=Drag(matrix, beta * m.cv, origin, pull), share=share, memory={})

    def _assemble(self, y: FloatArray, q: FloatArray, form: int, *, keep: bool = False) -> Bordered:
        """The stiffness of the exact tets, in memory of the region's unless it is to be kept."""
        region, rank = self.region, len(q)
        self.memory.pop("matrix", None)  # it is in the same memory
        (stop, edge, _), rows, count = region.split, region.block_rows, len(region.full)
        if self._flat is None:
            blocks, C, B = fold_parts(self.footing, self.parts, y, form)
        else:
            blocks, C, B = assemble(region, self._flat, self.parts[0].material.response, y, form)
        blocks = blocks.copy() if keep else blocks
        return Bordered(
            rows.start[:count], stop[:count], rows.columns, blocks, blocks[region.diagonal], np.zeros(count), edge,
            C, B, Handled.none(rank), region.clusters,
        )  # fmt: skip

    def _stiffen_rest(self, q: FloatArray, form: int, exact: bool, lagged: bool) -> FloatArray:
        """That of all other tets, as the coordinates see it, (r, r)."""
        rank = len(q)
        if self.region.whole:
            return np.zeros((rank, rank))
        if not (self.subtracts and exact):
            return self._outside.stiffness(q, form=form)
        if lagged and self.motion.ca > 0.0:
            taken = self._recall("taken", lambda: self._take_away(self.share.begin, form))
        else:
            taken = self._take_away(q, form)
        return np.asarray(self._rule.stiffness(q, form=form) - taken)

    def _take_away(self, q: FloatArray, form: int) -> FloatArray:
        """The stiffness of the exact tets where the subspace has them, (r, r)."""
        self.memory.pop("matrix", None)  # it is in the same memory
        if self._flat is not None:
            response = self.parts[0].material.response
            return assemble(self.region, self._flat, response, self.footing.follow(q), form, under=True)[2]
        return fold_under(self.footing, self._parts_under, q, form)

    def _join(self, y: FloatArray, cautious: bool) -> Handled:
        """What contacts and grabs add, as springs between full vertices and the coordinates."""
        curvature = [joint.curvature(y, cautious=cautious) for joint in self.joints]
        whole = np.ascontiguousarray(curvature[0] if len(curvature) == 1 else np.concatenate(curvature))
        return self._springs._replace(curvature=whole)

    @cached_property
    def _springs(self) -> Handled:
        """What does not change of them while they are frozen."""
        springs, held = hang_springs(self.footing, self.joints), self.held.rows
        if not len(springs.H) or not held.shape[1]:
            return springs
        return springs._replace(H=springs.H - (springs.H @ held) @ held.T)


def _sum_terms(joints: Sequence[Potential], y: FloatArray) -> FloatArray:
    """What joints have of the gradient at y [m], (l, 3) [N]."""
    return np.asarray(sum(term for joint in joints for term in joint.terms(y).values()))
