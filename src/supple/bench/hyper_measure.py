"""What the hyper-reduced benchmarks measure, one row a solver.

A frame is a step and the positions of all vertices. Times are the fastest of the second half of a run where steps take
a fixed number of iterations: all of its frames do the same work, and others use the machine too. `ms_mean`, `ms_p90`
and `ms_max` are of all steps of that half, `ms_iteration` is the fastest step over its iterations. Rows with a
`convergence` above 0 are of the default, which takes as many iterations as it needs: `local_global_iterations` is their
mean, `change_max` the largest share of its way that a step had left. Errors:

- `rhs_error`: what the reduced right-hand side of the projections misses, over the whole of it, as in Fig. 4 of
  [BEH18]; `rhs_error_net`: over the net force that is left of it, which moves the body; medians over a run,
  and `rhs_error_max`;
- `projection_error`, `projection_error_max`: frames of the unreduced run from their nearest in the position space, mean
  and largest, in masses, over the norm of the centred rest shape, as in Table 2;
- `rms_error`: of a motion against the unreduced one with as many iterations, over the displacement it starts with, or
  else over that of the unreduced run;
- `sink`, `sink_max`: how far the lowest vertex of the surface lies below the floor, over the height of the body, in the
  end and at worst; `creep`: what its sides, turned back, grow by from the third to the last quarter, over
  its size;
- `deformation`: the largest distance of a vertex from the nearest rigid motion over the run, over its size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.bench.hyper_case import Case
from supple.bench.yardstick import best_ms, spread_ms
from supple.linalg.rigid import fit_rigid
from supple.linalg.work_clock import work_clock
from supple.method import HyperReducedModel, HyperReducedSolver, ProjectiveSolver, Report, SpaceSizes, prepare_spaces
from supple.method.hyperreduced.model import Projections
from supple.method.hyperreduced.state import HyperReducedState
from supple.subspace.position_space import PositionSpace

__all__ = [
    "KEYS", "PROJECTIONS", "Row", "Run", "Unreduced", "compare", "fill", "measure_creep", "measure_floor",
    "measure_frames", "measure_motion", "net_errors", "project_frames", "run_hyper", "run_unreduced", "travel",
]  # fmt: skip

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
KEYS = (
    "source", "case", "projection", "vertices", "constraints", "position_dofs", "projection_dofs", "samples",
    "iterations", "convergence", "local_global_iterations", "change_max", "precompute_s", "ms_local", "ms_global",
    "ms_contact", "ms_update", "update_limit_ms", "ms_frame", "ms_iteration", "ms_mean", "ms_p90", "ms_max",
    "fps", "fps_with_surface", "full_ms", "speedup", "rhs_error", "rhs_error_max", "rhs_error_net", "projection_error",
    "projection_error_max", "rms_error", "rms_error_60", "sink", "sink_max", "creep", "deformation",
)  # fmt: skip
PROJECTIONS: tuple[Literal["clusters", "fit"], ...] = ("clusters", "fit")
_STATES = 8  # of a run, at which forces are compared


@dataclass(frozen=True, eq=False)
class Unreduced:
    """A run of the unreduced solver."""

    frames: list[FloatArray]
    """[m]"""
    ms: float
    """The fastest step of the second half."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run of the hyper-reduced solver."""

    solver: HyperReducedSolver
    states: list[HyperReducedState]
    row: Row


def fill(row: Row) -> Row:
    """A row with all keys, in order."""
    return {key: row.get(key) for key in (*KEYS, *(key for key in row if key not in KEYS))}


