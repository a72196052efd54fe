"""Point caches of other programs: PC2 (Blender, 3ds Max, Maya) and MDD (LightWave, Modo, Blender).

Both hold the positions of all vertices frame by frame and nothing else; the mesh lies in a file of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.io.limits import check_count
from supple.io.source import Source, check_readable

__all__ = ["PC2_HEADER", "PointFrames", "pack_mdd_head", "pack_pc2_head", "read_mdd", "read_pc2"]

PC2_HEADER = struct.Struct("<12siiffi")  # signature, version, vertices, first frame, frames a sample, samples
PC2_SIGNATURE = b"POINTCACHE2\0"
MDD_HEADER = struct.Struct(">ii")  # frames, vertices; then the times as 32-bit floats


@dataclass(frozen=True)
class PointFrames:
    """Positions of every frame in the file's unit, not in memory before they are used."""

    positions: NDArray[np.floating]  #: shape (frames, n, 3), of 32 bits
    indices: tuple[int, ...]  #: frame numbers
    times: tuple[float, ...] | None  #: [s], where the file has them


def pack_pc2_head(vertices: int, start: float, step: float, samples: int) -> bytes:
    """The 32 bytes that a PC2 file begins with."""
    return PC2_HEADER.pack(PC2_SIGNATURE, 1, vertices, start, step, samples)


def read_pc2(path: Path) -> PointFrames:
    """The frames of a PC2 file, its size checked against what its head promises."""
    source, size = _open(path, PC2_HEADER.size)
    signature, version, vertices, start, step, samples = PC2_HEADER.unpack(source.data)
    if signature != PC2_SIGNATURE or version != 1:
        raise source.damaged("it does not begin with POINTCACHE2, version 1")
    if not (np.isfinite([start, step]).all() and step > 0 and abs(start) < 2**30 and step < 2**20):
        raise source.damaged(f"it starts at frame {start:g} and goes on by {step:g}")
    positions = _map(source, path, PC2_HEADER.size, size, samples, vertices, "<f4")
    return PointFrames(positions, tuple(round(start + step * k) for k in range(samples)), None)


def read_mdd(path: Path) -> PointFrames:
    """The frames of an MDD file, its size checked against what its head promises."""
    source, size = _open(path, MDD_HEADER.size)
    samples, vertices = MDD_HEADER.unpack(source.data)
    if samples < 1 or 4 * samples > size - MDD_HEADER.size:
        raise source.damaged(f"it promises {samples:,} frames, more than it has bytes for")
    stored = np.fromfile(path, ">f4", samples, offset=MDD_HEADER.size)
    source.check_finite(stored, "times")
    times = stored.astype(np.float64)
    if (np.diff(times) < 0).any():
        raise source.damaged("its times run backwards")
    positions = _map(source, path, MDD_HEADER.size + 4 * samples, size, samples, vertices, ">f4")
    return PointFrames(positions, tuple(range(samples)), tuple(times.tolist()))


def pack_mdd_head(vertices: int, times: Sequence[float]) -> Iterable[bytes]:
    """The head of an MDD file; big-endian, as all of it."""
    return [MDD_HEADER.pack(len(times), vertices), np.array(times, ">f4").tobytes()]


def _open(path: Path, head: int) -> tuple[Source, int]:
    """The first bytes of the file, and its size."""
    check_readable(path)
    with path.open("rb") as stream:
        source = Source(str(path), stream.read(head))
    if len(source.data) < head:
        raise source.damaged("it ends before its head does")
    return source, path.stat().st_size


def _map(
    source: Source, path: Path, start: int, size: int, samples: int, vertices: int, kind: str
) -> NDArray[np.floating]:
    if samples < 1 or vertices < 1 or start + 12 * samples * vertices > size:
        raise source.damaged(f"it has not the {samples:,} frames of {vertices:,} vertices that it promises")
    check_count(source.name, samples, "frames")
    check_count(source.name, vertices, "vertices")
    return np.memmap(path, kind, "r", start, (samples, vertices, 3))
