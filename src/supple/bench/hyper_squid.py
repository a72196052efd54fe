"""Hyper-reduced projective dynamics: the same body in ever finer meshes; what a frame and its preparation take."""

import resource
from dataclasses import replace
from pathlib import Path
from typing import Literal

from supple.bench.hyper_case import make_drop, make_mesh
from supple.bench.hyper_figures import PAPER
from supple.bench.hyper_measure import PROJECTIONS, Row, fill, run_hyper, run_unreduced
from supple.mesh import TetMesh
from supple.method import SpaceSizes

__all__ = ["run"]

_TETS = {"small": (4_000, 16_000, 40_000), "paper": (71_000, 400_000, 1_664_908)}
_SIZES = SpaceSizes(handles=180)  # 2160 dofs
_SHAPE, _FRAMES, _FULL = "walker", 20, 3


def run(size: str, mesh: Path | None = None) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file if one is given."""
    meshes = [make_mesh(None, _SHAPE, tets) for tets in _TETS[size]] if mesh is None else [make_mesh(mesh, _SHAPE, 0)]
    rows = []
    for projection in PROJECTIONS:
        _measure(make_mesh(None, _SHAPE, 2_000), projection)  # kernels compile or load
        found = [_measure(one, projection) for one in meshes]
        rows += [{**row, "to_smallest": found[0]["fps"] / row["fps"]} for row in found]
    return [fill(row) for row in (*rows, PAPER["squid"])]


def _measure(mesh: TetMesh, projection: Literal["clusters", "fit"]) -> Row:
    """A row of free fall; `memory_mb` is the peak of the whole run up to it, before unreduced steps."""
    case = replace(make_drop(mesh, 1.0, _FRAMES), name="fall", colliders=(), places=())
    row = run_hyper(case, replace(_SIZES, projection=projection)).row
    row["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    full = run_unreduced(case, _FULL)
    return {**row, "full_ms": full.ms, "speedup": full.ms / row["ms_frame"]}