def run_unreduced(case: Case, frames: int | None = None, iterations: int = 10) -> Unreduced:
    """The unreduced solver over the first frames of a case."""
    solver = ProjectiveSolver(
        case.body, time_step=case.step, iterations=iterations, convergence=0.0, colliders=case.colliders,
        contact=case.contact,
    )  # fmt: skip
    reached, spent = [], []
    for state, report in case.play(solver, frames):
        reached.append(solver.positions(state).copy())
        spent.append(report.milliseconds["total"])
    return Unreduced(reached, min(spent[len(spent) // 2 :]))


def run_hyper(case: Case, sizes: SpaceSizes, iterations: int = 10, convergence: float = 0.0) -> Run:
    """The hyper-reduced solver over a case, and its row but for errors."""
    begin = work_clock()
    model = prepare_spaces(case.body, sizes)
    solver = HyperReducedSolver(
        case.body, model, time_step=case.step, iterations=iterations, convergence=convergence,
        colliders=case.colliders, contact=case.contact,
    )  # fmt: skip
    seconds = work_clock() - begin
    found = list(case.play(solver))
    states, late = [state for state, _ in found], [report for _, report in found[len(found) // 2 :]]
    totals, counts = ([f(one) for one in late] for f in (_total, _count))
    fastest = min(late, key=_total)
    step = fastest.milliseconds["total"]
    update = best_ms(lambda: solver.positions(states[-1]), 10)
    row = {
        "source": "supple", "case": case.name, "projection": sizes.projection, **_describe(case, model),
        "iterations": iterations, "convergence": convergence, "local_global_iterations": float(np.mean(counts)),
        "change_max": max(one.change or 0.0 for one in late), "precompute_s": seconds,
        "ms_local": fastest.milliseconds["iterations"], "ms_global": fastest.milliseconds["prediction"],
        "ms_contact": fastest.milliseconds.get("contact"), "ms_update": update,
        "update_limit_ms": _pass_ms(model.positions), "ms_frame": step + update,
        "ms_iteration": step / _count(fastest), **spread_ms(totals), "fps": 1e3 / step,
        "fps_with_surface": 1e3 / (step + update),
    }  # fmt: skip
    return Run(solver, states, row)


def _total(report: Report) -> float:
    return report.milliseconds["total"]


def _count(report: Report) -> int:
    return report.local_global_iterations


def _describe(case: Case, model: HyperReducedModel) -> Row:
    return {
        "vertices": len(case.body.vertices),
        "constraints": sum(len(one.stencils) for one in case.body.constraints),
        "position_dofs": 3 * model.positions.columns,
        "projection_dofs": sum(3 * fit.pull.shape[1] for fit in model.fits),
        "samples": sum(len(fit.members) for fit in model.fits),
    }


def _pass_ms(space: PositionSpace) -> float:
    """The limit of evaluating all vertices: what they follow is read once, positions are written once."""
    rows, moved = space.values.nbytes + space.blocks.nbytes, 24 * len(space.mass)
    if space.blended is not None:
        rows = space.blended.weights.nbytes + space.blended.handles.nbytes + space.blended.rest.nbytes
    source = np.ones((rows + moved) // 16)  # a copy reads and writes it
    target = np.empty_like(source)
    return best_ms(lambda: np.copyto(target, source), 10)


def measure_frames(run: Run, full: Unreduced) -> Row:
    """The row of a run with its errors, beside the unreduced one."""
    body, solver = run.solver.body, run.solver
    row = {**run.row, **net_errors(solver.model, run.states, solver)}
    chosen = run.states[:: max(len(run.states) // 40, 1)]
    row["deformation"] = max(_bend(solver.positions(state), solver) for state in chosen) / body.size()
    row |= {"full_ms": full.ms, "speedup": full.ms / row["ms_frame"]}
    return row | project_frames(solver.model.positions, body.vertices, full.frames)


def measure_floor(run: Run) -> Row:
    """How far a body sinks into the floor y = 0."""
    solver, rest = run.solver, run.solver.body.vertices
    skin = np.unique(solver.body.surface.triangles)
    lows = np.array([solver.positions(state, skin)[:, 1].min() for state in run.states])
    height = float(np.ptp(rest[:, 1]))
    return {"sink": max(-lows[-1], 0.0) / height, "sink_max": max(-lows.min(), 0.0) / height}


def measure_creep(run: Run) -> float:
    """What the sides of a body grow by in the end, from the third quarter to the last: means, so that swings cancel."""
    sides = np.array([_sides(run.solver.positions(state), run.solver) for state in run.states[len(run.states) // 2 :]])
    third, last = np.array_split(sides, 2)
    return float(np.abs(last.mean(axis=0) - third.mean(axis=0)).max()) / run.solver.body.size()


def net_errors(model: HyperReducedModel, states: Sequence[HyperReducedState], solver: HyperReducedSolver) -> Row:
    """How well sampled projections push, at some states of a run."""
    body, space, errors = solver.body, model.positions, []
    for state in states[:: max(len(states) // _STATES, 1)]:
        x = space.lift(state.q)
        exact = space.pull(body.forces(x))
        pulled = exact + space.pull(body.stiffness() @ x)
        found = sum((_pull(fit, state.q, x) for fit in model.fits), -(model.stiffness @ state.q))
        miss = float(np.linalg.norm(found - exact))
        if np.linalg.norm(exact) > 1e-6 * np.linalg.norm(pulled):
            errors.append((miss / float(np.linalg.norm(pulled)), miss / float(np.linalg.norm(exact))))
    if not errors:
        return {}
    whole, net = np.median(errors, axis=0)
    return {"rhs_error": float(whole), "rhs_error_max": max(errors)[0], "rhs_error_net": float(net)}


def _pull(fit: Projections, q: FloatArray, x: FloatArray) -> FloatArray:
    """What the projections of one type add to the reduced right-hand side [N], (c, 3)."""
    if fit.constraint.guided:
        nearest = fit.constraint.project_at(x, fit.members)
    else:
        values = np.asarray(fit.seen.matrix(len(q)) @ q).reshape(len(fit.members), -1, 3)
        nearest = fit.constraint.project(values, fit.members)
    rows = nearest.transpose(1, 0, 2)  # all elements of a row after each other
    if not fit.fit.size:  # clusters are not fitted
        return np.asarray(fit.pull @ rows.reshape(-1, 3))
    if fit.fit.shape[1] == rows.shape[1]:  # one scalar fit for every row
        return np.asarray(fit.pull @ np.concatenate([fit.fit @ row for row in rows]))
    return np.asarray(fit.pull @ (fit.fit @ rows.reshape(-1, 3)))


def project_frames(space: PositionSpace, rest: FloatArray, frames: Sequence[FloatArray]) -> Row:
    """How far frames that have left the rest shape are from the space."""
    mass, errors = space.mass, []
    size = _norm(rest - mass @ rest / mass.sum(), mass)
    for x in frames:
        R, shift = fit_rigid(x, rest, mass)
        if _norm(x - (rest @ R.T + shift), mass) > 1e-3 * size:
            errors.append(_norm(x - space.lift(space.project(x)), mass) / size)
    if not errors:
        return {}
    return {"projection_error": float(np.mean(errors)), "projection_error_max": max(errors)}


def compare(found: Sequence[FloatArray], exact: Sequence[FloatArray], scale: float) -> float:
    """Mean over frames of the distance between two motions, over a length [m]."""
    return float(np.mean([_distance(a, b) for a, b in zip(found, exact, strict=False)])) / scale


def travel(frames: Sequence[FloatArray], start: FloatArray) -> float:
    """Root mean square over frames of how far a motion goes [m]."""
    return float(np.sqrt(np.mean([_distance(x, start) ** 2 for x in frames])))


def measure_motion(run: Run, full: Unreduced, scale: float) -> float:
    """How far a run is from the unreduced one, over a length [m]."""
    return compare([run.solver.positions(state) for state in run.states], full.frames, scale)


def _distance(a: FloatArray, b: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.sum((a - b) ** 2, axis=1))))


def _bend(x: FloatArray, solver: HyperReducedSolver) -> float:
    """Largest distance from the nearest rigid motion of the rest shape [m]."""
    rest = solver.body.vertices
    R, shift = fit_rigid(x, rest, solver.body.mass)
    return float(np.linalg.norm(x - (rest @ R.T + shift), axis=1).max())


def _sides(x: FloatArray, solver: HyperReducedSolver) -> FloatArray:
    """Sides of the body [m] along the axes it had at rest, (3,)."""
    R, _ = fit_rigid(x, solver.body.vertices, solver.body.mass)
    return np.asarray(np.ptp(x @ R, axis=0))


def _norm(field: FloatArray, mass: FloatArray) -> float:
    return float(np.sqrt(mass @ np.einsum("ni,ni->n", field, field)))
