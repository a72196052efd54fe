"""MEDIT .mesh (text): tets with their references as regions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.io.raw import RawTets, to_indices, to_regions
from supple.io.source import Source
from supple.io.text import format_rows, parse_floats, parse_ints
from supple.mesh import TetMesh

__all__ = ["pack_medit", "parse_medit"]

COMMENT = re.compile(rb"#[^\n]*")
KEYWORD = re.compile(rb"(?:\A|(?<=\s))[A-Za-z]\w*")

Number = TypeVar("Number", np.float64, np.int64)


def parse_medit(source: Source) -> RawTets:
    """Tets of a MEDIT file; its surface triangles, edges and corners are left out."""
    with source.parsing("a MEDIT mesh"):
        sections = _split_sections(source)
        if "Vertices" not in sections or "Tetrahedra" not in sections:
            raise source.damaged("it has no Vertices and Tetrahedra", "save it as text with tetrahedra")
        if parse_ints(source, sections.get("Dimension", b"3"), "dimension").tolist() != [3]:
            raise source.damaged("its dimension is not 3", "save it with three coordinates")
        vertices = _read_table(source, parse_floats(source, sections["Vertices"], "vertices"), 4, "vertices")
        tets = _read_table(source, parse_ints(source, sections["Tetrahedra"], "tetrahedra"), 5, "tetrahedra")
        return RawTets(
            np.ascontiguousarray(vertices[:, :3]),
            to_indices(source, tets[:, :4] - 1, len(vertices), "tetrahedra"),
            to_regions(source, tets[:, 4]),
            notes=_note_others(sections),
        )


def _split_sections(source: Source) -> dict[str, bytes]:
    """Text behind every keyword up to the next one."""
    text = COMMENT.sub(b"", source.data)
    words = list(KEYWORD.finditer(text))
    if not words or words[0][0] != b"MeshVersionFormatted":
        raise source.damaged("it does not begin with MeshVersionFormatted", "save it as a MEDIT text file")
    ends = [word.start() for word in words[1:]] + [len(text)]
    return {word[0].decode(): text[word.end() : end] for word, end in zip(words, ends, strict=True)}


def _read_table(source: Source, values: NDArray[Number], width: int, what: str) -> NDArray[Number]:
    """Rows of a section that begins with their number, shape (count, width)."""
    if len(values) == 0 or len(values) != 1 + width * values[0]:
        raise source.damaged(f"its {what} are not as many as it promises")
    return values[1:].reshape(-1, width)


def _note_others(sections: dict[str, bytes]) -> tuple[str, ...]:
    others = [name for name in ("Hexahedra", "Prisms", "Pyramids") if name in sections]
    return (f"skipped {' and '.join(others)}: only tets are used",) if others else ()


def pack_medit(mesh: TetMesh) -> Iterable[bytes]:
    """The tet mesh as pieces of a MEDIT text file; region names have no place in it."""
    tets = np.column_stack([mesh.tets + 1, mesh.regions])
    return [
        f"MeshVersionFormatted 2\nDimension 3\nVertices\n{len(mesh.vertices)}\n".encode(),
        format_rows("%r %r %r 0", mesh.vertices),
        f"Tetrahedra\n{len(tets)}\n".encode(),
        format_rows("%d %d %d %d %d", tets),
        b"End\n",
    ]
