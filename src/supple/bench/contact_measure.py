"""Self-contact by rules, beside all contacts and full space: what it costs and how right it is ([TOK14] 5.2).

`full_ms` is a frame in full space, `reduced_ms` one in the subspace with rules. Beside the rules stands the same
subspace with all contacts: `contacts_full`, `detect_ms_full` and `contact_ms_full`. Detection is what looking for
contacts takes; `contact_ms` is what the frame takes longer than without contact, every further Newton iteration among
it, but no less than looking and forces, and so are `contact_share_more` and `contact_share_max_full`. The share that a
step with rules spends in looking, in forces and in the stiffness of contacts, as the paper has it, is
`contact_share_max`. Penetrations are in mean edges of
the surface, the deepest of all frames, and the mean of the deepest in frames that touch in full space. `rms_error` is
the distance from full space, relative to the way from rest, `patch_error` the same at what touches, relative to the way
from the skinned shape; `error_all` is `rms_error` with all contacts, and `repeat_error` that of full space itself in
another number of steps.
"""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.bench.contact_case import CONTACT, Case
from supple.bench.contact_lessons import record, train
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.errors import SuppleWarning
from supple.linalg.work_clock import work_clock
from supple.method import ArticulatedModel, FullSolver, SkinnedSolver
from supple.solve import Inputs, Moment

