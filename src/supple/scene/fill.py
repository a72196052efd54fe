"""A surface file turned into a file of tetrahedra: what `supple mesh` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from supple.errors import OutputError, SceneError
from supple.io import TET_OUT, load_surface, save_tets
from supple.io.files import probe_folder
from supple.mesh import ConformLimits, conform, tetrahedralise
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
) -> dict[str, Any]:
    """Fill the surface in one file with tetrahedra in another; facts about them by name.

    With `conforming`, which says what the mesher may take, the tetrahedra keep to the surface.
    """
    if resolution is not None and elements is not None:
        raise SceneError("--resolution and --elements say the same thing twice: give one of them.")
    for name, value in (("resolution", resolution), ("elements", elements)):
        if value is not None and value < 1:
            raise SceneError(f"--{name} {value} makes no tetrahedra: give a number above 0.")
    if target.suffix.lower() not in TET_OUT:
        raise OutputError(f"{target} is no tet mesh supple writes: end it in {', '.join(TET_OUT)}.")
    probe_folder(target)
    surface = load_surface(source)
    if conforming is not None:
        if resolution is not None:
            raise SceneError("--resolution is for the lattice mesher: give --elements with --conforming.")
        mesh, _ = conform(surface, elements or DEFAULT_ELEMENTS, limits=conforming)
        save_tets(target, mesh)
        return describe_mesh(mesh)
    with announce_compilation(say):
        if resolution is not None:
            mesh = tetrahedralise(surface, resolution=resolution)
        else:
            mesh = tetrahedralise(surface, elements=elements or DEFAULT_ELEMENTS)
    save_tets(target, mesh)
    return describe_mesh(mesh)
