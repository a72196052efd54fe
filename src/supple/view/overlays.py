"""What the solver works with, drawn over the body: pins, contacts, elements and vertices that count, full space."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.method import ArticulatedModel, PoseSpaceModel
from supple.picture.colormap import get_table
from supple.scene.stage import Built
from supple.view.player import Player, Shown
from supple.view.room import Room

if TYPE_CHECKING:
    import viser

__all__ = ["Overlays", "list_overlays"]

FloatArray = NDArray[np.float64]
Find = Callable[[Shown], FloatArray]
Colours = NDArray[np.uint8] | tuple[int, int, int]


def list_overlays(built: Built) -> dict[str, tuple[Find, Colours]]:
    """What can be drawn over this body by name: where its points are [m], (k, 3), and their colours."""
    pins, tets, model = built.body.pins.vertices, built.mesh.tets, built.model
    found: dict[str, tuple[Find, Colours]] = {}
    if len(pins):
        found["pins"] = (lambda shown: shown.x[pins]), (40, 40, 40)
    if built.contact is not None:
        found["contacts"] = _find_contacts, (220, 40, 40)
    if model is not None:
        chosen = tets[model.elements if isinstance(model, PoseSpaceModel) else model.rule.members]
        found["cubature elements"] = (lambda shown: shown.x[chosen].mean(axis=1)), (30, 110, 200)
    if isinstance(model, ArticulatedModel):
        domains = _colour(model.basis.domains.owners)
        found["bone domains"] = (lambda shown: shown.x[tets].mean(axis=1)), domains
    if isinstance(model, PoseSpaceModel) and len(model.owners):
        # The region whose coordinates move a vertex most
        moved = np.square(model.columns).sum(axis=(0, 2))
        regions = np.stack([moved[:, model.owners == number].sum(axis=1) for number in np.unique(model.owners)])
        found["regions"] = (lambda shown: shown.x), _colour(regions.argmax(axis=0))
    candidates = getattr(built.solver, "candidates", None)
    if candidates is not None:
        found["contact samples"] = (lambda shown: shown.x[candidates]), (30, 150, 90)
    if built.solver.name == "condensation":
        found["full space"] = (lambda shown: shown.x[shown.now.state.full]), (230, 30, 30)
    return found


def _colour(numbers: NDArray[np.integer]) -> NDArray[np.uint8]:
    """A colour for each number, (k, 3)."""
    table = get_table("dusk")
    return np.asarray(np.round(255 * table[(numbers * 97) % len(table)]), np.uint8)


def _find_contacts(shown: Shown) -> FloatArray:
    touching = shown.now.touching
    return np.zeros((0, 3)) if touching is None else touching.point


class Overlays:
    """A tick for each; points follow the body while they are shown, and shine through it."""

    def __init__(self, server: viser.ViserServer, player: Player, room: Room, built: Built) -> None:
        self._server, self._room, self._method = server, room, built.solver.name
        self._found = list_overlays(built)
        self._nodes: dict[str, Any] = {}
        self._ticks: dict[str, Any] = {}
        self._folder = server.gui.add_folder("Overlays", order=32, expand_by_default=False)
        with self._folder:
            for name in self._found:
                self._ticks[name] = server.gui.add_checkbox(name.capitalize(), False)
                self._ticks[name].on_update(lambda _: player.refresh())
        self._folder.visible = bool(self._found)

    def update(self, shown: Shown) -> None:
        """Move the points of what is ticked."""
        for name, (find, colours) in self._found.items():
            wanted = self._ticks[name].value and shown.built.solver.name == self._method
            points = find(shown) if wanted else np.zeros((0, 3))
            node = self._nodes.get(name)
            if len(points) and (node is None or len(node.points) != len(points)):
                self._nodes[name] = self._server.scene.add_point_cloud(
                    f"/overlays/{name}", self._room.enter(points), colours, point_size=0.012, point_shape="circle",
                    precision="float32",
                )  # fmt: skip
            elif len(points):
                node.points = self._room.enter(points)  # type: ignore[union-attr]
            if name in self._nodes and self._nodes[name].visible != bool(len(points)):
                self._nodes[name].visible = bool(len(points))

    def remove(self) -> None:
        """Take them off the page."""
        self._folder.remove()
        for node in self._nodes.values():
            node.remove()