__all__ = ["Measured", "Run", "measure"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
_RULES = replace(CONTACT, rules=True)
_AGAIN = 2  # runs of which the shorter time of every frame counts


@dataclass(frozen=True, eq=False)
class Run:
    """A played motion."""

    x: FloatArray
    """Positions after every frame [m], (f, n, 3)."""
    total: FloatArray
    """Milliseconds of every frame, (f,)."""
    detect: FloatArray
    """Milliseconds that looking for contacts took, (f,)."""
    forces: FloatArray
    """Milliseconds that forces and stiffness of contacts took, where steps tell, (f,)."""
    contacts: NDArray[np.int64]
    """(f,)"""


@dataclass(frozen=True, eq=False)
class Measured:
    """All runs of a case."""

    case: Case
    full: Run
    free: Run
    """In the subspace, without contact."""
    every: Run
    """In the subspace, with all contacts."""
    rules: Run
    row: Row

    def resolve(self, run: Run) -> FloatArray:
        """Milliseconds for contact in every frame, looking for it included, (f,)."""
        return np.maximum(run.total - self.free.total, run.detect + run.forces)


def measure(case: Case, kept: Path | None = None) -> Measured:
    """Train on a case, play it in every way, compare; settled poses stay in a folder where one is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what does not settle is measured
        begin = work_clock()
        lessons = record(case, kept)
        model = train(case, lessons)
        spent = work_clock() - begin
        shown = case.shown
        full = _play(_full(case, case.integrator), case, case.played[np.concatenate([[0], 1 + shown])])
        free, every, rules = (_play_again(case, model, contact) for contact in (None, CONTACT, _RULES))
        repeat = _repeat(case, lessons.x[-1])
    measured = Measured(case, full, free, every, rules, {})
    return replace(measured, row={**_tell(measured, model), "repeat_error": repeat, "train_s": spent})


def _full(case: Case, integrator: str) -> FullSolver:
    return FullSolver(
        case.body, integrator=integrator, tolerance=1e-4, contact=CONTACT, rig=case.rig, time_step=case.step
    )


def _play_again(case: Case, model: ArticulatedModel, contact: ContactSettings | None) -> Run:
    """A motion in the subspace, each frame timed by the better of some runs."""
    solver = SkinnedSolver(case.body, case.rig, model, integrator=case.integrator, contact=contact)
    runs = [_play(solver, case, case.played) for _ in range(_AGAIN)]
    best = {name: np.min([getattr(run, name) for run in runs], axis=0) for name in ("total", "detect", "forces")}
    return replace(runs[0], **best)


def _play(solver: Any, case: Case, poses: FloatArray) -> Run:
    """A solver's run through poses (f + 1, p)."""
    pins = case.body.pins.vertices

    def moment(number: int) -> Moment:
        return Moment(number * case.step, case.rig.positions(poses[number], pins), (), pose=poses[number])

    state = solver.start(Inputs(moment(0), moment(1)))
    x, reports = [], []
    for number in range(len(poses) - 1):
        state, report = solver.step(state, Inputs(moment(number), moment(number + 1)))
        x.append(solver.positions(state))
        reports.append(report)
    spent = [report.milliseconds for report in reports]
    total, detect, forces = np.array(
        [[one.get(name, 0.0) for one in spent] for name in ("total", "contact", "contact forces")]
    )
    return Run(np.array(x), total, detect, forces, np.array([report.contacts for report in reports], np.int64))


def _repeat(case: Case, last: FloatArray) -> float | None:
    """How far full space is from itself at the last pose learned from, reached in two thirds of the steps."""
    if not case.repeats:
        return None
    poses = np.concatenate([case.rig.neutral[None], case.learned])
    some = np.unique(np.linspace(0, len(poses) - 1, max(2 * len(poses) // 3, 2)).astype(int))
    again = _play(_full(case, "static"), case, poses[some]).x
    return _distance(again[-1:], last[None], case.rig.rest)


def _tell(measured: Measured, model: ArticulatedModel) -> Row:
    """The row of a case."""
    case, full, every, rules = measured.case, measured.full, measured.every, measured.rules
    own = SelfContact(case.body.mesh)
    resolved = [measured.resolve(run) for run in (every, rules)]
    touching = every.contacts > 0
    worst = int(np.argmax(every.contacts))
    shown = case.shown
    skin = np.array([case.rig.positions(pose) for pose in case.played[1 + shown]])
    looking = [run.detect / run.total for run in (every, rules)]
    return {
        "case": case.name,
        "tets": len(case.body.mesh.tets),
        "domains": len(model.basis.domains),
        "poses": len(case.learned),
        "rank": model.basis.rank,
        "elements": model.rule.size,
        "cubature_s": model.facts["cubature_s"],
        "full_ms": full.total.mean(),
        "reduced_ms": rules.total.mean(),
        "speedup": full.total.mean() / rules.total.mean(),
        "contacts_full": int(every.contacts.max()),
        "contacts_rule": int(rules.contacts.max()),
        "rule_most": model.facts["contact_rule_most"],
        "detect_ms_full": every.detect.mean(),
        "detect_ms_rule": rules.detect.mean(),
        "contact_ms_full": resolved[0].mean(),
        "contact_ms_rule": resolved[1].mean(),
        "contact_speedup_mean": float(resolved[0][touching].sum() / resolved[1][touching].sum())
        if touching.any()
        else None,
        "contact_speedup_max": resolved[0][worst] / resolved[1][worst],
        "contact_share_max": float(((rules.detect + rules.forces) / rules.total).max()),
        "contact_share_more": float((resolved[1] / rules.total).max()),
        "contact_share_max_full": float((resolved[0] / every.total).max()),
        "look_share_max": float(looking[1].max()),
        "look_share_max_full": float(looking[0].max()),
        **_measure_depths(measured, own),
        "rms_error": _distance(rules.x[shown], full.x, case.rig.rest),
        "patch_error": _patch_error(rules.x[shown], full.x, skin, own),
        "error_all": _distance(every.x[shown], full.x, case.rig.rest),
        "rules_to_all": _distance(rules.x, every.x, case.rig.rest),
        "heldout_error": model.facts["contact_heldout_error"],
    }


def _distance(x: FloatArray, wanted: FloatArray, origin: FloatArray) -> float:
    """Root of the mean square distance of shapes (f, n, 3) [m], relative to the way from the origin."""
    return float(np.linalg.norm(x - wanted) / np.linalg.norm(wanted - origin))


def _patch_error(found: FloatArray, full: FloatArray, skin: FloatArray, own: SelfContact) -> float | None:
    """The distance at vertices that touch in full space or beside it, relative to the way from the skinned shape."""
    apart, way = 0.0, 0.0
    for x, wanted, origin in zip(found, full, skin, strict=True):
        patch = np.union1d(own.find(wanted).vertex, own.find(origin).vertex)
        apart += float(((x - wanted)[patch] ** 2).sum())
        way += float(((wanted - origin)[patch] ** 2).sum())
    return float(np.sqrt(apart / way)) if way else None


def _measure_depths(measured: Measured, own: SelfContact) -> Row:
    """How deep the body is in itself, at most and on average."""
    runs = {"full": measured.full, "all": measured.every, "reduced": measured.rules, "free": measured.free}
    found = {
        name: np.array([own.find(x).depth.max(initial=0.0) for x in run.x]) / own.edge for name, run in runs.items()
    }
    touching = found["full"] > 0.0
    same = {name: deep if name == "full" else deep[measured.case.shown] for name, deep in found.items()}
    return {
        **{f"penetration_{name}": float(deep.max()) for name, deep in found.items()},
        **{f"penetration_mean_{name}": float(deep[touching].mean()) for name, deep in same.items() if touching.any()},
    }
