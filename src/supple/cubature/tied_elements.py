"""Reduced elements of a body cut into domains, with the springs that tie these together: [TMDK15] 4.1.

Elements of a domain know its coordinates only, so their stiffness is a block of the diagonal and costs what its own
rank costs; off the diagonal there are only springs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.rule import Rule
from supple.elastic import EXACT
from supple.subspace.domain_bases import DomainBases
from supple.subspace.interface import Interface

__all__ = ["TiedElements"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TiedElements:
    """What reduced elements answer, for coordinates of all domains side by side."""

    domains: tuple[ReducedElements, ...]
    """Of each domain that moves."""
    springs: FloatArray
    """K_s, (r, r), of the springs' energy ½ qᵀ K_s q; constant in every pose."""

    @classmethod
    def build(cls, bases: DomainBases, rule: Rule, interface: Interface) -> "TiedElements":
        """Elements of a rule of the cut body (`join_rules`) in the bases of its domains."""
        found, owner = [], bases.domains.owners[rule.members]
        for domain, basis in enumerate(bases.bases):
            if basis.rank:
                own = owner == domain
                members = np.searchsorted(bases.domains.tets(domain), rule.members[own])
                piece = bases.domains.piece(domain)
                found.append(ReducedElements.build(piece, basis.columns, members, rule.weights[own]))
        return cls(tuple(found), interface.reduce(bases.bases))

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return len(self.springs)

    def _each(self) -> Iterator[tuple[ReducedElements, slice]]:
        """The elements of every domain and its coordinates."""
        begin = 0
        for elements in self.domains:
            yield elements, slice(begin, begin + elements.rank)
            begin += elements.rank

    def energy(self, q: FloatArray) -> float:
        """Energy of elements and springs [J] at coordinates q (r,)."""
        return sum(elements.energy(q[at]) for elements, at in self._each()) + 0.5 * float(q @ (self.springs @ q))

    def force(self, q: FloatArray) -> FloatArray:
        """Derivative of the energy by the coordinates, (r,)."""
        out = self.springs @ q
        for elements, at in self._each():
            out[at] += elements.force(q[at])
        return np.asarray(out)

    def stiffness(self, q: FloatArray, *, form: int = EXACT) -> FloatArray:
        """Second derivative of the energy by the coordinates, (r, r), that of the elements in single precision."""
        K = self.springs.copy()
        for elements, at in self._each():
            K[at, at] += elements.stiffness(q[at], form=form)
        return K
