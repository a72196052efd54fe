"""The scene a bare file gets: a mesh its lowest part held, gravity pulling; a character its own clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from supple.io import MESH_SUFFIXES
from supple.io.load_character import CHARACTER_SUFFIXES, load_character
from supple.io.raw import Lacking
from supple.io.source import mesh_suffix
from supple.scene.character_scene import character_tables
from supple.scene.load import load_scene, override, parse_scene
from supple.scene.rig_code import permit_code, tell_code
from supple.scene.schema import Scene
from supple.scene.units import UNITS

__all__ = ["default_tables", "is_mesh_file", "open_allowed", "open_scene"]


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


def _tables_of(path: Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The default tables of a character, where the file holds one, or else of a mesh."""
    if mesh_suffix(path) in CHARACTER_SUFFIXES and path.exists():
        try:
            character = load_character(path, UNITS.get(changes.get("units", "")))
        except Lacking:  # tetrahedra, perhaps
            character = None
        if character is not None and character.skeleton is not None:
            return character_tables(path, character)
    return default_tables(path, str(changes.get("up_axis", "y")))


def open_scene(path: str | Path, changes: Mapping[str, Any] | None = None) -> Scene:
    """The scene in a file, or a mesh file's default scene, with `changes` (see `load_scene`) made to it."""
    path = Path(path)
    if is_mesh_file(path):
        return parse_scene(override(_tables_of(path, changes or {}), changes or {}), source=str(path))
    return load_scene(path, changes)


def open_allowed(
    path: str | Path, changes: Mapping[str, Any] | None, allow_code: bool, say: Callable[[str], None]
) -> Scene:
    """The scene in a file as a command line asks for it: what it runs of Python files is said, and remembered."""
    scene = open_scene(path, changes)
    if allow_code:
        permit_code(scene, remember=True)
    for line in tell_code(scene):
        say(line)
    return scene
