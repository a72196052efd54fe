"""Characters in a folder: files that hold one, and meshes beside the bones and weights that make them one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple.errors import SuppleError
from supple.io.load_character import CHARACTER_SUFFIXES, load_character

__all__ = ["find_characters"]

Tables = dict[str, Any]
_TALL = {"arm": "m", "elephant": "cm", "makehuman_base": "dm"}  # units of known files that do not tell theirs
_MESHES = (".obj", ".off", ".ply", ".msh", ".mesh", ".npz")
_CLIP = {"fps": 30.0, "substeps": 2, "frames": 48}


def find_characters(place: Path) -> dict[str, Path | Tables]:
    """By name, the file of each character, or the tables of a scene of it."""
    if not place.is_dir():
        return {place.name: place}
    found: dict[str, Path | Tables] = {}
    for file in sorted(place.rglob("*")):
        if file.suffix.lower() in CHARACTER_SUFFIXES and _is_rigged(file):
            found[file.name] = file
        elif file.suffix.lower() in (".tgf", ".out", ".mhskel", ".json"):
            tables = _pair(file)
            if tables is not None:
                found[file.name if file.stem != "skeleton_rig" else f"{file.parent.name}/{file.name}"] = tables
    return found


def _is_rigged(file: Path) -> bool:
    try:
        return load_character(file, 1.0).skeleton is not None
    except SuppleError:
        return False


def _pair(bones: Path) -> Tables | None:
    """The scene of bones with the mesh, weights and motion that lie beside them; None where some are not there."""
    folder, stem = bones.parent, bones.stem.removesuffix("_skeleton")
    beside = {
        ".tgf": (f"{stem}-weights.dmat", f"{stem}-anim.dmat"),
        ".out": (f"{stem}_attachment.out", ""),
        ".mhskel": (f"{stem}_weights.mhw", ""),
        ".json": (bones.name if bones.stem == "skeleton_rig" else "mesh.npz", "float.json"),
    }
    weights, motion = (folder / name for name in beside[bones.suffix.lower()])
    files = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in _MESHES]
    files.sort(key=lambda file: _MESHES.index(file.suffix.lower()))
    named = [file for file in files if file.stem in (stem, "mesh")] or files
    if not weights.is_file() or not named or (weights == bones and bones.stem != "skeleton_rig"):
        return None
    mesh: Tables = {"file": str(named[0])}
    if named[0].suffix.lower() in (".obj", ".off", ".ply"):
        mesh["elements"] = 15_000
    if bones.suffix.lower() == ".mhskel":
        mesh["parts"] = ["body"]
    tables: Tables = {
        "units": _TALL.get(named[0].stem, "m"),
        "time": _CLIP,
        "mesh": mesh,
        "rig": {"skeleton": str(bones), "weights": str(weights), "skinning": "linear"},
    }
    return tables | ({"motion": {"file": str(motion)}} if motion.is_file() else {})
