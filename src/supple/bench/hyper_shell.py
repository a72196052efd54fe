"""Hyper-reduced projective dynamics: a thin shell held at one end bends over under its weight."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple.bench.hyper_case import STEP, Case, make_mesh
from supple.bench.hyper_figures import PAPER
from supple.bench.hyper_measure import (
    PROJECTIONS,
    Row,
    fill,
    measure_frames,
    measure_motion,
    run_hyper,
    run_unreduced,
    travel,
)
from supple.constraint import ProjectiveBody, Shell
from supple.elastic import Pins
from supple.io.load import load_surface
from supple.mesh import TriMesh
from supple.method import SpaceSizes

__all__ = ["run"]

_TETS = {"small": 4_000, "paper": 680_000}  # of the solid whose surface it is: 24,000 vertices
_SIZES = SpaceSizes(handles=45, functions=50)  # 540 and 300 dofs
_SHELL = Shell(young=2e4, poisson=0.3, thickness=4e-3, density=1000.0)
_SHAPE, _HELD, _FRAMES = "hand", 0.05, 40


def run(size: str, mesh: Path | None = None) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", for the surface of a file if one is given."""
    surface = make_mesh(None, _SHAPE, _TETS[size]).surface() if mesh is None else _load(mesh)
    case = _hold(surface)
    full = run_unreduced(case)
    few, way = _hold(make_mesh(None, _SHAPE, 2_000).surface()), travel(full.frames, case.start)
    for projection in PROJECTIONS:
        sizes = replace(_SIZES, projection=projection)
        run_hyper(few, sizes)  # kernels compile or load
        found = run_hyper(case, sizes)
        yield fill({**measure_frames(found, full), "rms_error": measure_motion(found, full, way)})
    yield fill(PAPER["glove"])


def _load(path: Path) -> TriMesh:
    surface = load_surface(path)
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    return TriMesh((surface.vertices - 0.5 * (low + high)) / (high - low).max(), surface.triangles)


def _hold(surface: TriMesh) -> Case:
    """A shell held at its foot."""
    height = surface.vertices[:, 1]
    held = np.flatnonzero(height < height.min() + _HELD * np.ptp(height))
    body = ProjectiveBody.shell(surface, _SHELL, Pins.of(held))
    return Case("shell", body, body.vertices, _FRAMES, step=STEP)
