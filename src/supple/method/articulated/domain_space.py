"""The subspaces of a skinned body's domains, tied by springs, as its solver sees them: [TMDK15] 4.1.

A step costs the sum of what the domains would cost alone, and the factor of a matrix that is zero between domains
without a common border.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature.packed_elements import PackedElements, pack_skin
from supple.cubature.skinned_elements import restrict_rig
from supple.method.articulated.domain_newton import DOMAINS, reach
from supple.method.articulated.model import ArticulatedModel
from supple.method.placed_contacts import PlacedContacts
from supple.method.reduced.newton import CAPPED, Found, Given, LoadLoops, Scratch, is_large, newton_kernel
from supple.method.selfcontact.newton import ruled_kernel
from supple.method.skinned.particles import Particles
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["DomainSpace"]

FloatArray = NDArray[np.float64]


class DomainSpace:
    """A subspace a domain."""

    def __init__(self, rig: SkinnedRig, model: ArticulatedModel) -> None:
        bases, self._model = model.basis, model
        self.particles = Particles.of_copies(rig, bases, model.particles)
        self.springs: FloatArray | None = model.interface.reduce(bases.bases) if len(model.interface.pairs) else None
        self._skin = pack_skin(bases, restrict_rig(rig, bases.domains.vertex_of), model.rule)
        elements, ranks = self._skin.elements.packed, np.diff(self._skin.groups[:, 2:])
        self._scratch = Scratch.of(elements, bases.rank)
        self._blocks = np.zeros(int((ranks**2).sum()), np.float32)
        self._root, self._everywhere = np.empty(bases.rank), np.full(bases.rank, bases.rank)
        self._factored = self._last = _row_ends(model)

    def pose(self, pose: FloatArray) -> PackedElements:
        return self._skin.pose(pose)

    def minimise(
        self,
        elements: PackedElements,
        loads: LoadLoops,
        given: Given,
        *,
        coupled: bool,
        touch: PlacedContacts | None = None,
    ) -> Found:
        s, own = self._scratch, elements.packed
        last = self._everywhere if coupled else self._last
        if touch is not None and not coupled:
            last = reach(touch.start, touch.first, touch.width, last)
        settings = given[3]
        resumes = settings.size > 4 and settings[5] > 0.0
        if resumes:  # with the factor that is there, whose rows end where they end
            if (last > self._factored).any():
                return given[2], 0, 0, np.inf, 0.0, CAPPED
            last = self._factored
        G = own.gradient, elements.groups, last, self._root
        found: Found = newton_kernel(own.loops, loads, is_large(own), DOMAINS)(
            s.address, G, own.single, own.rest, own.table, own.bounds, *given, s.L, s.signs, s.stack, self._blocks, s.K
        )
        if found[2] and not resumes:
            self._factored = last
        return found

    def settle(self, elements: PackedElements, given: Any, *, coupled: bool) -> Any:
        s, own = self._scratch, elements.packed
        G = own.gradient, elements.groups, self._everywhere if coupled else self._last, self._root
        kernel = ruled_kernel(own.loops, is_large(own), DOMAINS)
        return kernel(
            s.address, G, own.single, own.rest, own.table, own.bounds, *given, s.L, s.signs, s.stack, self._blocks, s.K
        )

    def draw(self) -> Basis:
        return self._model.basis.tied(self._model.interface)

    def describe(self) -> list[str]:
        domains, interface = self._model.basis.domains, self._model.interface
        return [
            f"{len(domains)} domains ({', '.join(domains.names)}) of ranks "
            f"{', '.join(str(basis.rank) for basis in self._model.basis.bases)}; {len(interface.pairs):,} springs of "
            f"{interface.stiffness:.3g} N/m between them, where the mean of copies is drawn"
        ]


def _row_ends(model: ArticulatedModel) -> NDArray[np.int64]:
    """Where rows of the stiffness end: with the coordinates of the last domain that a domain has springs to, (r,)."""
    bases, owner = model.basis, model.basis.domains.domain_of[model.interface.pairs]
    last = np.arange(len(bases.domains))
    np.maximum.at(last, owner[:, 0], owner[:, 1])  # pairs have the lower domain first
    return np.repeat(bases.ends[last + 1], np.diff(bases.ends))
