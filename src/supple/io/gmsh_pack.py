"""Tet meshes written as Gmsh 2.2 text: the version most programs read."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from supple.io.text import format_rows
from supple.mesh import TetMesh

__all__ = ["pack_gmsh"]


def pack_gmsh(mesh: TetMesh) -> Iterable[bytes]:
    """The mesh as pieces of a .msh file, regions as physical volumes with their names."""
    vertices, tets = len(mesh.vertices), len(mesh.tets)
    pieces = [b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"]
    if mesh.region_names:
        plain = {" ".join(name.replace('"', "'").split()): number for name, number in mesh.region_names.items()}
        names = [f'3 {number} "{name}"\n' for name, number in plain.items()]
        pieces.append(f"$PhysicalNames\n{len(names)}\n{''.join(names)}$EndPhysicalNames\n".encode())
    table = np.column_stack([np.arange(1, tets + 1), mesh.regions, np.maximum(mesh.regions, 1), mesh.tets + 1])
    rows = mesh.vertices.reshape(-1).tolist()
    lines = "%d %r %r %r\n" * vertices
    numbered = [item for number in range(vertices) for item in (number + 1, *rows[3 * number : 3 * number + 3])]
    return [
        *pieces,
        f"$Nodes\n{vertices}\n".encode(),
        (lines % tuple(numbered)).encode(),
        f"$EndNodes\n$Elements\n{tets}\n".encode(),
        format_rows("%d 4 2 %d %d %d %d %d %d", table),
        b"$EndElements\n",
    ]
