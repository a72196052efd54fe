"""The bodies of a scene, each as the scene with one body that it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from supple.errors import SceneError
from supple.scene.body_table import BodyTable
from supple.scene.load import explain, override
from supple.scene.schema import Scene
from supple.solve import Placement

__all__ = ["place_body", "split_bodies"]

WHOLE = {"mesh": ("file", "shape"), "method": ("name",)}  #: tables that take nothing from the top once they have these


def split_bodies(scene: Scene) -> dict[str, Scene]:
    """Scenes with one body by name: the tables at the top, those of the body upon them."""
    shared = _dump(scene, {"body"})
    return {table.name: _merge(shared, table) for table in scene.body}


def place_body(table: BodyTable, metres: float) -> Placement:
    """Where the frame of a body is put, whose lengths are in units of `metres`."""
    rotation = Rotation.from_euler("xyz", table.rotate, degrees=True).as_matrix()
    return Placement(rotation, metres * np.asarray(table.at))


def _merge(shared: dict[str, Any], table: BodyTable) -> Scene:
    own = _dump(table, {"name", "at", "rotate"})
    whole = {key for key, marks in WHOLE.items() if any(mark in own.get(key, {}) for mark in marks)}
    kept = {key: value for key, value in shared.items() if key not in whole}
    try:
        return Scene.model_validate(override(kept, own))
    except ValidationError as error:
        raise SceneError(explain(error.errors(), f'body "{table.name}"')) from None


def _dump(section: Scene | BodyTable, beside: set[str]) -> dict[str, Any]:
    """The keys that were given; None is a table that was taken away."""
    found = section.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=beside)
    return {key: value for key, value in found.items() if value is not None}
