"""A scene's collider as a solid that stands somewhere at any time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.contact.box import Box
from supple.contact.capsule import Capsule
from supple.contact.collider import Collider
from supple.contact.cylinder import Cylinder
from supple.contact.mesh_collider import MeshCollider
from supple.contact.pipe import Pipe
from supple.contact.plane import Plane
from supple.contact.sphere import Sphere
from supple.errors import SceneError, SuppleError
from supple.io import load_surface
from supple.scene.collider import AXES, ColliderTable
from supple.scene.motion import carry
from supple.scene.source import Y_UP_TO_Z_UP
from supple.solve import Placement

__all__ = ["SHAPES", "Obstacle", "make_obstacle"]

FloatArray = NDArray[np.float64]

#: Every shape's measures [m] and how it is made of them.
SHAPES: dict[str, tuple[tuple[str, ...], Callable[..., Collider]]] = {
    "plane": ((), Plane),
    "sphere": (("radius",), Sphere),
    "capsule": (("length", "radius"), Capsule),
    "box": (("length", "height", "width"), lambda length, height, width: Box((length, height, width))),
    "cylinder": (("length", "radius"), Cylinder),
    "pipe": (("length", "radius", "inner_radius"), Pipe),
}


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A scene's collider with the solid it is and how that stands before it moves."""

    key: str
    """How messages call it."""
    table: ColliderTable
    solid: Collider
    stance: FloatArray
    """(3, 3)"""

    def place(self, time: float) -> Placement:
        """Where it stands at `time` [s]."""
        at, table = np.asarray(self.table.at), self.table
        turned = self.stance if table.turn is None else table.turn.rotation(time) @ self.stance
        return Placement(turned, carry(at[None], at, table.move, table.turn, time)[0])

    def digest(self) -> str:
        """Fingerprint of what it is and how it moves; of a file, of what is in it."""
        found = hashlib.sha256(self.table.model_dump_json(exclude={"name", "file"}).encode())
        if self.table.file is not None:
            surface = self.solid.surface()
            found.update(surface.vertices.tobytes() + surface.triangles.tobytes())
        return found.hexdigest()


def make_obstacle(table: ColliderTable, key: str, metres: float, up_axis: str) -> Obstacle:
    """The collider of a table whose lengths are in metres; its file is in units of `metres`."""
    return Obstacle(key, table, _make_solid(table, key, metres), _stand(table, up_axis))


def _stand(table: ColliderTable, up_axis: str) -> FloatArray:
    """Rotation (3, 3) in which it is put, before it turns with time; shapes stand up as built-in bodies do."""
    if table.axis is not None:
        upright = _swing(np.asarray(AXES[table.shape or ""]), np.asarray(table.axis))
    else:
        upright = np.asarray(Y_UP_TO_Z_UP) if table.shape is not None and up_axis == "z" else np.eye(3)
    return np.asarray(Rotation.from_euler("xyz", table.rotate, degrees=True).as_matrix() @ upright)


def _make_solid(table: ColliderTable, key: str, metres: float) -> Collider:
    try:
        return _build(table, table.size, metres)
    except SuppleError as error:
        raise SceneError(f"{key}: {_reword(table, metres, error)}") from None


def _build(table: ColliderTable, size: Mapping[str, float], metres: float) -> Collider:
    """The solid of a table with these measures, or of its file in units of `metres`."""
    if table.file is not None:
        surface = load_surface(Path(table.file))
        return MeshCollider(surface.moved(surface.vertices * metres))
    measures, make = SHAPES[table.shape or ""]
    wrong = [name for name in size if name not in measures]
    if wrong:
        has = f"it has {', '.join(measures)}" if measures else "it is endless, so remove size"
        raise SceneError(f"a {table.shape} has no size '{wrong[0]}': {has}.")
    missing = [name for name in measures if name not in size]
    if missing:
        raise SceneError(f"a {table.shape} needs {' and '.join(missing)}: give  size = {{ {missing[0]} = ... }}.")
    return make(**size)


def _reword(table: ColliderTable, metres: float, error: SuppleError) -> SuppleError:
    """The same complaint with lengths as they stand in the scene and its files, not in metres."""
    try:
        _build(table, {name: float(f"{value / metres:.12g}") for name, value in table.size.items()}, 1.0)
    except SuppleError as plain:
        return plain
    return error


def _swing(start: FloatArray, end: FloatArray) -> FloatArray:
    """The shortest rotation (3, 3) from one direction to another."""
    end = end / np.linalg.norm(end)
    cross, cosine = np.cross(start, end), float(start @ end)
    sine = float(np.linalg.norm(cross))
    if sine < 1e-12:  # along it, or against it: then about any axis across
        return np.eye(3) if cosine > 0 else 2.0 * np.outer(v := np.roll(start, 1), v) - np.eye(3)
    return np.asarray(Rotation.from_rotvec(cross / sine * np.arctan2(sine, cosine)).as_matrix())
