"""The .tobj text of HOBAK and its kin: `v x y z` lines, then `t a b c d` lines counted from 0."""

from __future__ import annotations

import re
from collections.abc import Iterable

from supple.io.raw import RawTets, from_zero, to_indices
from supple.io.source import Source
from supple.io.text import format_rows, parse_floats, parse_ints
from supple.mesh import TetMesh

__all__ = ["pack_tobj", "parse_tobj"]

VERTEX = re.compile(rb"^[ \t]*v[ \t]+([^\n#]*)", re.MULTILINE)
TET = re.compile(rb"^[ \t]*t[ \t]+([^\n#]*)", re.MULTILINE)


def parse_tobj(source: Source) -> RawTets:
    """Tets of a .tobj file; other lines are left out."""
    with source.parsing("a .tobj mesh"):
        text = source.data.replace(b"\r\n", b"\n")
        points, cells = VERTEX.findall(text), TET.findall(text)
        if not points or not cells:
            raise source.damaged("it has no lines of vertices and tets")
        vertices = parse_floats(source, b"\n".join(points), "vertices")
        corners = parse_ints(source, b"\n".join(cells), "tets")
        if len(vertices) != 3 * len(points) or len(corners) != 4 * len(cells):
            raise source.damaged("a vertex has not 3 coordinates or a tet not 4 corners")
        tets, notes = from_zero(corners.reshape(-1, 4), len(points))
        indices = to_indices(source, tets, len(points), "tets")
        return RawTets(vertices.reshape(-1, 3), indices, notes=notes)


def pack_tobj(mesh: TetMesh) -> Iterable[bytes]:
    """The tet mesh as pieces of a .tobj file; regions have no place in it."""
    return [format_rows("v %r %r %r", mesh.vertices), format_rows("t %d %d %d %d", mesh.tets)]
