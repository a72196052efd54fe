"""Reduced elements of a body in domains: G holds an element's own coordinates only, so that its rows are short.

What they cost is the sum of what their domains would cost alone; all of them are still filled, strained and stressed
in one pass.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.packed_products import gather_packed, strain_packed
from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.rule import Rule
from supple.cubature.skinned_elements import SkinnedElements
from supple.elastic import EXACT
from supple.rig import SkinnedRig
from supple.subspace.domain_bases import DomainBases

__all__ = ["PackedElements", "PackedSkin", "pack_skin"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedElements:
    """What reduced elements answer, for coordinates of all domains side by side."""

    packed: ReducedElements
    """With G (9 c, w), w the largest rank of a domain."""
    groups: NDArray[np.int64]
    """Elements of one domain and one kind of material, and their coordinates: see packed_products.py; (g, 4)."""
    rank: int
    """Number of coordinates of all domains."""

    def with_stiffness(self, factor: float) -> "PackedElements":
        """The same elements with their energy multiplied."""
        return replace(self, packed=self.packed.with_stiffness(factor))

    def without(self, others: NDArray[np.integer]) -> "PackedElements":
        """The same elements, those whose numbers are among `others` (ascending) with no weight."""
        return replace(self, packed=self.packed.without(others))

    def strain(self, q: FloatArray) -> FloatArray:
        """Deformation gradients F₀ + G q at coordinates q (r,), (9 c,)."""
        F = np.empty_like(self.packed.rest)
        strain_packed(self.packed.gradient, self.groups, q, F)
        return F + self.packed.rest

    def gather(self, P: FloatArray) -> FloatArray:
        """Gᵀ P, (r,), of stresses times volumes and weights (9 c,) [J]."""
        out = np.empty(self.rank)
        gather_packed(P, self.packed.gradient, self.groups, out)
        return out

    def energy(self, q: FloatArray) -> float:
        """Elastic energy [J] at coordinates q (r,)."""
        return self.energy_of(self.strain(q))

    def energy_of(self, F: FloatArray) -> float:
        """Elastic energy [J] of deformation gradients F (9 c,)."""
        return self.packed.energy_of(F)

    def volume_ratios(self, F: FloatArray) -> FloatArray:
        """Volume ratio J of every element, (c,), of deformation gradients F (9 c,)."""
        return self.packed.volume_ratios(F)

    @property
    def ids(self) -> NDArray[np.int64]:
        """Number of each element in the mesh, (c,)."""
        return self.packed.ids

    def force(self, q: FloatArray) -> FloatArray:
        """Derivative of the energy by the coordinates, (r,)."""
        return self.gather(self.packed.stress(self.strain(q)))

    def stiffness(self, q: FloatArray, *, form: int = EXACT) -> FloatArray:
        """Second derivative of the energy by the coordinates in single precision, (r, r)."""
        return self.square(*self.roots(self.strain(q)), form)

    def roots(self, F: FloatArray) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """As `ReducedElements.roots`."""
        return self.packed.roots(F)

    def square(self, L: NDArray[np.float32], signs: NDArray[np.bool_], form: int) -> FloatArray:
        """Gᵀ H G, (r, r), a block a domain, in single precision; H from `roots`."""
        K = np.zeros((self.rank, self.rank))
        for begin, end, first, stop in self.groups.tolist():
            K[first:stop, first:stop] += self.packed.square_some(L, signs, form, begin, end, stop - first)
        return K


class PackedSkin(NamedTuple):
    """Packed elements of a skinned body; `pose` puts them into a pose."""

    skinned: SkinnedElements
    groups: NDArray[np.int64]
    rank: int

    @property
    def elements(self) -> PackedElements:
        """The elements in the pose they were put into last."""
        return PackedElements(self.skinned.elements, self.groups, self.rank)

    def pose(self, pose: FloatArray) -> PackedElements:
        """The elements in a pose, in memory that the next call uses again."""
        self.skinned.pose(pose)
        return self.elements


def pack_skin(bases: DomainBases, rig: SkinnedRig, rule: Rule) -> PackedSkin:
    """The elements of a rule of the cut body; `rig` moves its vertices."""
    domains = bases.domains
    width = max(basis.rank for basis in bases.bases)
    columns = np.zeros((3 * len(domains.body.mass), width))
    for basis, at, _ in bases.each():
        columns[3 * at.start : 3 * at.stop, : basis.rank] = basis.columns
    owner = domains.owners[rule.members]
    order = np.argsort(owner, kind="stable")
    order = order[np.diff(bases.ends)[owner[order]] > 0]  # what does not move needs no elements
    skinned = SkinnedElements.build(domains.body, rig, columns, rule.members[order], rule.weights[order])
    return PackedSkin(skinned, _find_groups(skinned, bases), bases.rank)


def _find_groups(skinned: SkinnedElements, bases: DomainBases) -> NDArray[np.int64]:
    """Runs of elements of one domain and one kind of material, (g, 4)."""
    owner = bases.domains.domain_of[skinned.vertices[skinned.corners[:, 0]]]
    bounds = skinned.elements.bounds
    kind = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    breaks = np.flatnonzero((np.diff(owner) != 0) | (np.diff(kind) != 0)) + 1
    begin = np.concatenate([[0], breaks])
    end = np.append(breaks, len(owner))
    return np.column_stack([begin, end, bases.ends[owner[begin]], bases.ends[owner[begin] + 1]]).astype(np.int64)
