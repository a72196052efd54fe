"""Gmsh .msh: versions 1, 2.2 and 4.1, text and binary; physical volumes become regions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.io.gmsh_elements import TetCollector
from supple.io.gmsh_numbers import BinaryNumbers, TextNumbers
from supple.io.gmsh_v2 import collect_elements_v1, collect_elements_v2, read_nodes_v2
from supple.io.gmsh_v4 import collect_elements_v4, read_nodes_v4, read_volume_regions
from supple.io.raw import RawTets, look_up, to_regions
from supple.io.source import Source

__all__ = ["parse_gmsh"]

SAVE_AS = "save it from Gmsh as version 2.2 or 4.1"
SECTION = re.compile(rb"^\$(\w+)[^\n]*\n", re.MULTILINE)
TAIL = 32  # bytes at the end of a file in which its last section is closed
PHYSICAL_NAME = re.compile(rb'^\s*(\d+)\s+(\d+)\s+"(.*)"', re.MULTILINE)


@dataclass(frozen=True)
class _Format:
    version: str
    binary: bool
    size_type: np.dtype[np.generic]
    endian: Literal["<", ">"]


def parse_gmsh(source: Source) -> RawTets:
    """Tets of a Gmsh file, higher orders by their corners; other elements are counted in a note."""
    with source.parsing("a Gmsh mesh"):
        sections = _split_sections(source)
        if "NOD" in sections:
            nodes = read_nodes_v2(source, TextNumbers(source, sections["NOD"], "nodes"))
            collector = TetCollector(source)
            collect_elements_v1(source, TextNumbers(source, sections["ELM"], "elements", whole=True), collector)
            return _assemble(source, nodes, collector, {})
        form = _read_format(source, sections.get("MeshFormat", b""))
        for name in ("Nodes", "Elements"):
            if name not in sections:
                raise source.damaged(f"it has no section ${name}")
        nodes_in = _numbers(source, form, sections["Nodes"], "nodes")
        elements_in = _numbers(source, form, sections["Elements"], "elements", whole=True)
        names = _read_physical_names(sections.get("PhysicalNames", b""))
        collector = TetCollector(source)
        if form.version == "2.2":
            nodes = read_nodes_v2(source, nodes_in)
            collect_elements_v2(source, elements_in, collector)
        else:
            nodes = read_nodes_v4(source, nodes_in)
            regions: Mapping[int, int] = {}
            if "Entities" in sections:
                regions = read_volume_regions(_numbers(source, form, sections["Entities"], "entities"))
            collect_elements_v4(source, elements_in, collector, regions)
        return _assemble(source, nodes, collector, names)


def _split_sections(source: Source) -> dict[str, bytes]:
    """Content of every section by name; the first one of a name counts."""
    sections: dict[str, bytes] = {}
    data, at = source.data, 0
    while found := SECTION.search(data, at):
        name = found[1].decode(errors="replace")
        closing = b"$END" + found[1] if name in ("NOD", "ELM") else b"$End" + found[1]
        binary = sections.get("MeshFormat", b"").split(maxsplit=2)[1:2] == [b"1"]
        end = data.rfind(closing, max(found.end(), len(data) - TAIL)) if binary else -1  # the last, often the largest
        if end < 0:
            end = data.find(closing, found.end())
        if end < 0:
            raise source.damaged(f"its section ${name} has no end")
        sections.setdefault(name, data[found.end() : end])
        at = end + len(closing)
    if not sections:
        raise source.damaged("it has no Gmsh section", SAVE_AS)
    return sections


def _read_format(source: Source, section: bytes) -> _Format:
    line, _, rest = section.partition(b"\n")
    words = line.decode(errors="replace").split()
    if len(words) != 3 or words[0] not in ("2", "2.0", "2.1", "2.2", "4.1") or words[2] not in ("4", "8"):
        raise source.damaged(f"its format '{' '.join(words)}' is not read", SAVE_AS)
    version = "4.1" if words[0] == "4.1" else "2.2"
    endian: Literal["<", ">"] = "<"
    if words[1] == "1":
        if rest[:4] not in (b"\x01\x00\x00\x00", b"\x00\x00\x00\x01"):
            raise source.damaged("its byte order is not marked")
        endian = "<" if rest[0] == 1 else ">"
    return _Format(version, words[1] == "1", np.dtype(f"{endian}u{words[2]}"), endian)


def _numbers(
    source: Source, form: _Format, section: bytes, what: str, *, whole: bool = False
) -> TextNumbers | BinaryNumbers:
    if form.binary:
        return BinaryNumbers(source, section, what, form.endian, form.size_type)
    return TextNumbers(source, section, what, whole=whole)


def _read_physical_names(section: bytes) -> dict[str, int]:
    """Numbers of the named physical volumes."""
    found = PHYSICAL_NAME.findall(section)
    return {name.decode(errors="replace"): int(number) for dimension, number, name in found if int(dimension) == 3}


def _assemble(
    source: Source,
    nodes: tuple[NDArray[np.int64], NDArray[np.float64]],
    collector: TetCollector,
    names: Mapping[str, int],
) -> RawTets:
    numbers, vertices = nodes
    source.check_finite(vertices, "nodes")
    tags, regions = collector.gather()
    return RawTets(
        vertices,
        look_up(source, numbers, tags),
        to_regions(source, regions),
        {name: number for name, number in names.items() if (regions == number).any()},
        collector.notes(),
    )
