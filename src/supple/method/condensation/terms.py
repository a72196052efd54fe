"""The parts of what a condensed step minimises, Eqs. (9) to (12) of [TMDK15]: their energy and their forces.

    Φ = Σ_exact Ψ(x) + Σ_rule w Ψ(Uq) - Σ_exact Ψ(Uq) + inertia + loads + contacts

Tets that touch a full vertex are exact. Their share of what the rule integrates is taken away again at the positions
that the subspace gives them ("subtract"): a rule's weights stand for far more than their own tets, so that leaving out
those inside the exact set, as Eq. (12) prints it ("paper"), takes stiffness from elsewhere. Where the region is large
nothing is left for the rule to integrate, and all tets are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Elements, elastic_energy, elastic_gradient
from supple.elastic.descent import descend
from supple.method.condensation.flat import NO_SPRINGS, Flat, Known, Quadratic, Springs, press
from supple.method.condensation.footing import Footing
from supple.method.condensation.region import Region
from supple.method.condensation.share import Drag, Share
from supple.method.condensation.subspace import Ruled
from supple.solve.increment import Motion
from supple.solve.potential import Potential

__all__ = ["CondensedTerms", "Weights", "sum_terms"]

FloatArray = NDArray[np.float64]
Made = TypeVar("Made")
Weights = Literal["subtract", "paper"]
_SEEN = 3  # iterates that are known at once: where a search begins, ends, and would have ended


@dataclass(frozen=True, eq=False)
class CondensedTerms:
    """Φ of one step in one region, its parts and what they sum up to."""

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

    def with_joints(self, joints: Sequence[Potential]) -> Self:
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

    @property
    def _contacts(self) -> list[ContactPotential]:
        return [one for one in self.joints if isinstance(one, ContactPotential)]

    @cached_property
    def _flat_joints(self) -> tuple[Springs, tuple[Potential, ...]]:
        """Contacts without friction, and all other joints."""
        own = [one for one in self._contacts if one.friction is None][:1]
        return Springs.of(own[0]) if own else NO_SPRINGS, tuple(one for one in self.joints if one not in own)

    def _find_known(self, z: FloatArray) -> Known | None:
        """What is known at one of the last z that were asked for."""
        for known in self.memory.get("seen", ()):
            if known.z is z:
                found: Known = known
                return found
        return None

    def _ask(self, z: FloatArray, make: Callable[[FloatArray], Known]) -> Known:
        """What the step is at z: contacts change without it, and energies are asked for where forces are known."""
        known = self._find_known(z)
        if known is None:
            known = make(z)
            self.memory["seen"] = (known, *self.memory.get("seen", ())[: _SEEN - 1])
        return known

    def energy(self, z: FloatArray) -> tuple[float, float]:
        """Φ(z), and the size of the numbers it is the sum of [J]."""
        flat, known = self._flat, self._find_known(z)
        if flat is None and known is None:
            return self._weigh(z)
        springs, others = (NO_SPRINGS, self.joints) if flat is None else self._flat_joints
        if known is not None:
            total, size, y = *known.height, known.y
        else:
            assert flat is not None
            total, size, y = flat.weigh(z)
        more = [float(press(springs, y))] + [joint.energy(y) for joint in others]
        if self.drag is not None:
            more.append(self.drag.energy(z))
        return total + sum(more), size + sum(map(abs, more)) + self._unit_strain_energy

    def _weigh(self, z: FloatArray) -> tuple[float, float]:
        """The same, term by term."""
        region = self.region
        y, x, q = self.footing.place(z), z[: region.size], z[region.size :]
        terms = [elastic_energy(self.parts, y), *self._weigh_rest(x, q)]
        if self.subtracts:
            terms.append(-elastic_energy(self._parts_under, self.footing.follow(q)))
        if self.drag is not None:
            terms.append(self.drag.energy(z))
        terms += [joint.energy(y) for joint in self.joints]
        return sum(terms), sum(map(abs, terms)) + self._unit_strain_energy

    def _weigh_rest(self, x: FloatArray, q: FloatArray) -> list[float]:
        """Energies of the rule, of inertia and of loads [J]."""
        m = self.motion
        terms = [-float(self.force @ (x - m.xa)), self.share.energy(q)]
        if not self.region.whole:
            terms.append(self._rule.energy(q))
        for factor, origin in ((m.ca, m.xa), (m.cv * self.damping_mass, m.xv)):
            if factor:
                terms.append(0.5 * factor * float((x - origin) @ (self._mass * (x - origin))))
        return terms

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
        known = self._find_known(z)
        return self.footing.gather(sum_terms(self.joints, self.footing.place(z) if known is None else known.y))

    def balance(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """∇Φ without contacts and grabs, and what elements and forces from outside have of it, each (3 f + r,)."""
        outside = -np.concatenate([self.force, self.share.force])
        make = self._differentiate_alone if self._flat is None else self._flat.differentiate
        total = self._ask(z, make).slope
        elastic = total - self._resist(z) - outside
        return total if self.drag is None else total + self.drag.resist(z), elastic, outside

    def _resist(self, z: FloatArray) -> FloatArray:
        """What inertia and drag by mass have of it, (3 f + r,)."""
        m, x, q = self.motion, z[: self.region.size], z[self.region.size :]
        above = self._mass * (m.ca * (x - m.xa) + m.cv * self.damping_mass * (x - m.xv))
        return np.concatenate([above, self.share.matrix @ q - self.share.pull])

    def _differentiate(self, z: FloatArray) -> FloatArray:
        """∇Φ part by part, held motions included; where only contacts have changed since, the rest is known."""
        known = self._ask(z, self._differentiate_alone)
        total: FloatArray = known.slope.copy()
        if self.drag is not None:
            total += self.drag.resist(z)
        if self.joints:
            total += self.footing.gather(sum_terms(self.joints, known.y))
        return total

    def _differentiate_alone(self, z: FloatArray) -> Known:
        """The same without contacts, grabs and drag."""
        region, footing, m, share = self.region, self.footing, self.motion, self.share
        x, q, y = z[: region.size], z[region.size :], footing.place(z)
        field, energy = descend(self.parts, y)
        total, terms = footing.gather(field), [energy, *self._weigh_rest(x, q)]
        above, below = total[: region.size], total[region.size :]
        below += share.matrix @ q - share.pull - share.force
        if not region.whole:
            below += self._rule.force(q)
        if self.subtracts:
            field, energy = descend(self._parts_under, footing.follow(q))
            below -= footing.gather_under(field)
            terms.append(-energy)
        slowed = m.cv * self.damping_mass
        above += self._mass * ((m.ca + slowed) * x - (m.ca * m.xa + slowed * m.xv)) - self.force
        return Known(z, y, None, total, (sum(terms), sum(map(abs, terms))))


def sum_terms(joints: Sequence[Potential], y: FloatArray) -> FloatArray:
    """What joints have of the gradient at y [m], (l, 3) [N]."""
    return np.asarray(sum(term for joint in joints for term in joint.terms(y).values()))
