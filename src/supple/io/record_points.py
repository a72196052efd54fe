"""A run as a point cache: NAME.pc2 or NAME.mdd with the drawn surface's positions, and its mesh as NAME.pc2.obj."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from supple.errors import OutputError
from supple.io.drawn import RenderMesh, drawn_surface
from supple.io.files import probe_folder, write_atomically, writing
from supple.io.frames import CacheInfo, Frame, FrameChecks, check_gap
from supple.io.pointcache import PC2_HEADER, pack_mdd_head, pack_pc2_head, read_mdd, read_pc2
from supple.io.pointcache_mesh import mesh_path, write_mesh
from supple.mesh import TetMesh

__all__ = ["MddWriter", "Pc2Writer", "part_cache"]


def part_cache(path: Path) -> Path:
    """The PC2 that grows while a format that is written in one go is being recorded."""
    return path.with_name(f"{path.name}.part.pc2")


class Pc2Writer:
    """Appends every frame to a PC2 and then counts it in its head; frames come at equal steps."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        render: RenderMesh | None,
        resume_at: int | None = None,
    ) -> None:
        self._path, self._info = path, info
        self._surface = drawn_surface(mesh, render)
        self.vertices = len(self._surface.lift(mesh.vertices))  #: positions a frame
        self.indices: list[int] = [] if resume_at is None else self._recover(resume_at)
        write_mesh(mesh_path(path), mesh, self._surface, info)
        with writing(path):
            if resume_at is None:
                path.write_bytes(self._head())
            else:
                os.truncate(path, PC2_HEADER.size + 12 * self.vertices * len(self.indices))
                self._count()
        self._checks = FrameChecks(path, mesh, self.indices[-1] if self.indices else None)

    def write(self, frame: Frame) -> None:
        """Add the frame."""
        self._checks.accept(frame)
        if len(self.indices) > 1 and frame.index - self.indices[-1] != self._step():
            found = f"{self._path}: frame {frame.index} is not {self._step()} after the last one"
            raise OutputError(f"{found}, which its head has no place for; record .npz or USD.")
        points = self._surface.lift(frame.positions)
        if self._info.metres_per_unit != 1.0:
            points = points / self._info.metres_per_unit
        with np.errstate(over="ignore"):
            plain = np.ascontiguousarray(points, dtype="<f4")
        if not np.isfinite(plain).all():
            raise OutputError(f"{self._path}: frame {frame.index} exceeds its 32 bits; choose larger units.")
        with writing(self._path), self._path.open("r+b") as stream:
            stream.seek(PC2_HEADER.size + 12 * self.vertices * len(self.indices))
            stream.write(plain.data)
            stream.flush()
            self.indices.append(frame.index)
            stream.seek(0)
            stream.write(self._head())  # counts the frame, now that it is there
        self._checks.last = frame.index

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return (self._path, mesh_path(self._path))

    def close(self) -> None:
        """Nothing is left to do: every frame is counted."""

    def _step(self) -> int:
        return self.indices[1] - self.indices[0] if len(self.indices) > 1 else 1

    def _head(self) -> bytes:
        start = self.indices[0] if self.indices else self._info.start_frame
        return pack_pc2_head(self.vertices, start, self._step(), len(self.indices))

    def _count(self) -> None:
        """Say in the head how many frames there are, once they are."""
        with writing(self._path), self._path.open("r+b") as stream:
            stream.write(self._head())

    def _recover(self, resume_at: int) -> list[int]:
        """Numbers of the frames before `resume_at`."""
        probe_folder(self._path)
        if not self._path.is_file():
            raise OutputError(f"{self._path} does not exist, so it cannot go on; run again without resuming.")
        frames = read_pc2(self._path)
        if frames.positions.shape[1] != self.vertices:
            raise OutputError(f"{self._path} is a recording of another mesh; run again without resuming.")
        kept = [index for index in frames.indices if index < resume_at]
        check_gap(self._path, kept, resume_at, self._info.start_frame)
        return kept


class MddWriter:
    """Grows a PC2 and turns it into the MDD when closed: an MDD begins with the times of all frames."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        render: RenderMesh | None,
        resume_at: int | None = None,
    ) -> None:
        self._path, self._info, self._part = path, info, part_cache(path)
        if resume_at is not None and not self._part.is_file() and path.is_file():
            self._take_apart()
        self._growing = Pc2Writer(self._part, mesh, info, render, resume_at)
        with writing(path):
            os.replace(mesh_path(self._part), mesh_path(path))
        self._times = [index / info.fps for index in self._growing.indices]

    def write(self, frame: Frame) -> None:
        """Add the frame."""
        self._growing.write(frame)
        self._times.append(frame.time)

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return (self._part, mesh_path(self._path))

    def close(self) -> None:
        """Write the MDD and remove the PC2."""
        if self._part.is_file():
            if self._growing.indices:
                write_atomically(self._path, self._pieces())
            with writing(self._path):
                self._part.unlink()

    def _pieces(self) -> Iterator[bytes | memoryview]:
        frames = read_pc2(self._part).positions
        yield from pack_mdd_head(frames.shape[1], self._times)
        for points in frames:
            yield points.astype(">f4").view(np.uint8).data

    def _take_apart(self) -> None:
        """Make the PC2 of a finished MDD, to go on with."""
        frames = read_mdd(self._path)
        numbers = [round(time * self._info.fps) for time in frames.times or ()]
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        head = pack_pc2_head(frames.positions.shape[1], numbers[0], max(step, 1), len(numbers))
        write_atomically(self._part, [head, *(points.astype("<f4").tobytes() for points in frames.positions)])
