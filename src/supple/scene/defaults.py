"""The scene a bare mesh gets: its lowest part held, gravity pulling."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from supple.io import MESH_SUFFIXES
from supple.scene.load import load_scene, override, parse_scene
from supple.scene.schema import Scene

__all__ = ["default_tables", "is_mesh_file", "open_scene"]


def is_mesh_file(path: Path) -> bool:
    """Whether the name is that of a mesh rather than of a scene."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(MESH_SUFFIXES)


def default_tables(mesh_file: Path, up_axis: str = "y") -> dict[str, Any]:
    """The tables of a scene in which a mesh stands on its lowest 5 % and sags under gravity."""
    return {
        "time": {"fps": 24.0, "substeps": 2, "frames": 48},
        "mesh": {"file": str(mesh_file)},
        "material": {"young": 1e5, "poisson": 0.4, "density": 1000.0},
        "pin": [{"select": f"min {up_axis} 5%"}],
    }


def open_scene(path: str | Path, changes: Mapping[str, Any] | None = None) -> Scene:
    """The scene in a file, or a mesh file's default scene, with `changes` (see `load_scene`) made to it."""
    path = Path(path)
    if is_mesh_file(path):
        up_axis = str((changes or {}).get("up_axis", "y"))
        return parse_scene(override(default_tables(path, up_axis), changes or {}), source=str(path))
    return load_scene(path, changes)
