"""A run of a character written back into the kind of file it came from.

The points of all parts grow in a PC2 beside the file; closing it puts them into a copy of the character's file: as
morph targets on top of its skin in glTF, as time-sampled points in USD.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.character import Character
from supple.io.drawn import RenderMesh
from supple.io.files import write_atomically, writing
from supple.io.frames import CacheInfo, Frame
from supple.io.gltf_container import open_gltf
from supple.io.gltf_worn import pack_worn
from supple.io.pointcache import pack_pc2_head, read_pc2
from supple.io.pointcache_mesh import mesh_path
from supple.io.record_gltf import TOLERANCE
from supple.io.record_points import Pc2Writer, part_cache
from supple.io.replay_worn import WornCache
from supple.io.source import read_source
from supple.io.usd_layers import USD_OUT
from supple.io.usd_read import USD_SUFFIXES
from supple.io.usd_worn import read_worn, write_worn
from supple.mesh import TetMesh, TriMesh
from supple.mesh.trimesh import fan_corners, proper_triangles

__all__ = ["CharacterWriter", "keeps_character", "parts_surface"]

GLTF = (".glb", ".gltf")


def keeps_character(path: Path, came: Path) -> bool:
    """Whether a run is written to `path` as a copy of the file that its character came from."""
    kind, suffix = path.suffix.lower(), came.suffix.lower()
    return (kind == ".glb" and suffix in GLTF) or (kind in USD_OUT and suffix in USD_SUFFIXES)


def parts_surface(character: Character) -> TriMesh:
    """All parts side by side at rest [m], their vertices and polygons in the order of the file."""
    before = np.cumsum([0, *(len(part.vertices) for part in character.parts)])
    counts = np.concatenate([part.counts for part in character.parts])
    corners = np.concatenate([part.corners + start for part, start in zip(character.parts, before, strict=False)])
    triangles = corners[fan_corners(counts)].astype(np.int32)
    return TriMesh(
        np.concatenate([part.vertices for part in character.parts]),
        triangles[proper_triangles(triangles)],
        (),
        counts.astype(np.int32),
        corners.astype(np.int32),
    )


class CharacterWriter:
    """Grows a PC2 of all parts and puts it into the character's file when closed."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        character: Character,
        render: RenderMesh | None = None,
        resume_at: int | None = None,
        clip: str | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        if path.resolve() == Path(character.file).resolve():
            raise OutputError(f"{path} is the character's own file, which is kept as it is: name another file.")
        self._path, self._part, self._character, self._tolerance = path, part_cache(path), character, tolerance
        self._info, self._clip = replace(info, metres_per_unit=1.0), clip
        self._sizes = [len(part.vertices) for part in character.parts]
        if render is None or len(render.surface.vertices) != sum(self._sizes):
            render = RenderMesh.build(mesh, parts_surface(character))
        if resume_at is not None and not self._part.is_file() and path.is_file():
            self._take_apart()
        self._growing = Pc2Writer(self._part, mesh, self._info, render, resume_at)
        self._times = [index / info.fps for index in self._growing.indices]

    def write(self, frame: Frame) -> None:
        """Add the frame."""
        self._growing.write(frame)
        self._times.append(frame.time)

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return self._growing.files(index)

    def close(self) -> None:
        """Write the file and remove the PC2."""
        if not self._part.is_file():
            return
        if self._growing.indices:
            frames = read_pc2(self._part).positions
            points = np.split(frames, np.cumsum(self._sizes)[:-1], axis=1)
            if self._path.suffix.lower() == ".glb":
                self._write_gltf(points, np.array(self._times))
            else:
                write_worn(self._path, self._character, points, np.array(self._times), self._info)
        with writing(self._path):
            self._part.unlink()
            mesh_path(self._part).unlink(missing_ok=True)

    def _write_gltf(self, points: list[NDArray[np.floating]], times: NDArray[np.float64]) -> None:
        came = Path(self._character.file)
        vertices = np.concatenate([part.vertices for part in self._character.parts])
        size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
        file = open_gltf(read_source(came), came.parent)
        tolerance = self._tolerance * size
        pieces = pack_worn(file, self._character, points, times, tolerance, self._info, self._clip)
        write_atomically(self._path, pieces)

    def _take_apart(self) -> None:
        """Make the PC2 of a finished file, to go on with."""
        if self._path.suffix.lower() == ".glb":
            cache = WornCache(self._path)
            numbers, frames = list(cache.indices), np.array([cache.surface_positions(i) for i in range(cache.frames)])
        else:
            numbers, frames = read_worn(self._path, self._character, self._info)
        if not numbers or frames.shape[1] != sum(self._sizes):
            raise OutputError(f"{self._path} is a recording of another mesh; run again without resuming.")
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        head = pack_pc2_head(frames.shape[1], numbers[0], step, len(numbers))
        write_atomically(self._part, [head, frames.astype("<f4").tobytes()])
