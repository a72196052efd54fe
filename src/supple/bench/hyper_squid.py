"""Hyper-reduced projective dynamics: the same body in ever finer meshes; what a frame and its preparation take."""

import resource
from dataclasses import replace
from pathlib import Path

from supple.bench.hyper_case import make_drop, make_mesh
from supple.bench.hyper_figures import PAPER
from supple.bench.hyper_measure import Row, fill, run_hyper, run_unreduced
from supple.mesh import TetMesh
from supple.method import SpaceSizes

__all__ = ["run"]

_TETS = {"small": (4_000, 16_000, 40_000), "paper": (71_000, 400_000, 1_664_908)}
_SIZES = SpaceSizes(handles=180)  # 2160 dofs
_SHAPE, _FRAMES, _FULL = "walker", 20, 3


def run(size: str, mesh: Path | None = None) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file if one is given."""
    meshes = [make_mesh(None, _SHAPE, tets) for tets in _TETS[size]] if mesh is None else [make_mesh(mesh, _SHAPE, 0)]
    _measure(make_mesh(None, _SHAPE, 2_000))  # kernels compile or load
    rows = [_measure(one) for one in meshes]
    for row in rows:
        row["to_smallest"] = rows[0]["fps"] / row["fps"]
    return [fill(row) for row in (*rows, PAPER["squid"])]


def _measure(mesh: TetMesh) -> Row:
    """A row of free fall; `memory_mb` is the peak of the whole run up to it, before unreduced steps."""
    case = replace(make_drop(mesh, 1.0, _FRAMES), name="fall", colliders=(), places=())
    row = run_hyper(case, _SIZES).row
    row["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    full = run_unreduced(case, _FULL)
    return {**row, "full_ms": full.ms, "speedup": full.ms / row["ms_frame"]}
