"""Settings of body and method that a visitor of the page may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from supple.scene.build import Built
from supple.scene.schema import MethodName
from supple.solve import SetGravity, SetStiffness, SetThrottle
from supple.view.player import Player, Shown
from supple.view.pull import Puller

if TYPE_CHECKING:
    import viser

__all__ = ["Settings"]

EARTH = 9.81


class Settings:
    """Sliders that act at once, as events; and what needs another solver, which begins anew."""

    def __init__(self, server: viser.ViserServer, player: Player, built: Built, puller: Puller) -> None:
        self._player, gui = player, server.gui
        method = built.scene.method
        down = np.array(built.scene.acceleration() or -EARTH * np.eye(3)["xyz".index(built.scene.up_axis)])
        self._body = gui.add_folder("Body", order=10)
        with self._body:
            stiffness = gui.add_slider("Stiffness", 0.1, 5.0, 0.05, 1.0, hint="Times the scene's.")
            stiffness.on_update(lambda event: player.act(SetStiffness(float(event.target.value))))
            falls = 0.0 if built.scene.acceleration() is None else 1.0
            gravity = gui.add_slider("Gravity", -1.0, 2.0, 0.05, falls, hint="Times the scene's, or the Earth's.")
            gravity.on_update(lambda event: player.act(_gravity(down, float(event.target.value))))
            if method.name == "skipping":
                throttle = gui.add_slider("Throttle", 0.0, 10.0, 0.1, 1.0, hint="Times the tolerance: 0 skips nothing.")
                throttle.on_update(lambda event: player.act(SetThrottle(float(event.target.value))))
            pull = gui.add_slider("Pull", 0.1, 5.0, 0.1, 1.0, hint="How hard a drag pulls.")
            pull.on_update(lambda event: setattr(puller, "strength", float(event.target.value)))
        self._method = gui.add_folder("Method", order=20, expand_by_default=False)
        with self._method:
            self._add_rebuilding(gui, built)

    def _add_rebuilding(self, gui: Any, built: Built) -> None:
        """What another solver is needed for."""
        method, material = built.scene.method, built.scene.material
        name = gui.add_dropdown("Name", get_args(MethodName), initial_value=method.name, hint="Begins anew.")
        name.on_update(lambda event: self._player.change({"method": {"name": event.target.value}}))
        tolerance = gui.add_number(
            "Tolerance", method.residual if method.name == "full" else method.accuracy, min=1e-9, max=0.999, step=1e-9
        )
        fields = {("method", "tolerance"): tolerance}
        if method.name == "hyperreduced":
            fields["method", "radius"] = gui.add_number("Radius", method.radius or 1.5, min=1.0, max=10.0, step=0.1)
        for key, label in (("damping_mass", "Damping of motion"), ("damping_stiffness", "Damping of strain")):
            fields["material", key] = gui.add_number(label, getattr(material, key), min=0.0, step=1e-6)
        before = {place: field.value for place, field in fields.items()}

        def apply(_: object) -> None:
            changes: dict[str, dict[str, Any]] = {}
            for (table, key), field in fields.items():
                if field.value != before[table, key]:
                    changes.setdefault(table, {})[key] = float(field.value)
            if changes:
                self._player.change(changes)

        gui.add_button("Apply", hint="Begins anew with these.").on_click(apply)

    def update(self, shown: Shown) -> None:
        """Settings follow no frames."""

    def remove(self) -> None:
        """Take the folders off the page."""
        self._body.remove()
        self._method.remove()


def _gravity(down: np.ndarray[Any, np.dtype[np.float64]], factor: float) -> SetGravity:
    x, y, z = (factor * down).tolist()
    return SetGravity((x, y, z))
