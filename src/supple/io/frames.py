"""A recorded run: what is written frame by frame and read back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, OutputError
from supple.io.tree import parse_json
from supple.mesh import TetMesh, TriMesh
from supple.solve import Placement

__all__ = ["Cache", "CacheInfo", "Frame", "FrameChecks", "FrameWriter", "check_gap"]


@dataclass(frozen=True)
class CacheInfo:
    """What a reader must know of a recorded run; written files convert from SI by `metres_per_unit`."""

    fps: float = 24.0  #: frames a second
    up_axis: Literal["y", "z"] = "y"
    metres_per_unit: float = 1.0  #: length of one unit of the written file [m]
    start_frame: int = 1
    title: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise OutputError(f"fps = {self.fps} is no frame rate; give a number above 0.")
        if not (np.isfinite(self.metres_per_unit) and self.metres_per_unit > 0):
            raise OutputError(f"metres_per_unit = {self.metres_per_unit} is no length; give a number above 0.")
        if self.up_axis not in ("y", "z"):
            raise OutputError(f"up_axis = '{self.up_axis}' is not known; give 'y' or 'z'.")

    def to_json(self, **more: float) -> str:
        """The values as one line that may stand in a comment of any format."""
        return json.dumps({**asdict(self), **more}).replace("-", "\\u002d")  # XML comments end at two dashes

    @classmethod
    def from_json(cls, text: str | bytes, name: str) -> tuple[CacheInfo, dict[str, Any]]:
        """The values of such a line, and what else stands in it."""
        known = {item.name for item in fields(cls)}
        try:
            values = parse_json(text)
            info = {key: value for key, value in values.items() if key in known}
            more = {key: value for key, value in values.items() if key not in known}
            return cls(**info), more
        except (ValueError, AttributeError, TypeError, OutputError) as error:
            raise FileFormatError(f"{name}: its notes on the run are damaged ({error}); record it again.") from None


@dataclass(frozen=True)
class Frame:
    """State of all tet vertices at one frame."""

    index: int  #: frame number
    time: float  #: [s]
    positions: NDArray[np.float64]  #: [m], shape (n, 3)
    velocities: NDArray[np.float64] | None = None  #: [m/s], shape (n, 3)
    point_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)  #: by name, first extent n
    cell_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)  #: by name, first extent m (tets)
    contacts: Mapping[str, NDArray[Any]] | None = None
    """Points that touch, by name, first extent k: `point` [m], (k, 3), and values there; None without contact."""
    colliders: tuple[Placement, ...] = ()  #: where the recording's colliders stand


class FrameWriter(Protocol):
    """Writes frames as they come: after every `write`, all so far can be read, even if the process dies."""

    def write(self, frame: Frame) -> None:
        """Add a frame; its index is above the last one's."""

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in; all of it has to stay until `close`."""

    def close(self) -> None:
        """Finish the files; frames written are readable without it."""


class FrameChecks:
    """Refuses a frame before any of it reaches a file."""

    def __init__(self, path: Path, mesh: TetMesh, last: int | None) -> None:
        self._path, self._points, self._cells = path, len(mesh.vertices), len(mesh.tets)
        self.last = last  #: number of the last frame written

    def accept(self, frame: Frame) -> None:
        """Check shapes, finiteness and order of the frame."""
        if frame.index < 0 or (self.last is not None and frame.index <= self.last):
            raise self._refuse(frame, f"does not follow frame {self.last}", "give rising frame numbers from 0 on")
        if not np.isfinite(frame.time):
            raise self._refuse(frame, f"is at time {frame.time}", "give a finite time")
        self._check(frame, "positions", frame.positions, (self._points, 3))
        if frame.velocities is not None:
            self._check(frame, "velocities", frame.velocities, (self._points, 3))
        for count, data in ((self._points, frame.point_data), (self._cells, frame.cell_data)):
            for name, values in data.items():
                self._check(frame, name, values, (count, *values.shape[1:2]))
        for name, values in (frame.contacts or {}).items():
            self._check(frame, f"contact {name}", values, values.shape[:2])
        for place in frame.colliders:
            self._check(frame, "colliders", np.column_stack([place.rotation, place.translation]), (3, 4))

    def _check(self, frame: Frame, name: str, values: NDArray[Any], shape: tuple[int, ...]) -> None:
        if values.shape != shape or values.dtype.kind not in "fiu":
            found = f"has {name} of shape {values.shape} and type {values.dtype}"
            raise self._refuse(frame, found, f"give numbers of shape {shape}")
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values).reshape(len(values), -1).all(axis=1)))
            raise self._refuse(frame, f"has {name} that are not finite at entry {row}", "use a smaller time step")

    def _refuse(self, frame: Frame, what: str, remedy: str) -> OutputError:
        return OutputError(f"{self._path}: frame {frame.index} {what}, so it is not written; {remedy}.")


def check_gap(path: Path, indices: Sequence[int], resume_at: int, start_frame: int) -> None:
    """Refuse to go on at `resume_at` when the frames before it are not all there."""
    step = min(np.diff(indices), default=None) if len(indices) > 1 else None
    last = indices[-1] if indices else None
    if (last is None and resume_at > start_frame) or (last is not None and step and last + step < resume_at):
        found = "no frame" if last is None else f"frame {last}"
        raise OutputError(f"{path} ends at {found}, so it cannot go on at {resume_at}; run again without resuming.")


class Cache(ABC):
    """A recorded run read back; frames are counted from 0, `indices` holds their numbers."""

    info: CacheInfo
    indices: tuple[int, ...]  #: frame number of every frame
    times: tuple[float, ...]  #: [s]
    triangles: NDArray[np.int32]  #: of the drawn surface, shape (k, 3)
    fields: tuple[str, ...]  #: names that `point_values` takes

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.indices)

    @abstractmethod
    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of the drawn surface in frame `i`, shape (s, 3)."""

    def surface(self) -> TriMesh:
        """The drawn surface [m] in the first frame, with the polygons and texture coordinates that the file has."""
        return TriMesh(self.surface_positions(0), self.triangles)

    def body(self) -> TetMesh | None:
        """The tets [m] at rest, where the recording holds them."""
        return None

    def positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of all vertices of the `body` in frame `i`, shape (n, 3)."""
        raise FileFormatError("the recording holds a surface, no tets; read its surface positions.")

    def colliders(self, i: int) -> list[TriMesh]:
        """The colliders' surfaces [m] in frame `i`, where the recording holds them."""
        return []

    def point_values(self, name: str, i: int) -> NDArray[np.float64]:
        """A field at the vertices of the drawn surface in frame `i`, shape (s,) or (s, d), in SI units."""
        known = ", ".join(self.fields) or "none"
        raise FileFormatError(f"the recording has no field '{name}'; it has {known}.")
