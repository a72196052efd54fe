"""Hyper-reduced projective dynamics: a body slides off a ball onto a floor; how well its projections are fitted."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from supple.bench.hyper_case import Case, make_drop, make_mesh
from supple.bench.hyper_figures import PAPER
from supple.bench.hyper_measure import PROJECTIONS, Row, fill, measure_floor, measure_frames, run_hyper, run_unreduced
from supple.bench.only import is_asked
from supple.contact.plane import Plane
from supple.contact.sphere import Sphere
from supple.mesh import TetMesh
from supple.method import SpaceSizes
from supple.solve import Placement

__all__ = ["run"]

_TETS = {"small": 12_000, "paper": 733_649}
_SIZES = SpaceSizes(handles=100, functions=70)  # 1200 and 420 dofs
_STIFFNESS = (1.0, 10.0)
_SHAPE, _FRAMES, _FULL = "walker", 80, {"small": 30, "paper": 4}
_BALL, _CENTRE = 0.25, np.array([0.1, 0.25, 0.05])  # m


def run(size: str, mesh: Path | None = None, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file if one is given.

    Rows are asked for by case and projection.
    """
    body, few = make_mesh(mesh, _SHAPE, _TETS[size]), make_mesh(None, _SHAPE, 2_000)
    for stiffness in _STIFFNESS:
        case = _slide(body, stiffness)
        full = cache(partial(run_unreduced, case, _FULL[size]))
        for projection in PROJECTIONS:
            if is_asked(only, case.name, projection):
                sizes = replace(_SIZES, projection=projection)
                run_hyper(_slide(few, stiffness), sizes)  # kernels compile or load
                found = run_hyper(case, sizes)
                yield fill(measure_frames(found, full()) | measure_floor(found))
    if not only:
        yield fill(PAPER["dragon"])


def _slide(mesh: TetMesh, stiffness: float) -> Case:
    case = make_drop(mesh, stiffness, _FRAMES)
    places = Placement.still(), Placement(np.eye(3), _CENTRE)
    return replace(case, name=f"slide x{stiffness:g}", colliders=(Plane(), Sphere(_BALL)), places=places)
