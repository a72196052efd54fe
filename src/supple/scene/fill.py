"""A surface file turned into a file of tetrahedra: what `supple mesh` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from supple.errors import OutputError, SceneError
from supple.io import TET_OUT, load_surface, save_tets
from supple.io.permit import Permit
from supple.io.save import ask_mesh, mesh_files
from supple.mesh import ConformLimits, TetMesh, conform, tetrahedralise
from supple.scene.info import describe_mesh
from supple.scene.kernels import announce_compilation
from supple.scene.source import DEFAULT_ELEMENTS

__all__ = ["fill_surface"]


def fill_surface(
    source: Path,
    target: Path,
    resolution: int | None,
    elements: int | None,
    say: Callable[[str], None],
    conforming: ConformLimits | None = None,
    *,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Fill the surface in one file with tetrahedra in another; facts about them by name.

    With `conforming`, which says what the mesher may take, the tetrahedra keep to the surface. A target that is there
    is replaced where it was made of the same surface before, or with `overwrite`.
    """
    if resolution is not None and elements is not None:
        raise SceneError("--resolution and --elements say the same thing twice: give one of them.")
    for name, value in (("resolution", resolution), ("elements", elements)):
        if value is not None and value < 1:
            raise SceneError(f"--{name} {value} makes no tetrahedra: give a number above 0.")
    if target.suffix.lower() not in TET_OUT:
        raise OutputError(f"{target} is no tet mesh supple writes: end it in {', '.join(TET_OUT)}.")
    permit = Permit(source, "mesh", overwrite)
    words = ask_mesh(permit, target)
    if words is not None:
        say(words)
    surface = load_surface(source)
    if conforming is not None:
        if resolution is not None:
            raise SceneError("--resolution is for the lattice mesher: give --elements with --conforming.")
        mesh, _ = conform(surface, elements or DEFAULT_ELEMENTS, limits=conforming)
        return _save(mesh, target, permit)
    with announce_compilation(say):
        if resolution is not None:
            mesh = tetrahedralise(surface, resolution=resolution)
        else:
            mesh = tetrahedralise(surface, elements=elements or DEFAULT_ELEMENTS)
    return _save(mesh, target, permit)


def _save(mesh: TetMesh, target: Path, permit: Permit) -> dict[str, Any]:
    """Write the tetrahedra; facts about them by name."""
    save_tets(target, mesh)
    for path in mesh_files(target):
        permit.done(path)
    return describe_mesh(mesh)
