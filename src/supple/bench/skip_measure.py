"""What the skipping benchmarks measure: a scene in full space and by both estimators, in one process.

A step's time is all that happens between what it is given and the positions of all vertices at its end: full and
reduced steps, checks, bases, rules. Before, a small body of the same kind is run, so that nothing is compiled then.

- `skipped`: share of reduced steps; `speedup`: `full_s` over `total_s`, seconds of all steps;
- where the full solver takes `reference` steps only, `full_s` is their mean times all steps: the first of a motion,
  in statics, which does not remember, short stretches all over the run; errors are of those steps;
- `rms_error`, `max_error`: mean and largest over the steps of the root mean square distance of the vertices from where
  the full solver has them, over the longest side of the body;
- `rank`, `key_tets`: of the last subspace; `basis_updates`: how often one was made with its rule;
- `full_ms`, `reduced_ms`: a step's mean without checks and learning; `check_ms`, `retrain_ms`: the mean of a check, and
  of what learning adds to a step for which a rule was trained;
- `liveliness`: the largest kinetic energy about half time over that of the whole run; of static bodies the largest root
  mean square displacement from the skinned shape, over the longest side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.bench.only import is_asked
from supple.bench.skip_case import Case
from supple.cubature import Rule
from supple.errors import SceneError
from supple.linalg.work_clock import work_clock
from supple.method import Report, Solver
from supple.method.skipping.model import Learned, LearnedModel
from supple.scene.rig_reduced import refuse_unbuilt
from supple.scene.simulate import start_motion, step_inputs
from supple.scene.solvers import add_solver, full_solver
from supple.subspace import Basis

__all__ = ["KEYS", "Asked", "Row", "Run", "fill", "measure", "warm_up"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
KEYS = (
    "estimator", "tets", "steps", "dt", "throttle", "tolerance", "skipped", "speedup", "total_s", "full_s",
    "rms_error", "max_error", "rank", "key_tets", "full_ms", "reduced_ms", "check_ms", "retrain_ms", "basis_updates",
    "liveliness",
)  # fmt: skip
_HALF = 0.45, 0.55  # of the run: about half time
_STRETCH = 5  # steps in a row in full space where not all are taken
_WARM, _WIDE = 40, 40  # steps of warming up, and coordinates of steps that two threads share


@dataclass(frozen=True)
class Asked:
    """An estimator with its settings."""

    estimator: str
    throttle: float = 1.0
    tolerance: float | None = None
    """The paper's for its scene, or the default's own, where None."""

    def method(self, case: Case) -> dict[str, Any]:
        """The `[method]` table of a scene."""
        tolerance = self.tolerance
        if tolerance is None:
            tolerance = case.error if self.estimator == "paper" else 1e-2 if case.is_static else 1e-3
        return {"name": "skipping", "estimator": self.estimator, "throttle": self.throttle, "tolerance": tolerance}


@dataclass(frozen=True, eq=False)
class Run:
    """A row, and its steps for plots."""

    row: Row
    errors: FloatArray
    """Root mean square distance from the full run, over the longest side, of every step; NaN where that was not."""
    reports: Sequence[Report]

    @property
    def label(self) -> str:
        """What was run, in a word."""
        return f"{self.row['estimator']}, throttle {self.row['throttle']:g}"


@dataclass(frozen=True, eq=False)
class _Reference:
    frames: Mapping[int, NDArray[np.float32]]
    """By step."""
    seconds: float
    """Of all steps."""
    liveliness: float | None
    """None where it was not seen."""


def fill(row: Row) -> Row:
    """A row with all keys, in order."""
    return {key: row.get(key) for key in (*KEYS, *(key for key in row if key not in KEYS))}


def warm_up(case: Case, asked: Sequence[Asked]) -> None:
    """Compile or load what runs like these need, on a small case."""
    for _ in measure(replace(case, steps=min(_WARM, case.steps)), asked):
        pass
    _warm_wide(case)


def _warm_wide(case: Case) -> None:
    """The same for steps in subspaces wider than a small case learns."""
    body, rng = case.stage.body, np.random.default_rng(0)
    root = np.sqrt(np.repeat(body.mass, 3))[:, None]
    basis = Basis(np.linalg.qr(rng.random((len(root), _WIDE)))[0] / root, body.mass, "random", np.ones(_WIDE))
    every = Rule(np.arange(len(body.mesh.tets)), np.ones(len(body.mesh.tets)), 0.0, trainer="all")
    learned = Learned(basis, every, np.zeros_like(body.mesh.vertices), 1.0)
    model = LearnedModel(body, learned, case.stage.scene.time.integrator, 1e-4)
    model.step(np.zeros((3, _WIDE)), np.zeros_like(body.mesh.vertices), 1.0 / case.stage.scene.time.fps, 0.0)


def measure(case: Case, asked: Sequence[Asked], only: str = "", reference: int | None = None) -> Iterator[Run]:
    """The runs of a case, one for each estimator that knows its scene and is asked for, as they end; beside so many
    full steps, or all."""
    served = [one for one in asked if is_asked(only, one.estimator, one.throttle) and _serves(case, one)]
    if served:
        full = _run_full(case, min(reference or case.steps, case.steps))
        yield from (_run(case, one, full) for one in served)


def _serves(case: Case, asked: Asked) -> bool:
    """Whether an estimator knows the scene."""
    scene = case.stage.scene
    try:
        refuse_unbuilt(scene.model_copy(update={"method": _table(case, asked)}))
    except SceneError:
        return False
    return True


def _table(case: Case, asked: Asked) -> Any:
    method = case.stage.scene.method
    return type(method).model_validate(asked.method(case))


def _play(
    case: Case, solver: Solver[Any], steps: range | None = None
) -> Iterator[tuple[Any, FloatArray, Report, float]]:
    """State, positions, report and seconds of every step, or of some in a row."""
    drive, rate, steps = case.stage.drive, case.stage.scene.time.fps, steps or range(case.steps)
    state = start_motion(solver, drive, case.stage.velocity, steps.start / rate)
    for k in steps:
        inputs = step_inputs(drive, k, 0, rate)
        begin = work_clock()
        state, report = solver.step(state, inputs)
        x = solver.positions(state)
        yield state, x, report, work_clock() - begin


def _list_stretches(case: Case, count: int) -> list[range]:
    """Steps to take in full space, `count` in all that count: the first of a stretch amid a run has far to go."""
    if count == case.steps or not case.is_static:
        return [range(count)]
    begins = np.linspace(0, case.steps - _STRETCH - 1, max(1, count // _STRETCH)).astype(int).tolist()
    return [range(k, k + _STRETCH + 1) for k in begins]


def _run_full(case: Case, count: int) -> _Reference:
    body, drive, solver = case.stage.body, case.stage.drive, full_solver(case.stage)
    frames, spent, motion = {}, [], []
    for stretch in _list_stretches(case, count):
        whole = len(stretch) == count
        for k, (state, x, _, seconds) in zip(stretch, _play(case, solver, stretch), strict=True):
            if k == stretch.start and not whole:
                continue
            frames[k] = x.astype(np.float32)
            spent.append(seconds)
            if case.is_static:
                motion.append(_rms(x - drive.place(drive.moment(state.time))) / _side(case))
            else:
                motion.append(float(body.mass @ np.einsum("ij,ij->i", state.v, state.v)))
    first, last = (int(share * case.steps) for share in _HALF)
    half = motion[first : max(last, first + 1)]
    liveliness = max(motion) if case.is_static else max(half) / max(max(motion), 1e-300) if half else None
    return _Reference(frames, float(np.mean(spent)) * case.steps, liveliness)


def _run(case: Case, asked: Asked, full: _Reference) -> Run:
    scene = case.stage.scene.model_copy(update={"method": _table(case, asked)})
    begin = work_clock()
    solver = add_solver(replace(case.stage, scene=scene)).solver
    total = work_clock() - begin
    errors, reports, side = [], [], _side(case)
    for k, (_, x, report, seconds) in enumerate(_play(case, solver)):
        total += seconds
        errors.append(_rms(x - full.frames[k]) / side if k in full.frames else np.nan)
        reports.append(report)
    method = asked.method(case)
    row = {
        "estimator": asked.estimator, "tets": len(case.stage.body.mesh.tets), "steps": case.steps,
        "dt": 1.0 / scene.time.fps, "throttle": asked.throttle, "tolerance": method["tolerance"],
        "speedup": full.seconds / total, "total_s": total, "full_s": full.seconds,
        "rms_error": float(np.nanmean(errors)), "max_error": float(np.nanmax(errors)),
        "liveliness": full.liveliness, **_count(reports),
    }  # fmt: skip
    return Run(fill(row), np.array(errors), reports)


def _count(reports: Sequence[Report]) -> Row:
    """What kinds of steps there were, and what each cost."""
    skips = [report.skip for report in reports if report.skip is not None]
    reduced = [report.milliseconds for report in reports if report.kind == "reduced"]
    full = [report.milliseconds for report in reports if report.kind == "full"]
    trained = [report.milliseconds for report in reports if report.skip is not None and report.skip.learned]
    checked = [report.milliseconds for report in reports if report.skip is not None and report.skip.checked]
    return {
        "skipped": len(reduced) / len(reports),
        "rank": skips[-1].rank,
        "key_tets": max(skip.elements for skip in skips),
        "full_ms": _mean([_bare(spent) for spent in full]),
        "reduced_ms": _mean([_bare(spent) for spent in reduced]),
        "check_ms": _mean([spent.get("check", 0.0) for spent in checked]),
        "retrain_ms": _mean([spent.get("learning", 0.0) for spent in trained]),
        "basis_updates": len(trained),
    }


def _bare(spent: Mapping[str, float]) -> float:
    """A step without what was looked at and learned beside it."""
    return spent["total"] - spent.get("check", 0.0) - spent.get("learning", 0.0)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _rms(field: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.sum(np.square(field, dtype=np.float64), axis=1))))


def _side(case: Case) -> float:
    return float(np.ptp(case.stage.body.mesh.vertices, axis=0).max())
