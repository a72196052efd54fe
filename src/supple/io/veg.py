"""Vega's .veg (text): tets, with regions as sets of tets; materials are named but left to the scene."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.io.raw import RawTets, look_up, to_whole
from supple.io.source import Source
from supple.io.text import cut_lines, format_rows, number_rows, parse_floats, parse_ints
from supple.mesh import TetMesh

__all__ = ["pack_veg", "parse_veg"]

COMMENT = re.compile(rb"#[^\n]*")
SECTION = re.compile(rb"^[ \t]*\*([A-Za-z]+)[ \t]*([^\n]*)\n?", re.MULTILINE)
ALL = "allElements"  #: the set that Vega knows without being told

Section = tuple[str, str, bytes]  # keyword, what stands behind it, the lines below


def parse_veg(source: Source) -> RawTets:
    """Tets of a Vega file; each `*REGION` over a `*SET` becomes a region of the set's name."""
    with source.parsing("a Vega mesh"):
        sections = _split(source)
        numbers, vertices = _read_vertices(source, _only(source, sections, "VERTICES"))
        names, corners = _read_tets(source, _only(source, sections, "ELEMENTS"))
        regions, region_names = _read_regions(source, sections, names)
        return RawTets(vertices, look_up(source, numbers, corners), regions, region_names)


def _split(source: Source) -> list[Section]:
    text = COMMENT.sub(b"", source.data.replace(b"\r\n", b"\n"))
    found = list(SECTION.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    sections = [
        (one[1].decode().upper(), one[2].decode(errors="replace").strip(), text[one.end() : end])
        for one, end in zip(found, ends, strict=True)
    ]
    if any(keyword == "INCLUDE" for keyword, *_ in sections):
        raise source.damaged("it includes another file", "put both into one file")
    return sections


def _only(source: Source, sections: Sequence[Section], keyword: str) -> bytes:
    bodies = [body for name, _, body in sections if name == keyword]
    if len(bodies) != 1:
        raise source.damaged(f"it has {len(bodies)} sections *{keyword} where one belongs")
    return bodies[0].lstrip()


def _read_vertices(source: Source, body: bytes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Vertex numbers (n,) and positions (n, 3)."""
    head, rows = cut_lines(body, 1)
    counts = parse_ints(source, head, "counts")
    values = parse_floats(source, rows, "vertices")
    if len(counts) < 2 or counts[1] != 3 or len(values) != 4 * counts[0]:
        raise source.damaged("its vertices are not as many as it promises")
    table = values.reshape(-1, 4)
    return to_whole(source, table[:, 0], "vertex numbers"), np.ascontiguousarray(table[:, 1:])


def _read_tets(source: Source, body: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tet numbers (m,) and corners (m, 4)."""
    kind, rest = cut_lines(body, 1)
    if kind.strip().upper() not in (b"TET", b"TETS"):
        name = kind.strip().decode(errors="replace")[:30]
        raise source.damaged(f"its elements are {name}, not TET", "mesh the body with tetrahedra")
    head, rows = cut_lines(rest, 1)
    counts, values = parse_ints(source, head, "counts"), parse_ints(source, rows, "elements")
    if len(counts) < 2 or counts[1] != 4 or len(values) != 5 * counts[0] or not counts[0]:
        raise source.damaged("its elements are not as many as it promises")
    table = values.reshape(-1, 5)
    return table[:, 0], table[:, 1:]


def _read_regions(
    source: Source, sections: Sequence[Section], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int32] | None, dict[str, int]]:
    """Region of every tet, counted from 1 in the file's order, and the regions' names."""
    sets = {name: parse_ints(source, body.replace(b",", b" "), name) for kind, name, body in sections if kind == "SET"}
    regions = np.zeros(len(numbers), dtype=np.int32)
    names: dict[str, int] = {}
    for place, body in enumerate((body for kind, _, body in sections if kind == "REGION"), start=1):
        words = [word.strip() for word in body.decode(errors="replace").replace("\n", ",").split(",") if word.strip()]
        if len(words) < 2 or (words[0] != ALL and words[0] not in sets):
            raise source.damaged(f"its region {place} names no set of elements that it gives")
        inside = np.ones(len(numbers), bool) if words[0] == ALL else np.isin(numbers, sets[words[0]])
        regions[inside] = place
        names[words[1] if words[0] == ALL else words[0]] = place
    return (regions, names) if names else (None, {})


def pack_veg(mesh: TetMesh) -> Iterable[bytes]:
    """The tet mesh as pieces of a Vega file, its regions as sets; the material is a placeholder of soft tissue."""
    named = {number: name for name, number in mesh.region_names.items()}
    pieces = [
        f"*VERTICES\n{len(mesh.vertices)} 3 0 0\n".encode(),
        number_rows("%d %r %r %r", mesh.vertices),
        f"\n*ELEMENTS\nTET\n{len(mesh.tets)} 4 0\n".encode(),
        number_rows("%d %d %d %d %d", mesh.tets + 1),
    ]
    for number in np.unique(mesh.regions).tolist():
        name = re.sub(r"[\s,#*]+", "_", named.get(number, f"region{number}"))
        inside = np.flatnonzero(mesh.regions == number)[:, None] + 1
        pieces += [
            f"\n*MATERIAL {name}_material\nENU, 1000, 30000, 0.45\n\n*SET {name}\n".encode(),
            format_rows("%d", inside),
            f"\n*REGION\n{name}, {name}_material\n".encode(),
        ]
    return pieces
