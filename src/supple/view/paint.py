"""The body coloured by numbers.

viser's meshes have one colour each, so the surface is cut into bands, one mesh for every step of the colour map, anew
as values change. The plain body stays where it is, unseen: it is what the pointer takes hold of, for a drag ends with
the mesh that it began on, and a step's mesh goes when it has no triangle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.picture.colormap import get_table, place_values
from supple.view.bands import cut_bands
from supple.view.fields import FIELDS, list_fields
from supple.view.figures import Figures
from supple.view.player import Player, Shown

if TYPE_CHECKING:
    import viser

__all__ = ["Paint"]

STEPS = 16
PLAIN = "plain"


class Paint:
    """Colours the body by a field; the range is that of the values seen since it was chosen."""

    def __init__(self, server: viser.ViserServer, player: Player, figures: Figures, shown: Shown) -> None:
        self._server, self._figures = server, figures
        self._range = (np.inf, -np.inf)
        self._nodes: list[Any] = []
        self._sent: tuple[object, str] = (None, "")
        self._folder = server.gui.add_folder("Colours", order=30, expand_by_default=False)
        with self._folder:
            fields = (PLAIN, *list_fields(shown.following))
            self._choice = server.gui.add_dropdown("Colour by", fields, initial_value=shown.field or PLAIN)
            self._legend = server.gui.add_html("", visible=False)

        def choose(event: Any) -> None:
            self._range = (np.inf, -np.inf)
            player.colour("" if event.target.value == PLAIN else str(event.target.value))

        self._choice.on_update(choose)

    def update(self, shown: Shown) -> None:
        """Colour a frame."""
        field, values = shown.field, shown.values
        if self._sent == (shown.now, field):
            return
        self._sent = shown.now, field
        if values is None:
            self._show(False)
            return
        self._range = min(self._range[0], float(values.min())), max(self._range[1], float(values.max()))
        low, high = self._range
        if field == "J":  # as much below 1 as above
            low, high = 1.0 - max(high - 1.0, 1.0 - low), 1.0 + max(high - 1.0, 1.0 - low)
        self._colour(shown, np.ravel(self._figures.surface.lift(values[:, None])), low, high)
        self._legend.content = draw_legend(field, low, high)
        self._show(True)

    def remove(self) -> None:
        """Take it off the page."""
        self._show(False)
        self._folder.remove()
        for node in self._nodes:
            node.remove()

    def _colour(self, shown: Shown, values: NDArray[np.float64], low: float, high: float) -> None:
        """Hand every piece of the surface to the mesh of its step; what is no number is of the first."""
        surface, room = self._figures.surface, self._figures.room
        places = np.nan_to_num(place_values(values, low, high))
        points, bands = cut_bands(surface.lift(shown.x), surface.triangles, places, STEPS)
        if not self._nodes:
            self._nodes = [self._add_node(step) for step in range(STEPS)]
        table = get_table("balance" if shown.field == "J" else "lagoon")
        with self._server.atomic():
            for step, (node, mine) in enumerate(zip(self._nodes, bands, strict=True)):
                used, faces = np.unique(mine, return_inverse=True)
                if len(mine):
                    node.vertices, node.faces = room.enter(points[used]), faces.reshape(-1, 3).astype(np.uint32)
                    red, green, blue = (round(255 * float(c)) for c in table[int((step + 0.5) * len(table) / STEPS)])
                    if node.color != (red, green, blue):
                        node.color = (red, green, blue)
                if node.visible != bool(len(mine)):
                    node.visible = bool(len(mine))

    def _add_node(self, step: int) -> Any:
        return self._server.scene.add_mesh_simple(
            f"/painted/{step}", np.zeros((3, 3), np.float32), np.array([[0, 1, 2]]), side="double", visible=False
        )

    def _show(self, painted: bool) -> None:
        """Show the coloured body, or the plain one."""
        opacity = 0.0 if painted else None
        if self._figures.body.opacity != opacity:
            self._figures.body.opacity = opacity
        if self._legend.visible != painted:
            self._legend.visible = painted
        if not painted:
            for node in self._nodes:
                node.visible = False


def draw_legend(field: str, low: float, high: float) -> str:
    """The colours and the numbers at their ends."""
    table = get_table("balance" if field == "J" else "lagoon")
    stops = ",".join("#" + "".join(f"{round(255 * float(c)):02x}" for c in row) for row in table[:: len(table) // 8])
    return (
        f'<div style="padding:4px 10px;font-size:12px">{FIELDS[field]}'
        f'<div style="height:10px;border-radius:3px;background:linear-gradient(90deg,{stops})"></div>'
        f'<div style="display:flex;justify-content:space-between"><span>{low:.3g}</span><span>{high:.3g}</span></div>'
        "</div>"
    )
