"""The subspace that a skinned body moves in, as its solver sees it; here one for the whole body."""

from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.cubature.packed_elements import PackedElements
from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.skinned_elements import SkinnedElements
from supple.elastic import Body
from supple.method.placed_contacts import PlacedContacts
from supple.method.reduced.newton import Found, Given, LoadLoops, Scratch, is_large, minimise_whole
from supple.method.reduced.space import WHOLE
from supple.method.selfcontact.newton import ruled_kernel
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.particles import Particles
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["Elements", "Space", "WholeSpace"]

FloatArray = NDArray[np.float64]
Elements = TypeVar("Elements", ReducedElements, PackedElements)


class Space(Protocol, Generic[Elements]):
    """What steps ask of a subspace."""

    @property
    def particles(self) -> Particles:
        """Vertices that stand for all in gravity and the inertia of the frame."""

    @property
    def springs(self) -> FloatArray | None:
        """K_s (r, r), what holds it together in every pose; None where it is in one piece."""

    def pose(self, pose: FloatArray) -> Elements:
        """Its elements in a pose, in memory that the next call uses again."""

    def minimise(
        self,
        elements: Elements,
        loads: LoadLoops,
        given: Given,
        *,
        coupled: bool,
        touch: PlacedContacts | None = None,
    ) -> Found:
        """What the compiled Newton's method finds; `coupled`: loads tie all coordinates to each other, `touch`: these
        contacts tie some."""

    def settle(self, elements: Elements, given: Any, *, coupled: bool) -> Any:
        """What the compiled Newton's method finds that looks at contacts on its way (method/selfcontact/newton.py);
        `given`: its arguments from loads to settings."""

    def draw(self) -> Basis:
        """What is drawn of it, with the stiffness of its coordinates at rest."""

    def describe(self) -> list[str]:
        """What there is to say beside ranks and rules."""


class WholeSpace:
    """One subspace for the whole body."""

    springs = None

    def __init__(self, body: Body, rig: SkinnedRig, model: SkinnedModel) -> None:
        rule, self._basis = model.rule, model.basis
        self.particles = Particles.of(rig, model.basis, model.particles)
        self._elements = SkinnedElements.build(body, rig, model.basis.columns, rule.members, rule.weights)
        elements = self._elements.elements
        self._scratch = Scratch.of(elements, elements.rank)

    def pose(self, pose: FloatArray) -> ReducedElements:
        return self._elements.pose(pose)

    def minimise(
        self,
        elements: ReducedElements,
        loads: LoadLoops,
        given: Given,
        *,
        coupled: bool,
        touch: PlacedContacts | None = None,
    ) -> Found:
        return minimise_whole(elements, elements.rest, self._scratch, loads, given)

    def settle(self, elements: ReducedElements, given: Any, *, coupled: bool) -> Any:
        s, kernel = self._scratch, ruled_kernel(elements.loops, is_large(elements), WHOLE)
        return kernel(
            s.address, elements.gradient, elements.single, elements.rest, elements.table, elements.bounds, *given,
            s.L, s.signs, s.stack, s.halves, s.K,
        )  # fmt: skip

    def draw(self) -> Basis:
        return self._basis

    def describe(self) -> list[str]:
        return []
