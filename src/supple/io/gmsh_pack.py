"""Tet meshes written as Gmsh files: version 2.2 text, which most programs read, or another version, text or binary."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from supple.io.gmsh_v2 import NODE
from supple.io.text import format_rows, number_rows
from supple.mesh import TetMesh

__all__ = ["pack_gmsh", "pack_gmsh_1", "pack_gmsh_4"]

TET = 4
ELEMENT = np.dtype([("number", "<i4"), ("group", "<i4"), ("entity", "<i4"), ("nodes", "<i4", 4)])
ENDIAN = np.array(1, "<i4").tobytes()
LINES = {"nodes": "%d %r %r %r", "tets": "%d 4 2 %d %d %d %d %d %d"}


def pack_gmsh(mesh: TetMesh, *, binary: bool = False) -> Iterable[bytes]:
    """The mesh as pieces of a 2.2 file, regions as physical volumes with their names."""
    vertices, tets = len(mesh.vertices), len(mesh.tets)
    if binary:
        nodes = np.empty(vertices, NODE)
        nodes["number"], nodes["position"] = np.arange(1, vertices + 1), mesh.vertices
        rows = np.empty(tets, ELEMENT)
        rows["number"], rows["group"], rows["entity"] = (
            np.arange(1, tets + 1),
            mesh.regions,
            np.maximum(mesh.regions, 1),
        )
        rows["nodes"] = mesh.tets + 1
        points, cells = [nodes.tobytes(), b"\n"], [np.array([TET, tets, 2], "<i4").tobytes(), rows.tobytes(), b"\n"]
    else:
        table = np.column_stack([mesh.regions, np.maximum(mesh.regions, 1), mesh.tets + 1])
        points, cells = [number_rows(LINES["nodes"], mesh.vertices)], [number_rows(LINES["tets"], table)]
    return [
        _format("2.2", binary),
        _names(mesh),
        f"$Nodes\n{vertices}\n".encode(),
        *points,
        f"$EndNodes\n$Elements\n{tets}\n".encode(),
        *cells,
        b"$EndElements\n",
    ]


def pack_gmsh_1(mesh: TetMesh) -> Iterable[bytes]:
    """The mesh as pieces of a file of version 1, which has no names."""
    table = np.column_stack([mesh.regions, np.maximum(mesh.regions, 1), mesh.tets + 1])
    return [
        f"$NOD\n{len(mesh.vertices)}\n".encode(),
        number_rows(LINES["nodes"], mesh.vertices),
        f"$ENDNOD\n$ELM\n{len(mesh.tets)}\n".encode(),
        number_rows("%d 4 %d %d 4 %d %d %d %d", table),
        b"$ENDELM\n",
    ]


def pack_gmsh_4(mesh: TetMesh, *, binary: bool = False) -> Iterable[bytes]:
    """The mesh as pieces of a 4.1 file: a volume for every region, in its physical group."""
    low, high = mesh.bounds()
    regions = np.unique(mesh.regions)
    order = np.argsort(mesh.regions, kind="stable")
    counts = np.bincount(np.searchsorted(regions, mesh.regions))
    vertices, tets = len(mesh.vertices), len(mesh.tets)

    def write(kinds: str, *values: float) -> bytes:
        """Numbers as a line of text, or as the types named: q size, i integer, d double."""
        if not binary:
            return (" ".join(repr(value) for value in values) + "\n").encode()
        codes = {"q": "<u8", "i": "<i4", "d": "<f8"}
        return b"".join(np.array(value, codes[kind]).tobytes() for kind, value in zip(kinds, values, strict=True))

    pieces = [_format("4.1", binary), _names(mesh), b"$Entities\n", write("qqqq", 0, 0, 0, len(regions))]
    for place, region in enumerate(regions.tolist(), start=1):
        groups = ("qi", [1, region]) if region else ("q", [0])
        pieces.append(write(f"idddddd{groups[0]}q", place, *low.tolist(), *high.tolist(), *groups[1], 0))
    pieces += [b"\n$EndEntities\n$Nodes\n", write("qqqq", 1, vertices, 1, vertices), write("iiiq", 3, 1, 0, vertices)]
    numbers = np.arange(1, vertices + 1)
    if binary:
        pieces += [numbers.astype("<u8").tobytes(), mesh.vertices.astype("<f8").tobytes()]
    else:
        pieces += [format_rows("%d", numbers[:, None]), format_rows("%r %r %r", mesh.vertices)]
    pieces += [b"\n$EndNodes\n$Elements\n", write("qqqq", len(regions), tets, 1, tets)]
    start = 0
    for place, count in enumerate(counts.tolist(), start=1):
        chosen = order[start : start + count]
        rows = np.empty((count, 5), "<i8")
        rows[:, 0], rows[:, 1:] = chosen + 1, mesh.tets[chosen] + 1
        pieces.append(write("iiiq", 3, place, TET, count))
        pieces.append(rows.tobytes() if binary else format_rows("%d %d %d %d %d", rows))
        start += count
    return [*pieces, b"\n$EndElements\n"]


def _format(version: str, binary: bool) -> bytes:
    mark = ENDIAN + b"\n" if binary else b""
    return f"$MeshFormat\n{version} {int(binary)} 8\n".encode() + mark + b"$EndMeshFormat\n"


def _names(mesh: TetMesh) -> bytes:
    plain = {" ".join(name.replace('"', "'").split()): number for name, number in mesh.region_names.items()}
    names = [f'3 {number} "{name}"\n' for name, number in plain.items()]
    return f"$PhysicalNames\n{len(names)}\n{''.join(names)}$EndPhysicalNames\n".encode() if names else b""
