"""Where a body in a pose touches itself, and what that forbids its displacements ([XB16] 6)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.errors import TrainingError
from supple.mesh import TetMesh

__all__ = ["BINDINGS", "Binding", "SelfTouch"]

FloatArray = NDArray[np.float64]

#: What becomes of touching flesh. "sticks": vertices that touch stay where they are. "slides": they move along what
#: they touch only. "opens": the two sides of a contact slide, move together or come apart.
Binding = Literal["sticks", "slides", "opens"]
BINDINGS: tuple[Binding, ...] = get_args(Binding)

_WATCHED = 0.5  # mean edges within which what does not touch yet may come to
_NEAR = 0.1  # mean edges of the surface within which it touches: poses that were parted touch hardly or not quite


class SelfTouch:
    """Finds contacts of a body with itself in any of its poses."""

    def __init__(self, mesh: TetMesh, binding: Binding = "opens", settings: ContactSettings | None = None) -> None:
        """`settings` name the thickness of the surface and what never touches."""
        if binding not in BINDINGS:
            raise TrainingError(f"contact that '{binding}' is not known: use one of {', '.join(BINDINGS)}.")
        settings = settings or ContactSettings(self_contact=True)
        self.binding, self.thickness = binding, settings.thickness
        edge = mesh.surface().mean_edge()
        self._finder, self._watcher = (
            SelfContact(mesh, thickness=settings.thickness + reach * edge, ignored=settings.ignored)
            for reach in (_NEAR, _WATCHED)
        )

    def find(self, shape: FloatArray) -> Contacts:
        """The contacts in a shape [m], (n, 3)."""
        return self._finder.to_contacts(self._finder.find(shape), shape)

    def watch(self, shape: FloatArray) -> Contacts:
        """The contacts in a shape [m], (n, 3), and what may come to touch near them; none if nothing touches."""
        if not len(self.find(shape)):
            return Contacts.none()
        return self._watcher.to_contacts(self._watcher.find(shape), shape)

    def forbid(self, contacts: Contacts) -> FloatArray:
        """C with C u = 0 for displacements (3 n,) that leave contacts as they are, (c, 3 n): touching vertices do not
        move, or only along what they touch.

        Rows weigh as the roots of the areas that contacts stand for, relative to the mean.
        """
        count, vertices = len(contacts), len(self._finder.mesh.vertices)
        size = np.sqrt(contacts.area / contacts.area.mean())[:, None] if count else 1.0
        kept = np.eye(3)[:, None] * np.ones((count, 1)) if self.binding == "sticks" else contacts.normal[None]
        rows = np.zeros((len(kept), count, vertices, 3))
        rows[:, np.arange(count), contacts.vertices[:, 0]] = size * kept
        return rows.reshape(-1, 3 * vertices)
