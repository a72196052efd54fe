"""Settings of body and method that a visitor of the page may change while it plays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from supple.scene.method_table import MethodName
from supple.scene.stage import Built
from supple.solve import SetGravity, SetStiffness, SetThrottle
from supple.view.player import Player, Shown
from supple.view.pull import Puller

if TYPE_CHECKING:
    import viser

__all__ = ["BodySettings", "MethodSettings", "Number", "Settling", "list_numbers"]

EARTH = 9.81
LEAST = 1e-9  #: tolerance
PATIENCE = 0.4  #: after which a number counts as typed [s]
DAMPING = {"damping_mass": "Damping of motion [1/s]", "damping_stiffness": "Damping of strain [s]"}


class Number(NamedTuple):
    """A number of the scene that the page may change within bounds."""

    label: str
    value: float
    least: float
    most: float

    def read(self, text: str, otherwise: float) -> float:
        """What was typed; `otherwise` where that is no number, or not one that may be."""
        try:
            found = float(text)
        except ValueError:
            return otherwise
        same = f"{found:g}" == f"{otherwise:g}"  # of which the page shows six digits
        return found if self.least <= found <= self.most and not same else otherwise


class Settling:
    """Does something when nobody has asked for it any more for a moment: numbers are typed digit by digit."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self._timer = work, threading.Timer(0.0, work)

    def ask(self) -> None:
        """Do it, unless this is called again soon."""
        self._timer.cancel()
        self._timer = threading.Timer(PATIENCE, self._work)
        self._timer.daemon = True
        self._timer.start()


class _Numbers:
    """Keys of a table of the scene in fields of the page; what differs from the scene becomes a change of it."""

    def __init__(self, gui: Any, player: Player, table: str, numbers: Mapping[str, Number]) -> None:
        self._player, self._table, self._numbers = player, table, numbers
        self._fields = {key: gui.add_text(number.label, f"{number.value:g}") for key, number in numbers.items()}
        self._known = {key: number.value for key, number in numbers.items()}
        settling = Settling(self._apply)
        for field in self._fields.values():
            field.on_update(lambda _: settling.ask())

    def _apply(self) -> None:
        now = {key: number.read(self._fields[key].value, self._known[key]) for key, number in self._numbers.items()}
        changed = {key: value for key, value in now.items() if value != self._known[key]}
        if changed:
            self._known = now
            self._player.change({self._table: changed})


class BodySettings:
    """What belongs to the body, whatever the method; it stays as it is set."""

    def __init__(self, server: viser.ViserServer, player: Player, built: Built, puller: Puller) -> None:
        gui, scene = server.gui, built.scene
        down = np.array(scene.acceleration() or -EARTH * np.eye(3)["xyz".index(scene.up_axis)])
        with gui.add_folder("Body", order=10):
            stiffness = gui.add_slider("Stiffness", 0.1, 5.0, 0.05, 1.0, hint="Times the scene's.")
            stiffness.on_update(lambda event: player.act(SetStiffness(float(event.target.value))))
            falls = 0.0 if scene.acceleration() is None else 1.0
            gravity = gui.add_slider("Gravity", -1.0, 2.0, 0.05, falls, hint="Times the scene's, or the Earth's.")
            gravity.on_update(lambda event: player.act(_gravity(down, float(event.target.value))))
            pull = gui.add_slider("Pull", 0.1, 5.0, 0.1, 1.0, hint="How hard a drag pulls.")
            pull.on_update(lambda event: setattr(puller, "strength", float(event.target.value)))
            values = {key: Number(label, getattr(scene.material, key), 0.0, 1e6) for key, label in DAMPING.items()}
            _Numbers(gui, player, "material", values)

    def update(self, shown: Shown) -> None:
        """Settings follow no frames."""


class MethodSettings:
    """The method and its own numbers; motion goes on from where it is when they change."""

    def __init__(self, server: viser.ViserServer, player: Player, shown: Shown, open_folder: bool) -> None:
        gui, built = server.gui, shown.following
        method = built.scene.method
        self._folder = gui.add_folder("Method", order=20, expand_by_default=open_folder)
        with self._folder:
            name = gui.add_dropdown("Name", get_args(MethodName), initial_value=method.name)
            name.on_update(lambda event: player.change({"method": {"name": event.target.value}}))
            _Numbers(gui, player, "method", list_numbers(built))
            if method.name == "skipping":
                throttle = gui.add_slider(
                    "Throttle",
                    0.0,
                    10.0,
                    0.1,
                    shown.now.state.live.throttle,
                    hint="Times the tolerance: 0 skips nothing.",
                )
                throttle.on_update(lambda event: player.act(SetThrottle(float(event.target.value))))

    def update(self, shown: Shown) -> None:
        """Settings follow no frames."""

    def remove(self) -> None:
        """Take the folder off the page."""
        self._folder.remove()


def list_numbers(built: Built) -> dict[str, Number]:
    """The numbers that a method takes, by their keys."""
    method = built.scene.method
    usual = {"full": method.residual, "projective": method.tolerance or LEAST}.get(method.name, method.accuracy)
    if method.name == "skipping":
        usual = built.solver.tolerance  # type: ignore[attr-defined]
    found = {"tolerance": Number("Tolerance", usual, LEAST, 0.999)}
    if method.name == "hyperreduced":
        found["radius"] = Number("Radius", method.radius or 1.5, 1.0, 10.0)
    if method.name == "condensation":
        side = float(np.ptp(built.mesh.vertices, axis=0).max())
        found["radius"] = Number("Radius", method.radius or built.solver.radius / side, 1e-3, 10.0)  # type: ignore[attr-defined]
    return found


def _gravity(down: np.ndarray[Any, np.dtype[np.float64]], factor: float) -> SetGravity:
    x, y, z = (factor * down).tolist()
    return SetGravity((x, y, z))
