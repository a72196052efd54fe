"""A run as glTF: the drawn surface with a few morph targets and their animated weights, sparse where they can be.

The frames grow in a PC2 beside the file; closing turns them into the .glb. glTF is in metres with y up.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.axes import turn_up
from supple.io.drawn import RenderMesh, drawn_surface
from supple.io.files import write_atomically, writing
from supple.io.frames import CacheInfo, Frame
from supple.io.gltf_pack import GltfBuilder, split_seams
from supple.io.morphs import Morphs, fit_morphs
from supple.io.pointcache import pack_pc2_head, read_pc2
from supple.io.pointcache_mesh import mesh_path
from supple.io.record_points import Pc2Writer, part_cache
from supple.io.replay_gltf import GltfCache
from supple.mesh import TetMesh, TriMesh

__all__ = ["TOLERANCE", "GltfWriter", "pack_morphs"]

TOLERANCE = 1e-4  #: how far a vertex of a .glb may be from where it was, as a share of the body's size


class GltfWriter:
    """Grows a PC2 and turns it into morph targets when closed."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        render: RenderMesh | None,
        resume_at: int | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        self._path, self._part, self._tolerance = path, part_cache(path), tolerance
        self._info = replace(info, metres_per_unit=1.0)
        surface = drawn_surface(mesh, render)
        self._surface = TriMesh.from_polygons(surface.lift(mesh.vertices), surface.counts, surface.indices, surface.uv)
        if resume_at is not None and not self._part.is_file() and path.is_file():
            self._take_apart()
        self._growing = Pc2Writer(self._part, mesh, self._info, render, resume_at)
        self._times = [index / info.fps for index in self._growing.indices]
        if self._growing.vertices != len(self._surface.vertices):
            raise OutputError(f"{path}: the render mesh has vertices that no face uses; remove them.")

    def write(self, frame: Frame) -> None:
        """Add the frame."""
        self._growing.write(frame)
        self._times.append(frame.time)

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return self._growing.files(index)

    def close(self) -> None:
        """Write the .glb and remove the PC2."""
        if not self._part.is_file():
            return
        if self._growing.indices:
            frames = turn_up(read_pc2(self._part).positions, self._info.up_axis, "y")
            surface = self._surface.moved(frames[0])
            size = float(np.linalg.norm(np.subtract(*reversed(surface.bounds()))))
            morphs = fit_morphs(frames, self._tolerance * size)
            write_atomically(self._path, pack_morphs(surface, morphs, self._times, self._info))
        with writing(self._path):
            self._part.unlink()
            mesh_path(self._part).unlink(missing_ok=True)

    def _take_apart(self) -> None:
        """Make the PC2 of a finished .glb, to go on with: its frames are met within its tolerance."""
        cache = GltfCache(self._path)
        points = [turn_up(cache.surface_positions(i), "y", self._info.up_axis) for i in range(cache.frames)]
        if len(points[0]) != len(self._surface.vertices):
            raise OutputError(f"{self._path} is a recording of another mesh; run again without resuming.")
        step = cache.indices[1] - cache.indices[0] if cache.frames > 1 else 1
        head = pack_pc2_head(len(points[0]), cache.indices[0], step, cache.frames)
        write_atomically(self._part, [head, *(frame.astype("<f4").tobytes() for frame in points)])


def pack_morphs(surface: TriMesh, morphs: Morphs, times: list[float], info: CacheInfo) -> Any:
    """Pieces of a .glb of the surface in its first frame, with the shapes as targets and their weights over time."""
    builder, split = GltfBuilder(), split_seams(surface)
    primitive = builder.surface(split, morphs.start, surface.vertex_normals())
    mesh: dict[str, Any] = {"primitives": [primitive]}
    if len(morphs.shapes):
        primitive["targets"] = [{"POSITION": builder.sparse(shape[split.source])} for shape in morphs.shapes]
        mesh["weights"] = morphs.weights[0].tolist()
        seconds: NDArray[np.float64] = np.array(times) - times[0]
        builder.tree["animations"] = [
            {
                "samplers": [
                    {
                        "input": builder.accessor(seconds, bounds=True),
                        "output": builder.accessor(morphs.weights.reshape(-1)),
                        "interpolation": "LINEAR",
                    }
                ],
                "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            }
        ]
    builder.tree["meshes"], builder.tree["nodes"] = [mesh], [{"mesh": 0}]
    builder.tree["asset"]["extras"] = {"supple": info.to_json(first=times[0])}
    return builder.pack()
