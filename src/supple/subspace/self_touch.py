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
#: they touch only. "opens": the two sides of a contact move together along its normal, or come apart.
Binding = Literal["sticks", "slides", "opens"]
BINDINGS: tuple[Binding, ...] = get_args(Binding)

_NEAR = 0.1  # mean edges of the surface within which it touches: poses that were parted touch hardly or not quite


class SelfTouch:
    """Finds contacts of a body with itself in any of its poses."""

    def __init__(self, mesh: TetMesh, binding: Binding = "opens", settings: ContactSettings | None = None) -> None:
        """`settings` name the thickness of the surface and what never touches."""
        if binding not in BINDINGS:
            raise TrainingError(f"contact that '{binding}' is not known: use one of {', '.join(BINDINGS)}.")
        settings = settings or ContactSettings(self_contact=True)
        self.binding, self.thickness = binding, settings.thickness
        reach = settings.thickness + _NEAR * mesh.surface().mean_edge()
        self._finder = SelfContact(mesh, thickness=reach, ignored=settings.ignored)

    def find(self, shape: FloatArray) -> Contacts:
        """The contacts in a shape [m], (n, 3)."""
        return self._finder.to_contacts(self._finder.find(shape), shape)

    def forbid(self, contacts: Contacts) -> FloatArray:
        """C with C u = 0 for displacements (3 n,) that keep contacts as the binding says, (c, 3 n)."""
        count, who = len(contacts), np.arange(len(contacts))
        vertices = len(self._finder.mesh.vertices)
        if self.binding == "sticks":
            rows = np.zeros((count, 3, vertices, 3))
            for axis in range(3):
                rows[who, axis, contacts.vertices[:, 0], axis] = 1.0
            return rows.reshape(3 * count, 3 * vertices)
        rows = np.zeros((count, vertices, 3))
        corners = 1 if self.binding == "slides" else contacts.vertices.shape[1]  # the vertex alone, or both sides
        for k in range(corners):
            np.add.at(rows, (who, contacts.vertices[:, k]), contacts.weights[:, k, None] * contacts.normal)
        return rows.reshape(count, 3 * vertices)
