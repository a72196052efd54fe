"""A run as one .npz that grows: the tet mesh, what a reader must know, and every frame, in SI units.

Members: `info` (JSON), `vertices`, `tets`, `regions`, ... as in a mesh file, `collider/NAME/vertices` and
`collider/NAME/triangles` of every collider, then for frame 7 `frame/0007/positions`, `frame/0007/velocities`,
`frame/0007/point/NAME`, `frame/0007/cell/NAME`, `frame/0007/contact/NAME`, `frame/0007/collider/NAME` (rotation and
place as the columns of a 3 x 4 matrix) and last `frame/0007/time`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.files import probe_folder, writing
from supple.io.frames import CacheInfo, Frame, FrameChecks, check_gap
from supple.io.npz import mesh_arrays
from supple.io.npz_file import NpzFile, scan_file
from supple.io.npz_zip import GrowingNpz
from supple.mesh import TetMesh, TriMesh

__all__ = ["LAST_MEMBER", "NpzWriter"]

#: Name of the array that is written last in a frame: with it the frame is whole.
LAST_MEMBER = re.compile(r"frame/(\d+)/time")


class NpzWriter:
    """Appends every frame to one .npz without touching what is there."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        colliders: Mapping[str, TriMesh],
        resume_at: int | None = None,
    ) -> None:
        static = {"info": np.array(info.to_json()), **mesh_arrays(mesh)}
        for name, surface in colliders.items():
            static |= {f"collider/{name}/vertices": surface.vertices, f"collider/{name}/triangles": surface.triangles}
        self._colliders = tuple(colliders)
        if resume_at is None:
            self._file, last = GrowingNpz.create(path, static), None
        else:
            self._file, last = _reopen(path, static, resume_at, info.start_frame)
        self._checks = FrameChecks(path, mesh, last)

    def write(self, frame: Frame) -> None:
        """Add the frame."""
        self._checks.accept(frame)
        arrays: dict[str, NDArray[Any]] = {"positions": frame.positions}
        if frame.velocities is not None:
            arrays["velocities"] = frame.velocities
        arrays |= {f"point/{name}": values for name, values in frame.point_data.items()}
        arrays |= {f"cell/{name}": values for name, values in frame.cell_data.items()}
        arrays |= {f"contact/{name}": values for name, values in (frame.contacts or {}).items()}
        arrays |= {
            f"collider/{name}": np.column_stack([place.rotation, place.translation])
            for name, place in zip(self._colliders, frame.colliders, strict=True)
        }
        arrays["time"] = np.array(frame.time)  # last
        self._file.append({f"frame/{frame.index:04d}/{name}": values for name, values in arrays.items()})
        self._checks.last = frame.index

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return (self._file.path,)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _reopen(
    path: Path, static: dict[str, NDArray[Any]], resume_at: int, start_frame: int
) -> tuple[GrowingNpz, int | None]:
    """The file with the frames before `resume_at`, and the last of these."""
    probe_folder(path)
    if not path.is_file():
        raise OutputError(f"{path} does not exist, so it cannot go on; run again without resuming.")
    with NpzFile(path) as file:
        if not all(name in file and np.array_equal(file.read(name), array) for name, array in static.items()):
            raise OutputError(f"{path} is a recording of another mesh or setting; run again without resuming.")
    with writing(path):
        members = scan_file(path)
    ends = [
        (int(found[1]), place + 1)
        for place, member in enumerate(members)
        if (found := LAST_MEMBER.fullmatch(member.name))
    ]
    kept = [(index, place) for index, place in ends if index < resume_at]
    check_gap(path, [index for index, _ in kept], resume_at, start_frame)
    growing = GrowingNpz(path, members)
    growing.keep(kept[-1][1] if kept else len(static))
    return growing, kept[-1][0] if kept else None
