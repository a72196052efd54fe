"""Hyper-reduced projective dynamics: the same body in ever finer meshes; what a frame and its preparation take."""

import resource
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Literal

from supple.bench.hyper_case import make_drop, make_mesh
from supple.bench.hyper_figures import PAPER
from supple.bench.hyper_measure import PROJECTIONS, Row, fill, run_hyper, run_unreduced
from supple.bench.only import is_asked
from supple.mesh import TetMesh
from supple.mesh.split import split_tets
from supple.method import SpaceSizes

__all__ = ["run"]

_TETS = {"small": (4_000, 16_000, 40_000), "paper": (95_000, 500_000, 2_450_000)}  # the last: 440,000 vertices
_SPLITS = {"small": 1, "paper": 2}  # how often the tets of a file are split in eight
_SIZES = SpaceSizes(handles=180)  # 2160 dofs
_SHAPE, _FRAMES, _FULL = "walker", 20, 3
_LARGE = 1_000_000  # tets: beyond, factors of unreduced steps take minutes


def run(size: str, mesh: Path | None = None, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file and ever finer ones if one is given.

    Rows are asked for by projection.
    """
    meshes = cache(partial(_make_meshes, size, mesh))
    for projection in PROJECTIONS:
        if is_asked(only, "fall", projection):
            _measure(make_mesh(None, _SHAPE, 2_000), projection)  # kernels compile or load
            first = None
            for one in meshes():
                row = _measure(one, projection)
                first = first or row["fps"]
                yield fill({**row, "to_smallest": first / row["fps"]})
    if not only:
        yield fill(PAPER["squid"])


def _make_meshes(size: str, path: Path | None) -> list[TetMesh]:
    if path is None:
        return [make_mesh(None, _SHAPE, tets) for tets in _TETS[size]]
    meshes = [make_mesh(path, _SHAPE, _TETS[size][0])]
    for _ in range(_SPLITS[size]):
        meshes.append(split_tets(meshes[-1]))
    return meshes


def _measure(mesh: TetMesh, projection: Literal["clusters", "fit"]) -> Row:
    """A row of free fall; `memory_mb` is the peak of the whole run up to it, before unreduced steps."""
    case = replace(make_drop(mesh, 1.0, _FRAMES), name="fall", colliders=(), places=())
    row = run_hyper(case, replace(_SIZES, projection=projection)).row
    row["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    if len(mesh.tets) > _LARGE:
        return row
    full = run_unreduced(case, _FULL)
    return {**row, "full_ms": full.ms, "speedup": full.ms / row["ms_frame"]}
