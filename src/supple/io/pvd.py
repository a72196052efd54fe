"""The PVD file: a list of VTU files with their times."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from supple.io.files import within, write_atomically
from supple.io.frames import CacheInfo
from supple.io.source import Source, read_source
from supple.io.vtk_xml import parse_vtk

__all__ = ["MARK", "Listing", "frame_path", "pack_note", "read_listing", "write_listing"]

MARK = b"<!-- supple "
NOTE = re.compile(rb"<!-- supple (\{[^\n]*\}) -->")
FRAME_NUMBER = re.compile(r"(\d+)\.vtu$")


@dataclass(frozen=True)
class Listing:
    """What a PVD file says: the run, and time [s] and file of every frame by its number."""

    info: CacheInfo
    frames: Mapping[int, tuple[float, Path]]


def frame_path(path: Path, index: int) -> Path:
    """File of a frame of the series listed in `path`."""
    return path.with_name(f"{path.stem}_{index:04d}.vtu")


def pack_note(info: CacheInfo, **more: float) -> bytes:
    """A comment that tells what a reader must know of the run."""
    return MARK + info.to_json(**more).encode() + b" -->\n"


def write_listing(path: Path, info: CacheInfo, times: Mapping[int, float]) -> None:
    """Write the list of frames, in place of an older one in one step."""
    lines = [
        f'<DataSet timestep="{time!r}" group="" part="0" file={quoteattr(frame_path(path, index).name)}/>\n'
        for index, time in times.items()
    ]
    head = b'<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n<Collection>\n'
    body = "".join(lines).encode() + b"</Collection>\n</VTKFile>\n"
    write_atomically(path, [b'<?xml version="1.0"?>\n', pack_note(info), head, body])


def read_listing(path: Path) -> Listing:
    """The frames that a PVD lists; those of other programs are numbered by their file names, or in turn."""
    source = read_source(path)
    with source.parsing("a PVD collection"):
        note = NOTE.search(source.data)
        info = CacheInfo.from_json(note[1], source.name)[0] if note else CacheInfo(start_frame=0)
        frames: dict[int, tuple[float, Path]] = {}
        for place, node in enumerate(parse_vtk(source, "Collection").root.iter("DataSet")):
            number = FRAME_NUMBER.search(node.get("file", ""))
            file = _inside(source, path.parent, node.get("file", ""))
            frames[int(number[1]) if number else place] = (_read_time(source, node), file)
        return Listing(info, frames)


def _read_time(source: Source, node: ElementTree.Element) -> float:
    time = float(node.get("timestep", "nan"))
    if not np.isfinite(time):
        raise source.damaged("it lists a frame without a time")
    return time


def _inside(source: Source, folder: Path, name: str) -> Path:
    """The listed file, which has to lie in or below the folder of the list."""
    path = within(folder, name)
    if path is None:
        raise source.damaged(f"it lists the file '{name[:60]}' outside its folder", "keep the series in one folder")
    return path
