"""Numbers on the body that may colour it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.mesh import Sheet
from supple.scene.simulate import Simulated
from supple.scene.stage import Built

__all__ = ["ERROR", "FIELDS", "find_values", "list_fields"]

FloatArray = NDArray[np.float64]
ERROR = "error"
FIELDS = {
    "displacement": "displacement [m]",
    "J": "volume ratio J",
    "von_mises": "von Mises stress [Pa]",
    "contact_force": "contact force [N]",
    ERROR: "distance from the full solution [m]",
}


def list_fields(built: Built) -> list[str]:
    """The fields that a scene has."""
    cells = [] if isinstance(built.mesh, Sheet) else ["J", "von_mises"]
    touched = [] if built.contact is None else ["contact_force"]
    return ["displacement", *cells, *touched, *([ERROR] if _approaches_full(built) else [])]


def _approaches_full(built: Built) -> bool:
    """Whether the full solver knows the same bodies, and is not what they have: it has neither shells nor ties."""
    scenes = [one.scene for one in built.members.values()] or [built.scene]
    return any(one.method.name != "full" for one in scenes) and not any(one.own_ties() for one in scenes)


def find_values(name: str, built: Built, now: Simulated, x: FloatArray) -> FloatArray:
    """A field of a frame, not the error, at every simulated vertex, (n,), for positions x [m], (n, 3)."""
    count, time = len(built.mesh.vertices), now.frame / built.scene.time.fps
    if name == "displacement":
        return np.asarray(np.linalg.norm(x - _rest(built, time), axis=1))
    if name == "contact_force":
        force = np.zeros((count, 3)) if now.touching is None else now.touching.spread(count)
        return np.asarray(np.linalg.norm(force, axis=1))
    body = built.drive.rest_body(time)
    cells = body.jacobians(x) if name == "J" else now.state.live.stiffness * body.von_mises(x)
    return _spread(built, cells)


def _rest(built: Built, time: float) -> FloatArray:
    """Where vertices would be without dynamics [m], (n, 3): skinned, where there is a rig."""
    pose = built.drive.pose(time)
    if built.drive.rigging is None or pose is None:
        return built.mesh.vertices
    return built.drive.rigging.rig.positions(pose)


def _spread(built: Built, cells: FloatArray) -> FloatArray:
    """Values of tets, (m,), as means over those around every vertex, (n,), by volume."""
    tets, count = built.mesh.tets, len(built.mesh.vertices)
    volumes = np.repeat(built.mesh.volumes(), 4)
    total = np.bincount(tets.ravel(), volumes * np.repeat(cells, 4), count)
    share = np.bincount(tets.ravel(), volumes, count)
    return np.divide(total, share, out=np.zeros(count), where=share > 0.0)
