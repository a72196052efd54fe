"""The body and what it may touch, as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.picture.colour import parse_colour
from supple.picture.surface import BODY_COLOUR
from supple.scene.props import COLOUR
from supple.scene.stage import Built
from supple.solve import Placement
from supple.view.player import Shown
from supple.view.room import Room
from supple.view.surface import Surface

if TYPE_CHECKING:
    import viser

__all__ = ["Figures", "as_rgb", "set_scene"]

FloatArray = NDArray[np.float64]
PULL_COLOUR = (220, 60, 40)
NARROW = 1.0  #: width over height of a window below which one steps back
LOWER = 0.4  #: how far below the body one looks in a window without width, over the distance
SAG = 0.5  #: body sizes from the body at rest down to the grid


def as_rgb(colour: str) -> tuple[int, int, int]:
    """A colour such as "#d9937b" as three numbers up to 255."""
    red, green, blue = (round(255 * float(value)) for value in parse_colour(colour))
    return red, green, blue


def set_scene(server: viser.ViserServer, room: Room) -> None:
    """An empty scene with light, seen from where all of the body is."""
    server.scene.reset()
    server.scene.set_up_direction("+y" if room.up_axis == "y" else "+z")
    server.initial_camera.position = room.eye
    server.initial_camera.look_at = np.zeros(3)
    server.initial_camera.fov = 0.7
    server.scene.configure_environment_map("studio", background=False, environment_intensity=0.35)
    server.on_client_connect(lambda client: _step_back(client, room))
    for client in server.get_clients().values():
        _step_back(client, room)


def _step_back(client: Any, room: Room) -> None:
    """In a narrow window look from farther away, the body above the panel that covers the lower part."""
    narrow = NARROW / max(client.camera.aspect, 0.2)
    if narrow > 1.0:
        lower = LOWER * (narrow - 1.0) * float(np.linalg.norm(room.eye)) * room.up
        client.camera.position = narrow * room.eye - lower
        client.camera.look_at = -lower


class Figures:
    """Nodes of the page's scene that follow the frames: vertices in place, nothing is sent twice."""

    def __init__(self, server: viser.ViserServer, built: Built) -> None:
        self._server = server
        self.surface = Surface(built.mesh, built.source.render)
        self.room = Room.around(built.mesh.vertices, built.scene.up_axis)
        set_scene(server, self.room)
        self.body = server.scene.add_mesh_simple(
            "/body",
            self.room.enter(self.surface.lift(built.mesh.vertices)),
            self.surface.triangles,
            color=as_rgb(BODY_COLOUR),
            side="double",
        )
        self.solids = [
            server.scene.add_mesh_simple(
                f"/colliders/{name}",
                (surface.vertices / self.room.size).astype(np.float32),
                surface.triangles,
                color=as_rgb(COLOUR),
                side="double",
                opacity=None if surface.is_closed() else 0.4,
            )
            for name, surface in built.collider_surfaces().items()
        ]
        self._pulls = server.scene.add_line_segments(
            "/pulls",
            np.zeros((1, 2, 3), np.float32),
            PULL_COLOUR,
            thickness=3.0,
            thickness_units="screen",
            visible=False,
        )
        self._sent: Any = None
        self._add_ground(built)

    def update(self, shown: Shown) -> None:
        """Show a frame; what has not changed is not sent."""
        self._move_pulls(shown)
        if self._sent is shown.now:
            return
        self._sent = shown.now
        with self._server.atomic():
            self.body.vertices = self.room.enter(self.surface.lift(shown.x))
            time = max(shown.now.frame / shown.built.scene.time.fps, 0.0)
            for node, placement in zip(self.solids, shown.built.drive.placements(time), strict=True):
                self._place(node, placement)

    def _place(self, node: Any, placement: Placement) -> None:
        """Put a collider where it stands, if that is elsewhere."""
        x, y, z, w = Rotation.from_matrix(placement.rotation).as_quat()
        turned, put = (float(w), float(x), float(y), float(z)), self.room.enter(placement.translation)
        if not np.array_equal(node.wxyz, turned):
            node.wxyz = turned
        if not np.allclose(node.position, put, rtol=0.0, atol=1e-9):
            node.position = put

    def _move_pulls(self, shown: Shown) -> None:
        """Draw a line from every point that is pulled at to where it is pulled."""
        grabs = shown.take.held().values() if shown.now.frame == shown.last else ()
        lines = [[np.asarray(g.weights) @ shown.x[list(g.vertices)], np.asarray(g.target)] for g in grabs]
        if lines:
            self._pulls.points = self.room.enter(np.array(lines))
        if self._pulls.visible != bool(lines):
            self._pulls.visible = bool(lines)

    def _add_ground(self, built: Built) -> None:
        """A grid below the body, with room to sag, where no collider is its floor."""
        if any(obstacle.table.shape == "plane" for obstacle in built.drive.obstacles):
            return
        room, low = self.room, built.mesh.vertices.min(axis=0)
        height = float(room.enter(low) @ room.up) - SAG
        self._server.scene.add_grid(
            "/ground",
            plane="xz" if room.up_axis == "y" else "xy",
            infinite_grid=True,
            cell_size=0.1,
            section_size=0.5,
            fade_distance=8.0,
            position=height * room.up,
        )
