"""A run as a sequence of OBJ files: `name.obj` stands for name.0001.obj, name.0002.obj, ..."""

from __future__ import annotations

import re
from pathlib import Path

from supple.errors import OutputError
from supple.io.drawn import RenderMesh, drawn_surface
from supple.io.files import remove_marked, write_atomically, writing
from supple.io.frames import CacheInfo, Frame, FrameChecks, check_gap
from supple.io.obj import pack_obj_faces
from supple.io.text import format_rows
from supple.mesh import TetMesh

__all__ = ["MARK", "ObjWriter", "find_sequence", "read_note"]

MARK = b"# supple "  #: how the first line of every frame begins; what the run was like follows


def find_sequence(path: Path) -> dict[int, Path]:
    """Files of the sequence that `path` stands for, by frame number, in order."""
    name = re.compile(re.escape(path.stem) + r"\.(\d+)" + re.escape(path.suffix))
    folder = path.parent.iterdir() if path.parent.is_dir() else ()
    found = {int(match[1]): file for file in folder if (match := name.fullmatch(file.name))}
    return dict(sorted(found.items()))


class ObjWriter:
    """Writes every frame as an OBJ file of its own."""

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
        self._faces = pack_obj_faces(self._surface.counts, self._surface.indices, self._surface.uv)
        with writing(path):
            old = find_sequence(path)
        kept = [index for index in old if resume_at is not None and index < resume_at]
        if resume_at is not None:
            if not old:
                raise OutputError(f"{path} has no frames, so it cannot go on; run again without resuming.")
            check_gap(path, kept, resume_at, info.start_frame)
        remove_marked([file for index, file in old.items() if index not in kept], MARK)
        self._checks = FrameChecks(path, mesh, kept[-1] if kept else None)

    def write(self, frame: Frame) -> None:
        """Add the frame's file."""
        self._checks.accept(frame)
        head = self._info.to_json(frame=frame.index, time=frame.time)
        points = self._surface.lift(frame.positions) / self._info.metres_per_unit
        (file,) = self.files(frame.index)
        write_atomically(file, [MARK, head.encode(), b"\n", format_rows("v %r %r %r", points), self._faces])
        self._checks.last = frame.index

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return (self._path.with_name(f"{self._path.stem}.{index:04d}{self._path.suffix}"),)

    def close(self) -> None:
        """Nothing is left to do: every file is whole."""


def read_note(file: Path) -> tuple[CacheInfo, float | None]:
    """What the first line says of the run, and the frame's time [s] if it does."""
    with file.open("rb") as stream:
        line = stream.readline(4096)
    if not line.startswith(MARK):
        return CacheInfo(start_frame=0), None
    info, more = CacheInfo.from_json(line[len(MARK) :], str(file))
    time = more.get("time")
    return info, float(time) if isinstance(time, int | float) else None
