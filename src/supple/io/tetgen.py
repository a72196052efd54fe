"""TetGen's pair of text files: NAME.node with the vertices and NAME.ele with the tets over them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.io.raw import RawTets, look_up, to_regions, to_whole
from supple.io.source import Source, read_source
from supple.io.text import number_rows, parse_floats, parse_ints
from supple.mesh import TetMesh

__all__ = ["pack_ele", "pack_node", "parse_tetgen", "read_tetgen", "tetgen_paths"]

COMMENT = re.compile(rb"#[^\n]*")
ELE_WIDTHS = (4, 10)  # corners of a tet, and of one with nodes on its edges


def tetgen_paths(path: Path) -> tuple[Path, Path]:
    """Both files of the pair, whichever of them is named."""
    upper = path.suffix.isupper()
    node, ele = (path.with_suffix(suffix.upper() if upper else suffix) for suffix in (".node", ".ele"))
    return node, ele


def read_tetgen(path: Path, *, lenient: bool = False) -> RawTets:
    """Tets of a pair of files, named by either."""
    node, ele = (read_source(file, lenient=lenient) for file in tetgen_paths(path))
    return parse_tetgen(node, ele)


def parse_tetgen(node: Source, ele: Source) -> RawTets:
    """Tets of the content of both files; an attribute of the tets becomes their region."""
    with node.parsing("TetGen's vertices"):
        head, points = _read_table(node, "vertices", (3,))
        numbers, vertices = to_whole(node, points[:, 0], "vertex numbers"), np.ascontiguousarray(points[:, 1:4])
    with ele.parsing("TetGen's tets"):
        head, cells = _read_table(ele, "tets", ELE_WIDTHS)
        whole = to_whole(ele, cells[:, : 1 + head[1]], "tets")
        region = cells[:, -1] if head[2] else None
        notes = (f"took the corners of {len(whole):,} curved tets",) if head[1] == 10 else ()
        regions = None if region is None or (region != np.floor(region)).any() else to_regions(ele, region)
        return RawTets(vertices, look_up(ele, numbers, whole[:, 1:5]), regions, notes=notes)


def _read_table(source: Source, what: str, widths: tuple[int, ...]) -> tuple[list[int], NDArray[np.float64]]:
    """The counts of the first line, and the rows: a number, then corners or coordinates, then attributes."""
    text = COMMENT.sub(b"", source.data).lstrip()
    first, _, rest = text.partition(b"\n")
    head = parse_ints(source, first, "counts").tolist()
    head += [0] * (4 - len(head))
    if head[1] not in widths or min(head) < 0 or head[3] > 1 or head[0] == 0:
        raise source.damaged(f"its first line does not count {what}")
    width = 1 + head[1] + head[2] + (head[3] if what == "vertices" else 0)
    values = parse_floats(source, rest, what)
    if len(values) != head[0] * width:
        raise source.damaged(f"its {what} are not as many as it promises")
    return head, values.reshape(-1, width)


def pack_node(mesh: TetMesh) -> Iterable[bytes]:
    """The vertices as pieces of a .node file."""
    return [f"{len(mesh.vertices)} 3 0 0\n".encode(), number_rows("%d %r %r %r", mesh.vertices)]


def pack_ele(mesh: TetMesh) -> Iterable[bytes]:
    """The tets as pieces of an .ele file, with their region as attribute."""
    table = np.column_stack([mesh.tets + 1, mesh.regions])
    return [f"{len(mesh.tets)} 4 1\n".encode(), number_rows("%d %d %d %d %d %d", table)]
