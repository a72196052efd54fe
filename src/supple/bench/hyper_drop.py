"""Hyper-reduced projective dynamics: a soft body falls onto a floor; speed, accuracy and rest beside unreduced steps.

`fall` is in free flight; its errors are those of the same body, ten times as stiff, twisted and let go, with 10 and
with 60 iterations. `drop` lands and comes to rest, at the demo's stiffness, 10 and 100 times as much; `fold` touches
itself as well as the floor. `coarse mesh` is the unreduced solver on so few tets that its frame takes as long as a
hyper-reduced one, twisted and let go likewise. All take 10 iterations a step but the rows with a `convergence`, which
stand beside those of the default space in clusters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, product
from pathlib import Path

from supple.bench.hyper_case import Case, make_drop, make_mesh, make_twist, refine
from supple.bench.hyper_figures import AUTHORS, PAPER, TABLE_2
from supple.bench.hyper_measure import (
    PROJECTIONS,
    Row,
    Unreduced,
    compare,
    fill,
    measure_creep,
    measure_floor,
    measure_frames,
    measure_motion,
    run_hyper,
    run_unreduced,
    travel,
)
from supple.bench.only import is_asked
from supple.mesh import TetMesh
from supple.mesh.embed import embed
from supple.method import SpaceSizes
from supple.method.projective.stopping import CONVERGENCE

__all__ = ["run"]

_TETS = {"small": 9_000, "paper": 71_289}
_HANDLES = (30, 120, 330)  # 360, 1440 and 3960 position dofs
_STIFFNESS = (1.0, 10.0, 100.0)
_TABLE_2 = 10.0  # which deforms like the paper's: the smallest space is compared at this stiffness too
_FRAMES, _FULL, _FLIGHT = {1.0: 150, 10.0: 150, 100.0: 400}, 50, 12  # stiff bodies, undamped, roll for longer
_SHAPE = "creature"


def run(size: str, mesh: Path | None = None, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file if one is given.

    Rows are asked for by case, projection and position dofs.
    """
    for _ in _measure(make_mesh(None, _SHAPE, 1_000), (30,), (1.0,), _SHAPE, ""):
        pass  # kernels compile or load
    rows = _measure(make_mesh(mesh, _SHAPE, _TETS[size]), _HANDLES, _STIFFNESS, None if mesh else _SHAPE, only)
    return (fill(row) for row in chain(rows, () if only else _figures()))


def _measure(
    mesh: TetMesh, handles: Sequence[int], stiffness: Sequence[float], shape: str | None, only: str
) -> Iterator[Row]:
    flight, twist = replace(make_drop(mesh, 1.0, _FLIGHT), name="fall", colliders=(), places=()), make_twist(mesh)
    free, let_go = cache(partial(run_unreduced, flight)), cache(partial(run_unreduced, twist, None))
    middle, equal = handles[len(handles) // 2], 0.0
    for count, projection in product(handles, PROJECTIONS):
        if not is_asked(only, flight.name, projection, 12 * count):
            continue
        sizes = SpaceSizes(handles=count, projection=projection)
        row = run_hyper(flight, sizes).row
        row |= {"full_ms": free().ms, "speedup": free().ms / row["ms_frame"]}
        for iterations, key in ((10, "rms_error"), (60, "rms_error_60")):
            row[key] = _miss(twist, sizes, let_go(iterations), iterations)
        yield row
        if (count, projection) == (middle, PROJECTIONS[0]):
            equal = row["ms_frame"]
            yield run_hyper(flight, sizes, convergence=CONVERGENCE).row
    for factor in stiffness:
        drop = make_drop(mesh, factor, _FRAMES[factor])
        landed = cache(partial(run_unreduced, drop, _FULL))
        for count, projection in product(handles if factor == _TABLE_2 else handles[-2:], PROJECTIONS):
            if is_asked(only, drop.name, projection, 12 * count):
                found = run_hyper(drop, SpaceSizes(handles=count, projection=projection))
                yield {**measure_frames(found, landed()), **measure_floor(found), "creep": measure_creep(found)}
                if (count, projection) == (middle, PROJECTIONS[0]):
                    found = run_hyper(drop, SpaceSizes(handles=count, projection=projection), convergence=CONVERGENCE)
                    yield {**found.row, **measure_floor(found), "creep": measure_creep(found)}
    soft, projection = make_drop(mesh, stiffness[0], _FRAMES[stiffness[0]]), PROJECTIONS[0]
    fold = replace(soft, name=f"fold x{stiffness[0]:g}", folds=True)
    if is_asked(only, fold.name, projection, 12 * middle):
        found = run_hyper(fold, SpaceSizes(handles=middle, projection=projection))
        yield {**found.row, **measure_floor(found), "creep": measure_creep(found)}
    if equal and not only:
        yield _coarse(mesh, shape, twist, let_go(10), equal)


def _miss(case: Case, sizes: SpaceSizes, exact: Unreduced, iterations: int) -> float:
    return measure_motion(run_hyper(case, sizes, iterations), exact, travel([case.start], case.body.vertices))


def _coarse(mesh: TetMesh, shape: str | None, twist: Case, exact: Unreduced, wanted: float) -> Row:
    """The unreduced solver on a mesh whose frame takes about as long as wanted [ms]."""
    coarse, found = mesh, exact
    for _ in range(2):  # the second time from what the first took
        coarse = refine(mesh, shape, max(int(len(coarse.tets) * wanted / found.ms), 200))
        found = run_unreduced(make_twist(coarse))
    carried = embed(coarse, mesh.vertices)
    frames = [carried.apply(x) for x in found.frames]
    return {
        "source": "supple", "case": "coarse mesh", "vertices": len(coarse.vertices), "constraints": len(coarse.tets),
        "iterations": 10, "ms_frame": found.ms, "fps": 1e3 / found.ms, "full_ms": found.ms,
        "rms_error": compare(frames, exact.frames, travel([twist.start], mesh.vertices)),
    }  # fmt: skip


def _figures() -> list[Row]:
    smallest = {"source": "paper", "case": "armadillo", "position_dofs": 360}
    rows = [smallest, dict(PAPER["armadillo"]), dict(PAPER["armadillo, large space"])]
    for row in rows:
        row["projection_error"], row["projection_error_max"] = TABLE_2[row["position_dofs"]]
    return [*rows, *AUTHORS]
