"""What is known of the contacts of one step, from look to look: the later it is, the more of it stays as it is."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.potential import ContactPotential
from supple.contact.sets import choose, is_in, join, merge

__all__ = ["KEEPS_GEOMETRY", "NEARLY", "Looks", "compare"]

FloatArray = NDArray[np.float64]
Detect = Callable[[FloatArray, Contacts], Contacts]
"""Contacts at positions [m], (n, 3), where some are known."""
Freeze = Callable[[Contacts, FloatArray, ContactPotential | None, bool], ContactPotential | None]
"""The potential of contacts found at positions [m], (n, 3), after another; and whether areas known from that stay."""

NEARLY = 0.05  #: share of the contact forces that a look may change where points and normals would not come to rest
KEEPS_GEOMETRY = 8  #: rounds after which known contacts keep point and normal
_KEEPS_FOLDS = 2  # rounds after which a vertex touches all triangles that it was found on
_KEEPS_ALL = 4  # rounds after which no contact leaves the set, so that none comes and goes
_LOOKS_A_ROUND = 3  # looks between iterations that make contacts stay as a round does
_FALLS = 0.9  # share of the last look's change that the next one stays below where they lead somewhere
_TERMS = "contact", "friction"
_TREMBLES = 2  # looks between iterations that change little, but no less than the ones before: all keep their places


class Looks:
    """The contacts of a step and their potential."""

    def __init__(
        self,
        contacts: Contacts,
        potential: ContactPotential | None,
        detect: Detect,
        freeze: Freeze,
        *,
        returns: bool,
    ) -> None:
        """`returns`: a contact of a vertex that touched nothing any more stays from then on if it comes back."""
        self.potential = potential
        self._contacts = self._found = contacts
        self._detect, self._freeze = detect, freeze
        self._gone = self._back = Contacts.none()
        self._returns, self._looked, self._trembles, self._last = returns, 0, 0, np.inf

    @property
    def lateness(self) -> int:
        """Rounds that the looks between iterations amount to."""
        return KEEPS_GEOMETRY if self._trembles >= _TREMBLES else self._looked // _LOOKS_A_ROUND

    def look(self, at: FloatArray, late: int) -> ContactPotential | None:
        """The potential as a look at positions [m], (n, 3), has it after so many rounds."""
        before, self._found = self._contacts, self._detect(at, self._contacts)
        if self._returns:  # pushed out where nothing touches, and back in where something does, it would flicker
            again = is_in(self._found, self._gone, places=True) & ~is_in(self._found, self._back, places=True)
            self._back = join((self._back, choose(self._found, again)))
        self._contacts = merge(
            before, self._found, at, refresh=late < KEEPS_GEOMETRY, drop=late < _KEEPS_ALL,
            several=late >= _KEEPS_FOLDS, back=self._back,
        )  # fmt: skip
        if self._returns:  # one that touches another triangle has moved on: held by both, it would be pressed askew
            self._gone = join((self._gone, choose(before, ~is_in(before, self._contacts, places=False))))
        return self._freeze(self._contacts, at, self.potential, late >= KEEPS_GEOMETRY)

    def look_between(self, at: FloatArray) -> ContactPotential | None:
        """The same between two iterations of Newton's method, which goes on with it."""
        self._looked += 1
        before, self.potential = self.potential, self.look(at, self.lateness)
        changes, size = self.tell_change(before, at)
        change = max(changes.values())
        if change > NEARLY * size:
            self._trembles = 0
        elif change > _FALLS * self._last:  # looks do not lead to where another one would change nothing
            self._trembles += 1
        self._last = change
        return self.potential

    def tell_change(self, before: ContactPotential | None, at: FloatArray) -> tuple[dict[str, float], float]:
        """By how much contacts as they are all found would change the forces of `before` [N]; and theirs [N]."""
        whole = merge(self._contacts, self._found, at, drop=False, several=True)
        return compare(before, self._freeze(whole, at, before, False), at)


def compare(
    old: ContactPotential | None, new: ContactPotential | None, x: FloatArray
) -> tuple[dict[str, float], float]:
    """Sizes of the changes of contact and friction forces at x, and of the contact forces [N]."""
    own = [np.zeros(0, np.int32), *(one.vertices.ravel() for one in (old, new) if one is not None)]
    vertices = np.unique(np.concatenate(own))  # nothing here costs anything per vertex of the body
    at, nothing = x[vertices], np.zeros((len(vertices), 3))

    def tell(one: ContactPotential | None) -> dict[str, FloatArray]:
        return {} if one is None else one.renumbered(np.searchsorted(vertices, one.vertices).astype(np.int32)).terms(at)

    before, after = tell(old), tell(new)
    changes = {name: float(np.linalg.norm(after.get(name, nothing) - before.get(name, nothing))) for name in _TERMS}
    return changes, float(np.linalg.norm(after.get("contact", nothing)))
