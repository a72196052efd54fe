"""Self-contact by rules, beside all contacts and full space: what it costs and how right it is ([TOK14] 5.2).

`full_ms` is a frame in full space, `reduced_ms` one in the subspace with rules. Beside the rules stands the same
subspace with all contacts: `contacts_full`, `detect_ms_full` and `contact_ms_full`. Detection is what looking for
contacts takes; `contact_ms` adds what the frame takes longer than without contact. Penetrations are in mean edges of
the surface, the deepest of all frames; `rms_error` is the distance from full space, relative to the way from rest,
`patch_error` the same at what touches, relative to the way from the skinned shape; `error_all` is `rms_error` with all
contacts, and `repeat_error` that of full space itself in another number of steps.
"""

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.bench.contact_case import CONTACT, Case
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.errors import SuppleWarning
from supple.method import ArticulatedModel, FullSolver, SkinnedSolver, make_articulated
from supple.method.selfcontact_training import learn_contacts
from supple.solve import Inputs, Moment
from supple.subspace import DomainBases, Interface, bone_domains
from supple.subspace.contact_columns import contact_columns, lead_with_contacts
from supple.subspace.interface import FITTING
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis

__all__ = ["Measured", "Run", "measure", "train"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
_RULES = replace(CONTACT, rules=True)
_TOLERANCE = 0.05  # of the rules, as in the paper
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
        return np.maximum(run.total - self.free.total, run.detect)


def measure(case: Case) -> Measured:
    """Train on a case, play it in every way, compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what does not settle is measured
        begin = time.perf_counter()
        recorded = _play(_full(case, "static"), case, np.concatenate([case.rig.neutral[None], case.learned])).x
        model = train(case, recorded)
        spent = time.perf_counter() - begin
        full = _play(_full(case, case.integrator), case, case.played)
        free, every, rules = (_play_again(case, model, contact) for contact in (None, CONTACT, _RULES))
        repeat = _repeat(case, recorded)
    measured = Measured(case, full, free, every, rules, {})
    return replace(measured, row={**_tell(measured, model), "repeat_error": repeat, "train_s": spent})


def train(case: Case, recorded: FloatArray) -> ArticulatedModel:
    """The model of a body recorded at positions (t, n, 3) [m] in the poses to learn from, a domain a bone."""
    body, rig, rng = case.body, case.rig, np.random.default_rng(0)
    pulled = pull_back_all(rig, case.learned, recorded)
    columns = contact_columns(body, rig, case.learned, recorded, SelfContact(body.mesh))
    whole = lead_with_contacts(pulled_back_basis(pulled, body.mass, rank=case.rank), columns)
    domains = bone_domains(body, rig.skeleton, rig.influences)
    interface = Interface.of(domains, bond=FITTING)
    bases = DomainBases.cut(domains, whole, whole.project_all(pulled)).diagonalised(interface)
    model = make_articulated(bases, interface, rig, case.learned, bases.project_all(pulled), rng, tolerance=_TOLERANCE)
    poses, shapes = np.concatenate([rig.neutral[None], case.learned]), np.concatenate([0.0 * pulled[:1], pulled])
    return learn_contacts(body, rig, model, poses, shapes, CONTACT, rng, tolerance=_TOLERANCE)


def _full(case: Case, integrator: str) -> FullSolver:
    return FullSolver(
        case.body, integrator=integrator, tolerance=1e-4, contact=CONTACT, rig=case.rig, time_step=case.step
    )


def _play_again(case: Case, model: ArticulatedModel, contact: ContactSettings | None) -> Run:
    """A motion in the subspace, each frame timed by the better of some runs."""
    solver = SkinnedSolver(case.body, case.rig, model, integrator=case.integrator, contact=contact)
    runs = [_play(solver, case, case.played) for _ in range(_AGAIN)]
    total, detect = (np.min([getattr(run, name) for run in runs], axis=0) for name in ("total", "detect"))
    return replace(runs[0], total=total, detect=detect)


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
    return Run(
        np.array(x), np.array([one["total"] for one in spent]), np.array([one.get("contact", 0.0) for one in spent]),
        np.array([report.contacts for report in reports], np.int64),
    )  # fmt: skip


def _repeat(case: Case, recorded: FloatArray) -> float:
    """How far full space is from itself at the last pose learned from, reached in two thirds of the steps."""
    poses = np.concatenate([case.rig.neutral[None], case.learned])
    some = np.unique(np.linspace(0, len(poses) - 1, max(2 * len(poses) // 3, 2)).astype(int))
    again = _play(_full(case, "static"), case, poses[some]).x
    return _distance(again[-1:], recorded[-1:], case.rig.rest)


def _tell(measured: Measured, model: ArticulatedModel) -> Row:
    """The row of a case."""
    case, full, every, rules = measured.case, measured.full, measured.every, measured.rules
    own = SelfContact(case.body.mesh)
    resolved = [measured.resolve(run) for run in (every, rules)]
    touching = every.contacts > 0
    worst = int(np.argmax(every.contacts))
    skin = np.array([case.rig.positions(pose) for pose in case.played[1:]])
    return {
        "case": case.name,
        "tets": len(case.body.mesh.tets),
        "domains": len(model.basis.domains),
        "poses": len(case.learned),
        "rank": model.basis.rank,
        "elements": model.rule.size,
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
        "contact_share_max": float((resolved[1] / rules.total).max()),
        "contact_share_max_full": float((resolved[0] / every.total).max()),
        "penetration_full": _deepest(full, own),
        "penetration_reduced": _deepest(rules, own),
        "penetration_free": _deepest(measured.free, own),
        "rms_error": _distance(rules.x, full.x, case.rig.rest),
        "patch_error": _patch_error(rules, full, skin, own),
        "error_all": _distance(every.x, full.x, case.rig.rest),
        "rules_to_all": _distance(rules.x, every.x, case.rig.rest),
        "heldout_error": model.facts["contact_heldout_error"],
    }


def _distance(x: FloatArray, wanted: FloatArray, origin: FloatArray) -> float:
    """Root of the mean square distance of shapes (f, n, 3) [m], relative to the way from the origin."""
    return float(np.linalg.norm(x - wanted) / np.linalg.norm(wanted - origin))


def _patch_error(run: Run, full: Run, skin: FloatArray, own: SelfContact) -> float | None:
    """The distance at vertices that touch in full space or beside it, relative to the way from the skinned shape."""
    apart, way = 0.0, 0.0
    for x, wanted, origin in zip(run.x, full.x, skin, strict=True):
        patch = np.union1d(own.find(wanted).vertex, own.find(origin).vertex)
        apart += float(((x - wanted)[patch] ** 2).sum())
        way += float(((wanted - origin)[patch] ** 2).sum())
    return float(np.sqrt(apart / way)) if way else None


def _deepest(run: Run, own: SelfContact) -> float:
    return float(max(own.find(x).depth.max(initial=0.0) for x in run.x) / own.edge)
