"""A glTF file with animated morph targets read back as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.frames import Cache, CacheInfo
from supple.io.gltf_container import GltfFile, open_gltf
from supple.io.gltf_surface import read_gltf, read_triangles
from supple.io.limits import check_count
from supple.io.raw import Lacking
from supple.io.source import read_source
from supple.io.views import PolygonView
from supple.mesh import TriMesh, weld_points

__all__ = ["GltfCache"]


class GltfCache(Cache):
    """The first mesh of a file whose weights are animated, sampled at the animation's own times."""

    def __init__(self, path: Path) -> None:
        source = read_source(path)
        with source.parsing("a glTF animation"):
            file = open_gltf(source, path.parent)
            node, sampler = _animated(file)
            mesh = file.entry("meshes", file.entry("nodes", node).get("mesh"))
            (primitive, *_) = file.list_of(mesh, "primitives")
            self._start = file.accessor(primitive["attributes"]["POSITION"], ("VEC3",), "positions").astype(np.float64)
            targets = file.list_of(primitive, "targets")
            self._shapes = [_shape(file, target, len(self._start)) for target in targets]
            seconds = file.accessor(sampler.get("input"), ("SCALAR",), "times").astype(np.float64)
            check_count(source.name, len(seconds), "frames")
            weights = file.accessor(sampler.get("output"), ("SCALAR",), "weights").astype(np.float64)
            self._weights = weights.reshape(len(seconds), len(self._shapes))
            note = (file.tree["asset"].get("extras") or {}).get("supple")
            info, more = CacheInfo.from_json(note, source.name) if isinstance(note, str) else (_guess(seconds), {})
            read_triangles(file, primitive, len(self._start))
        self.info, self.fields = info, ()
        first = float(more.get("first", 0.0))
        self.times = tuple((seconds + first).tolist())
        self.indices = tuple(round(time * info.fps) for time in self.times)
        raw = read_gltf(path)
        self._first = _first_uses(self._start)
        self._view = PolygonView(str(path), raw)
        self.triangles = self._view.triangles

    def surface(self) -> TriMesh:
        """The surface [m] in the first frame, with its texture coordinates."""
        return self._view.mesh.moved(self.surface_positions(0))

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        points = self._start.copy()
        for weight, shape in zip(self._weights[i], self._shapes, strict=True):
            points += weight * shape
        return self._view.of_points("the file", points[self._first])


def _first_uses(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first of the vertices at every place, in order: what joining seams leaves."""
    place = weld_points(points)[1]
    return np.unique(place, return_index=True)[1]


def _guess(seconds: NDArray[np.float64]) -> CacheInfo:
    span = float(seconds[-1] - seconds[0]) if len(seconds) > 1 else 0.0
    return CacheInfo(fps=(len(seconds) - 1) / span if span > 0 else 24.0, start_frame=0)


def _animated(file: GltfFile) -> tuple[int, dict[str, Any]]:
    """The node whose weights an animation drives, and the sampler that does."""
    for animation in file.entries("animations"):
        samplers = file.list_of(animation, "samplers")
        for channel in file.list_of(animation, "channels"):
            target = channel.get("target", {})
            if target.get("path") == "weights" and channel.get("sampler", -1) in range(len(samplers)):
                sampler = samplers[channel["sampler"]]
                if sampler.get("interpolation", "LINEAR") == "LINEAR":
                    return file.whole(target.get("node"), "a reference to nodes"), sampler
    raise Lacking(f"{file.source.name} has no animated morph targets; use it as a surface file.")


def _shape(file: GltfFile, target: dict[str, Any], count: int) -> NDArray[np.float64]:
    shape = file.accessor(target["POSITION"], ("VEC3",), "morph target").astype(np.float64)
    if len(shape) != count:
        raise file.source.damaged("a morph target has not as many vertices as its mesh")
    return shape
