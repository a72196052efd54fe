"""How fast files are read and written, beside numpy's own raw arrays: `supple bench io`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.bench.yardstick import best_ms
from supple.io import CacheInfo, Frame, open_cache, open_writer, save_tets
from supple.io.load import read_tets
from supple.io.save import TET_DIALECTS
from supple.mesh import Sheet, TetMesh
from supple.shape import make_shape

__all__ = ["run"]

_SIZES = {"small": (16_000, 24, 100), "paper": (160_000, 240, 317)}  # tets; frames; vertices along a side of the sheet
_CACHES = (".npz", ".pc2", ".mdd", ".usdc", ".glb")


def run(size: str) -> list[dict[str, object]]:
    """Rows of reading and writing tets in every dialect, then frames of a sheet in every binary cache."""
    count, frames, side = _SIZES[size]
    with tempfile.TemporaryDirectory(prefix="supple-bench-io-") as folder:
        return [*_tet_rows(Path(folder), count), *_frame_rows(Path(folder), frames, side)]


def _row(name: str, read_ms: float, write_ms: float, size: int, raw: tuple[float, float] | None) -> dict[str, object]:
    """One format; ratios are to numpy's raw arrays of the same content."""
    mb = size / 1e6
    return {
        "format": name,
        "read_ms": read_ms,
        "write_ms": write_ms,
        "mb": mb,
        "mb_per_s": 1e3 * mb / read_ms,
        "read_ratio": None if raw is None else read_ms / raw[0],
        "write_ratio": None if raw is None else write_ms / raw[1],
    }


def _measure_raw(folder: Path, arrays: list[NDArray[Any]]) -> tuple[float, float, int]:
    """Milliseconds that numpy takes to read and to write the arrays as they lie in memory, and their bytes."""
    paths = [folder / f"raw{number}.bin" for number in range(len(arrays))]

    def write() -> None:
        for path, array in zip(paths, arrays, strict=True):
            array.tofile(path)

    def read() -> None:
        for path, array in zip(paths, arrays, strict=True):
            np.fromfile(path, array.dtype).reshape(array.shape)

    write_ms = best_ms(write)
    read_ms = best_ms(read)
    for path in paths:
        path.unlink()
    return read_ms, write_ms, sum(array.nbytes for array in arrays)


def _tet_rows(folder: Path, count: int) -> Iterator[dict[str, object]]:
    mesh: TetMesh = make_shape("sphere", elements=count)
    read_ms, write_ms, size = _measure_raw(folder, [mesh.vertices, mesh.tets, mesh.regions])
    yield _row("numpy tets", read_ms, write_ms, size, None)
    for suffix, dialects in TET_DIALECTS.items():
        for dialect in dialects if suffix != ".node" else ():
            path = folder / f"mesh{suffix}"
            written = best_ms(lambda path=path, dialect=dialect: save_tets(path, mesh, dialect))  # type: ignore[misc]
            taken = best_ms(lambda path=path: read_tets(path))  # type: ignore[misc]
            size = sum(file.stat().st_size for file in folder.glob("mesh*"))
            yield _row(f"{suffix} {dialect}", taken, written, size, (read_ms, write_ms))
            for file in folder.glob("mesh*"):
                file.unlink()


def _frame_rows(folder: Path, frames: int, side: int) -> Iterator[dict[str, object]]:
    sheet = _make_sheet(side)
    moved = [_wave(sheet.vertices, k / frames) for k in range(frames)]
    stack = np.stack(moved).astype(np.float32)
    read_ms, write_ms, size = _measure_raw(folder, [stack])
    del stack
    yield _row("numpy frames", read_ms, write_ms, size, None)
    for suffix in _CACHES:
        path = folder / f"run{suffix}"
        started, written = _record(path, sheet, moved)
        opened, taken = _replay(path)
        scale = 2.0 if suffix == ".npz" else 1.0  # it stores doubles: numpy would take twice as long
        size = path.stat().st_size
        yield _row(f"{suffix} frames", taken, written, size, (scale * read_ms, scale * write_ms))
        mesh = sum(file.stat().st_size for file in folder.glob("run*")) - size
        yield _row(f"{suffix} opening", opened, started, mesh, None)
        for file in folder.glob("run*"):
            file.unlink()


def _make_sheet(side: int) -> Sheet:
    x, z = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side), indexing="ij")
    points = np.column_stack([x.ravel(), np.zeros(x.size), z.ravel()])
    corner = np.arange(side * side, dtype=np.int32).reshape(side, side)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.concatenate([np.stack(three, axis=-1).reshape(-1, 3) for three in ((a, c, b), (a, d, c))])
    none = np.zeros((0, 4), np.int32)
    return Sheet(points, none, np.zeros(0, np.int32), {}, triangles=np.ascontiguousarray(triangles))


def _wave(points: NDArray[np.float64], phase: float) -> NDArray[np.float64]:
    """The sheet under a wave that runs along it and one that runs across."""
    moved = points.copy()
    moved[:, 1] = 0.1 * np.sin(2 * np.pi * (points[:, 0] + phase)) + 0.03 * np.sin(4 * np.pi * (points[:, 2] - phase))
    return moved


def _record(path: Path, sheet: Sheet, moved: list[NDArray[np.float64]]) -> tuple[float, float]:
    """Milliseconds until the recording is ready for frames, its mesh written, and of all frames to its end."""
    begin = time.perf_counter()
    writer = open_writer(path, sheet, CacheInfo(start_frame=0))
    ready = time.perf_counter()
    for k, points in enumerate(moved):
        writer.write(Frame(k, k / 24.0, points))
    writer.close()
    return 1e3 * (ready - begin), 1e3 * (time.perf_counter() - ready)


def _replay(path: Path) -> tuple[float, float]:
    """Milliseconds until the recording is open, its mesh read, and of all frames."""
    begin = time.perf_counter()
    cache = open_cache(path)
    ready = time.perf_counter()
    for i in range(cache.frames):
        cache.surface_positions(i)
    return 1e3 * (ready - begin), 1e3 * (time.perf_counter() - ready)
