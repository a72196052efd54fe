"""Posing a rig by hand: sliders for its controls, a handle that a chain of bones reaches for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.rig import Skeleton
from supple.rig.inverse_kinematics import Chain
from supple.rig.motion import turn_columns
from supple.scene.rigging import Rigging
from supple.solve import SetPose
from supple.view.player import Player, Shown
from supple.view.room import Room

if TYPE_CHECKING:
    import viser

__all__ = ["PosePanel"]

NOBODY = "nothing"
LINKS = 2  #: bones above the last one that reach with it


class PosePanel:
    """What is added to the motion's pose, one control or one chain at a time."""

    def __init__(self, server: viser.ViserServer, player: Player, rigging: Rigging, room: Room) -> None:
        self._server, self._player, self._rigging, self._room = server, player, rigging, room
        controls = rigging.rig.controls
        self._change = np.zeros(len(controls))
        self._turning = set(turn_columns(controls).ravel().tolist())
        self._groups = _group(controls)
        self._seen: Shown | None = None
        self._lock = threading.Lock()
        self._handle: Any = None
        gui, actor = server.gui, rigging.posing.actor
        self._skeleton: Skeleton | None = actor.skeleton if actor.is_boned else None
        self._folder = gui.add_folder("Pose", order=15, expand_by_default=False)
        with self._folder:
            self._choice: Any = gui.add_dropdown("Control", tuple(self._groups))
            self._choice.on_update(lambda _: self._show_sliders())
            reach = gui.add_dropdown("Reach with", (NOBODY, *(self._skeleton.names if self._skeleton else ())))
            reach.on_update(lambda event: self._set_reach(str(event.target.value)))
            gui.add_button("As the motion has it").on_click(lambda _: self._clear())
        self._sliders: list[Any] = []
        self._show_sliders()

    def update(self, shown: Shown) -> None:
        """A new take begins in the motion's own pose."""
        if self._seen is not None and self._seen.take is not shown.take:
            self._change[:] = 0.0
            self._show_sliders()
        self._seen = shown

    def remove(self) -> None:
        """Take it off the page."""
        self._set_reach(NOBODY)
        self._folder.remove()

    def _show_sliders(self) -> None:
        """Sliders of the chosen group."""
        for slider in self._sliders:
            slider.remove()
        with self._folder:
            self._sliders = [self._add_slider(column) for column in self._groups[self._choice.value]]

    def _add_slider(self, column: int) -> Any:
        turns = column in self._turning
        unit, most, step = (np.pi / 180.0, 120.0, 1.0) if turns else (1.0, 1.0, 0.01)
        name = self._rigging.rig.controls[column].rpartition(".")[2]
        value = float(np.clip(round(self._change[column] / unit / step) * step, -most, most))
        slider = self._server.gui.add_slider(f"{name} [°]" if turns else name, -most, most, step, value)
        slider.on_update(lambda event: self._set(column, unit * float(event.target.value)))
        return slider

    def _set(self, column: int, value: float) -> None:
        self._change[column] = value
        self._player.act(SetPose(tuple(self._change.tolist())))

    def _clear(self) -> None:
        self._change[:] = 0.0
        self._player.act(SetPose(tuple(self._change.tolist())))
        self._show_sliders()

    def _pose(self) -> NDArray[np.float64]:
        """The pose of the frame that is seen."""
        time = 0.0 if self._seen is None else self._seen.now.frame / self._seen.built.scene.time.fps
        return self._rigging.course.pose(time) + self._change

    def _set_reach(self, name: str) -> None:
        """Put a handle at the tip of a bone, or take it away."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        if name == NOBODY or self._skeleton is None:
            return
        chain = Chain(self._skeleton, _find_begin(self._skeleton, name), name)
        columns = [self._rigging.rig.controls.index(control) for control in self._skeleton.controls]
        tip = chain.end(self._pose()[columns])
        self._handle = self._server.scene.add_transform_controls(
            "/reach", scale=0.25, disable_rotations=True, depth_test=False, position=self._room.enter(tip)
        )
        self._handle.on_update(lambda event: self._reach(chain, columns, event.target))

    def _reach(self, chain: Chain, columns: list[int], handle: Any) -> None:
        """Pose the chain so that its tip is where the handle is now."""
        with self._lock:
            pose = self._pose()
            found = chain.reach(self._room.leave(handle.position), pose[columns])
            self._change[columns] += found.pose - pose[columns]
            self._player.act(SetPose(tuple(self._change.tolist())))


def _group(controls: tuple[str, ...]) -> dict[str, list[int]]:
    """Columns of controls that belong together, by what they are called before the last dot."""
    groups: dict[str, list[int]] = {}
    for column, control in enumerate(controls):
        stem, _, last = control.rpartition(".")
        name = f"{stem} place" if last in ("tx", "ty", "tz") else stem or control
        groups.setdefault(name, []).append(column)
    return groups


def _find_begin(skeleton: Skeleton, name: str) -> str:
    """The bone with which a chain that ends at `name` begins: a few above it, but not the root."""
    joint = skeleton.names.index(name)
    for _ in range(LINKS):
        above = int(skeleton.parents[joint])
        if above <= 0:
            break
        joint = above
    return skeleton.names[joint]
