"""The potential of frozen contacts: penalty and friction, each a function of Jx = sum_k w_k x_k."""

from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.anisotropy import build_tensor, split
from supple.contact.contacts import Contacts
from supple.contact.friction import Friction
from supple.contact.penalty import Penalty

__all__ = ["ContactPotential"]

FloatArray = NDArray[np.float64]


class ContactPotential:
    """What a step minimises for its contacts while their set, their normals and the forces of friction are frozen."""

    def __init__(
        self,
        contacts: Contacts,
        x_begin: FloatArray,
        stiffness: float | FloatArray,
        alpha: float = 0.0,
        engaged: NDArray[np.bool_] | None = None,
        friction: float | FloatArray = 0.0,
        lagged: FloatArray | None = None,
        slip: float = 1e-6,
        duration: float = 0.0,
        bend: FloatArray | None = None,
    ) -> None:
        """Contacts of a step that begins at x_begin [m], (n, 3), and lasts `duration` [s].

        stiffness: k [Pa/m], one or (m,). alpha: α of Eq. (7) of [TOK14]. engaged: which contacts penetrated when they
        were frozen, (m,); α acts on these. friction: coefficient μ, one or (m,). lagged: normal forces of the last
        solution [N], (m,); without them there is no friction. slip: how far a contact moves until friction is that of
        sliding [m]. bend: how normals turn as contacts slide over what they touch [1/m], (m, 3, 3); for the second
        derivative alone, for that of frozen normals makes Newton's method creep where a new look turns them.
        """
        self.contacts, self._bend = contacts, bend
        along = stiffness * contacts.area
        self.engaged = np.zeros(len(contacts), bool) if engaged is None else engaged
        self.penalty = Penalty(contacts.normal, along, alpha * self.engaged * along)
        self.friction: Friction | None = None
        if lagged is not None and np.any(friction):
            self.friction = Friction(contacts.normal, friction * lagged, slip)
            self.origin = contacts.gap(x_begin) + duration * contacts.velocity
            """Gaps without any slide [m], (m, 3)."""

    def renumbered(self, vertices: NDArray[np.int32]) -> "ContactPotential":
        """The same contacts over other vertices, of which those of each contact are `vertices`, (m, 4)."""
        other = copy(self)
        other.contacts = replace(self.contacts, vertices=vertices)
        return other

    @property
    def rubs(self) -> bool:
        """Whether there is friction to overcome."""
        return self.friction is not None and bool(self.friction.limit.any())

    @property
    def vertices(self) -> NDArray[np.int32]:
        """Vertices of each contact, (m, 4)."""
        return self.contacts.vertices

    @property
    def weights(self) -> FloatArray:
        """Their weights, (m, 4)."""
        return self.contacts.weights

    def energy(self, x: FloatArray) -> float:
        """Energy at positions x [J]."""
        gap = self.contacts.gap(x)
        energy = self.penalty.energy(gap)
        return energy if self.friction is None else energy + self.friction.energy(gap - self.origin)

    def terms(self, x: FloatArray) -> dict[str, FloatArray]:
        """Derivative by the positions, by where it comes from [N], each (n, 3)."""
        gap = self.contacts.gap(x)
        terms = {"contact": self.penalty.gradient(gap)}
        if self.friction is not None:
            terms["friction"] = self.friction.gradient(gap - self.origin)
        return {name: self.contacts.scatter(force, len(x)) for name, force in terms.items()}

    def gradient(self, x: FloatArray) -> FloatArray:
        """Derivative by the positions [N], (n, 3)."""
        return self.contacts.scatter(-self.forces(x), len(x))

    def curvature(self, x: FloatArray, *, cautious: bool = False) -> FloatArray:
        """Second derivative by each Jx [N/m], (m, 3, 3); the Hessian's blocks are w_i w_j times these.

        `cautious`: a bound from above; friction as springs that pull alike at x, normals that do not turn.
        """
        gap = self.contacts.gap(x)
        curvature = self.penalty.curvature(gap)
        if self._bend is not None and not cautious:
            curvature -= self.penalty.normal_forces(gap)[:, None, None] * self._bend
        if self.friction is not None:
            slide = gap - self.origin
            if cautious:
                curvature += build_tensor(self.contacts.normal, np.zeros(len(gap)), self.friction.secant(slide))
            else:
                curvature += self.friction.curvature(slide)
        return curvature

    def sticks(self, x: FloatArray) -> bool:
        """Whether no contact that friction holds slides beyond the slip length at positions x [m], (n, 3)."""
        return not len(self._find_sliding(x)[0])

    def take_back(self, x: FloatArray) -> FloatArray:
        """Positions with every slide beyond the slip length undone [m], (n, 3): where sticking is looked for first.

        Newton's method finds the way from sticking to sliding in few steps, but not the way back, because sliding does
        not resist: a contact that slid while it was pressed too lightly would never be caught.
        """
        rows, aside = self._find_sliding(x)
        if not len(rows):
            return x
        # The touching vertex moves; of several contacts of one vertex the last counts
        moved, vertices = x.copy(), self.contacts.vertices[rows, 0]
        moved[vertices] = x[vertices] - aside
        return moved

    def normal_forces(self, x: FloatArray) -> FloatArray:
        """What presses the two sides of each contact apart [N], (m,)."""
        return self.penalty.normal_forces(self.contacts.gap(x))

    def forces(self, x: FloatArray) -> FloatArray:
        """Force on each touching vertex, friction included [N], (m, 3); what it touches feels the opposite."""
        gap = self.contacts.gap(x)
        force = -self.penalty.gradient(gap)
        return force if self.friction is None else force - self.friction.gradient(gap - self.origin)

    def _find_sliding(self, x: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """Contacts that slide beyond the slip length though friction resists, and their slides [m], (k, 3)."""
        if self.friction is None:
            return np.zeros(0, np.intp), np.zeros((0, 3))
        aside = split(self.contacts.normal, self.contacts.gap(x) - self.origin)[1]
        slides = np.einsum("mi,mi->m", aside, aside) > self.friction.slip**2
        rows = np.flatnonzero(slides & (self.friction.limit > 0.0))
        return rows, aside[rows]
