"""Hyper-reduced projective dynamics: a solid with a skin on a floor is blown up to twice its volume."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from supple.bench.hyper_case import Case, make_body, make_drop, make_mesh
from supple.bench.hyper_figures import PAPER
from supple.bench.hyper_measure import (
    PROJECTIONS,
    Row,
    Run,
    fill,
    measure_floor,
    measure_frames,
    measure_motion,
    run_hyper,
    run_unreduced,
    travel,
)
from supple.bench.only import is_asked
from supple.constraint import Shell, TetVolume, tet_stencils
from supple.mesh import TetMesh
from supple.method import SpaceSizes
from supple.solve import SetVolume

__all__ = ["run"]

_TETS = {"small": 4_000, "paper": 277_363}
_SIZES = SpaceSizes(handles=100, samples=800)  # 1200 dofs
_SKIN = Shell(young=2e4, poisson=0.3, thickness=2e-3, density=1000.0)
_BULK, _VOLUME = 5e4, 2.0  # Pa; times the volume at rest
_SHAPE, _FRAMES = "creature", 40


def run(size: str, mesh: Path | None = None, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file if one is given.

    Rows are asked for by projection.
    """
    case, few = (_blow(one) for one in (make_mesh(mesh, _SHAPE, _TETS[size]), make_mesh(None, _SHAPE, 2_000)))
    full = cache(partial(run_unreduced, case))
    for projection in PROJECTIONS:
        if is_asked(only, case.name, projection):
            sizes = replace(_SIZES, projection=projection)
            run_hyper(few, sizes)  # kernels compile or load
            found = run_hyper(case, sizes)
            row = measure_frames(found, full()) | measure_floor(found)
            row["rms_error"] = measure_motion(found, full(), travel(full().frames, case.start))
            yield fill({**row, "volume": _volume(found, case)})
    if not only:
        yield fill(PAPER["elephant"])


def _blow(mesh: TetMesh) -> Case:
    case, skin = make_drop(mesh, 1.0, _FRAMES), TetVolume.build(tet_stencils(mesh), _BULK)
    body = make_body(mesh, skin=_SKIN).tied(skin)
    start = mesh.vertices - [0.0, mesh.vertices[:, 1].min(), 0.0]
    return replace(case, name="balloon", body=body, start=start, events=(SetVolume(_VOLUME),))


def _volume(found: Run, case: Case) -> float:
    """Times the volume at rest, in the end."""
    cells = case.body.cells
    shapes = found.solver.positions(found.states[-1]), case.body.vertices
    now, rest = (float(np.linalg.det(x[cells[:, 1:]] - x[cells[:, :1]]).sum()) for x in shapes)
    return now / rest
