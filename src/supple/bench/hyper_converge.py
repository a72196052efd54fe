"""Hyper-reduced projective dynamics: how fast long steps of a bent bar converge, unreduced and hyper-reduced.

As in Fig. 3 of [BEH18]: one step from a bar bent double, four times as long as usual. `objective` is Eq. (2) at the
full positions reached, without what the same solver reaches in the most iterations, over what it begins with;
`rms_error` is the distance of the positions from those, over the way of the step. Times are those of the next step,
which knows the rotations of the last.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.bench.hyper_case import STEP, Case, make_body, make_mesh
from supple.bench.hyper_measure import PROJECTIONS, Row, compare, fill, travel
from supple.bench.only import is_asked
from supple.bench.yardstick import best_ms
from supple.mesh import TetMesh
from supple.method import HyperReducedSolver, ProjectiveSolver, Solver, SpaceSizes, prepare_spaces

__all__ = ["converge", "fold", "run"]

FloatArray = NDArray[np.float64]
_TETS = {"small": 4_000, "paper": 60_000}
_ITERATIONS = (1, 3, 10, 30, 100, 1000)
_LONG = 4.0  # times the usual step
_BEND = np.pi  # radians over its length


def run(size: str, mesh: Path | None = None, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", for a mesh of a file if one is given.

    Rows are asked for by case and projection.
    """
    case = fold(make_mesh(mesh, "beam", _TETS[size]))
    for projection in (None, *PROJECTIONS):
        if is_asked(only, "unreduced" if projection is None else f"hyper-reduced {projection}"):
            for row in converge(case, projection, _ITERATIONS):
                yield fill(row)


def converge(case: Case, projection: Literal["clusters", "fit"] | None, iterations: Sequence[int]) -> list[Row]:
    """One step with ever more iterations, the most of which stand for all; without a projection unreduced."""
    if projection is None:
        return _descend(
            {"case": "unreduced"},
            case,
            lambda count: ProjectiveSolver(case.body, time_step=case.step, iterations=count, convergence=0.0),
            iterations,
        )
    model = prepare_spaces(case.body, SpaceSizes(projection=projection))
    return _descend(
        {"case": "hyper-reduced", "projection": projection},
        case,
        lambda count: HyperReducedSolver(case.body, model, time_step=case.step, iterations=count, convergence=0.0),
        iterations,
    )


def _descend(names: Row, case: Case, make: Callable[[int], Solver[Any]], iterations: Sequence[int]) -> list[Row]:
    begun = make(1).from_full(case.start, 0.0 * case.start, 0.0 * case.start)
    goal = make(1).positions(begun)  # no velocity, no load: inertia alone stays there
    reached, spent = [], []
    for count in iterations:
        solver = make(count)
        state, _ = next(case.play(solver))
        reached.append(solver.positions(state))
        spent.append(best_ms(partial(solver.step, state, case.inputs(1))))
    levels = [_objective(case, x, goal) for x in reached]
    first, last = _objective(case, goal, goal), levels[-1]
    way = travel([reached[-1]], goal)
    return [
        {
            "source": "supple", **names, "vertices": len(case.body.vertices),
            "constraints": len(case.body.constraints[0].stencils), "iterations": count, "ms_frame": ms,
            "objective": (level - last) / (first - last), "rms_error": compare([x], [reached[-1]], way),
        }
        for count, ms, level, x in zip(iterations, spent, levels, reached, strict=True)
    ]  # fmt: skip


def _objective(case: Case, x: FloatArray, goal: FloatArray) -> float:
    """Eq. (2) of [BEH18] [J]."""
    inertia = case.body.mass @ np.einsum("ni,ni->n", x - goal, x - goal) / (2.0 * case.step**2)
    return float(inertia) + case.body.energy(x)


def fold(mesh: TetMesh) -> Case:
    """A bar bent over its longest side, without gravity."""
    x = mesh.vertices
    axis = int(np.argmax(np.ptp(x, axis=0)))
    up, length = (axis + 1) % 3, float(np.ptp(x[:, axis]))
    angle, radius = _BEND * (x[:, axis] - x[:, axis].mean()) / length, length / _BEND
    start = x.copy()
    start[:, axis], start[:, up] = (radius - x[:, up]) * np.sin(angle), radius - (radius - x[:, up]) * np.cos(angle)
    return Case("fold", make_body(mesh), start, 1, step=_LONG * STEP, gravity=False)
