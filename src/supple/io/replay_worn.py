"""A run in a glTF file that kept its skin (gltf_worn.py) read back: all parts, as a player shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.frames import Cache, CacheInfo
from supple.io.gltf_container import GltfFile, open_gltf
from supple.io.gltf_play import GltfPlay
from supple.io.gltf_surface import read_triangles
from supple.io.gltf_worn import WORN
from supple.io.limits import check_count
from supple.io.raw import Lacking
from supple.io.source import read_source

__all__ = ["WornCache", "is_worn"]


def is_worn(path: Path) -> bool:
    """Whether a glTF file is such a recording."""
    source = read_source(path)
    with source.parsing("a glTF file"):
        return _note(open_gltf(source, path.parent)) is not None


class WornCache(Cache):
    """The primitives of a recording side by side, at the times of its animated weights."""

    def __init__(self, path: Path) -> None:
        source = read_source(path)
        with source.parsing("a recorded character"):
            file = open_gltf(source, path.parent)
            note = _note(file)
            if note is None:
                raise Lacking(f"{path} is no recording of a character; use it as a surface file.")
            self.info, more = note
            seconds = file.accessor(int(more["clock"]), ("SCALAR",), "times").astype(np.float64)
            check_count(source.name, len(seconds), "frames")
            clip = int(more["clip"])
            self._metres = float(more["unit"])
            self._play = GltfPlay(file, clip if clip >= 0 else None, seconds)
            times = float(more["first"]) + seconds - seconds[0]
            self._parts = [_primitive(file, place) for place in file.tree["asset"]["extras"]["supple_parts"]]
            triangles, before = [], 0
            for _, primitive in self._parts:
                count = file.whole(file.entry("accessors", primitive["attributes"]["POSITION"])["count"], "a count")
                triangles.append(read_triangles(file, primitive, count) + before)
                before += count
            self.triangles = np.concatenate(triangles).astype(np.int32)
        self.times = tuple(times.tolist())
        self.indices = tuple(round(time * self.info.fps) for time in self.times)
        self.fields = ()

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        source = self._play.file.source
        with source.parsing("a recorded character"):
            points = np.concatenate([self._play.points(node, primitive, i) for node, primitive in self._parts])
        source.check_finite(points, "positions")
        return self._metres * points


def _note(file: GltfFile) -> tuple[CacheInfo, dict[str, float]] | None:
    """What supple noted of the run, if the file is one that kept its skin."""
    asset = file.tree.get("asset", {})
    extras = asset.get("extras") if isinstance(asset, dict) else None
    note = extras.get("supple") if isinstance(extras, dict) else None
    if not isinstance(note, str):
        return None
    info, more = CacheInfo.from_json(note, file.source.name)
    return (info, more) if more.get(WORN) else None


def _primitive(file: GltfFile, place: str) -> tuple[int, dict[str, Any]]:
    """The node and the primitive of a part by its place, "NODE/PRIMITIVE"."""
    node, number = map(int, str(place).split("/"))
    mesh = file.entry("meshes", file.entry("nodes", node).get("mesh"))
    primitive: dict[str, Any] = file.list_of(mesh, "primitives")[number]
    return node, primitive
