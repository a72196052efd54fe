"""Subspace condensation: what a step costs by the share in full space, on a beam that two balls pinch in motion.

Steps of 10 ms of a clamped beam (30 modes and derivatives) while two balls close in on it; `floor_ms` is what a good
implementation of [TMDK15] needs at that share on one thread where the yardstick takes 125 ms, `ms` the median of the
steps that touch, and `detect_ms` and the like are parts of it. Where nothing is full `beside_ms` is the reduced solver,
where everything is it is the full one.
"""

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from supple.contact import ContactSettings
from supple.contact.sphere import Sphere
from supple.cubature import train_rule
from supple.elastic import Body, Pins
from supple.errors import SuppleWarning
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method import CondensationSolver, FullSolver, ReducedModel, ReducedSolver
from supple.solve import Inputs, Moment, Placement
from supple.subspace import diagonalise, linear_modes, modal_basis

__all__ = ["run"]

_TETS = {"small": 17_000, "paper": 160_000}
_FLOORS = {
    "small": ((0.04, 0.02, 2.7), (0.065, 0.05, 6.0), (0.09, 0.10, 10.0)),
    "paper": ((0.018, 0.005, 12.0), (0.035, 0.02, 35.0), (0.055, 0.05, 100.0)),
}
"""Radius [longest sides], and the share and milliseconds [ms] that are asked there."""
_EVERYTHING = 2.0  # a radius that nothing is beyond
_MODES, _RANK = 14, 30
_BALL, _STEP, _DEEP = 0.06, 0.01, 0.02  # [m], [s], [m]
_CLOSES, _STEPS = 4, 10  # steps in which the balls close in, and steps in all
_RUNS = 5  # single runs of such short steps scatter by a fifth
_RULE = {"small": 0.01, "paper": 0.05}  # tolerance of the rule: accuracy is not looked at here


def run(size: str, steps: int = _STEPS) -> Iterator[dict[str, Any]]:
    """Rows at size "small" or "paper", with so many steps; of the larger, full space is left out."""
    body, model = make_body(_TETS[size], _RULE[size])
    pinched, apart = (make_inputs(body, steps, away) for away in (0.0, 1.0))
    facts = {"tets": len(body.mesh.tets), "vertices": len(body.mass), "rank": model.basis.rank}
    yield facts | _tell("nothing full", _condense(body, model, 0.05), apart, ReducedSolver(body, model, **_touching()))
    full = FullSolver(body, **_touching()) if size == "small" else None
    for radius, share, floor in _FLOORS[size]:
        row = facts | _tell("pinched", _condense(body, model, radius), pinched, None)
        yield {**row, "radius": radius, "asked_active": share, "floor_ms": floor}
    if full is not None:
        yield facts | _tell("everything full", _condense(body, model, _EVERYTHING), pinched, full)


def _condense(body: Body, model: ReducedModel, radius: float) -> CondensationSolver:
    return CondensationSolver(body, model, radius=radius, **_touching())


def _tell(case: str, solver: CondensationSolver, inputs: list[Inputs], beside: Any | None) -> dict[str, Any]:
    """The row of a run, and what another solver takes for the same."""
    ms, reports = _time(solver, inputs)
    phases = {"detect": "contact", "region": "region", "assembly": "assembly", "solve": "solve", "other": "other"}
    return {
        "case": case, "active": float(np.mean([report.full_share for report in reports])), "ms": ms,
        "beside_ms": None if beside is None else _time(beside, inputs)[0],
        "newton_avg": float(np.mean([report.newton_iterations for report in reports])),
        "rounds_avg": float(np.mean([report.contact_rounds for report in reports])),
        "pcg_max": max(r.linear_longest for r in reports),
        **{f"{name}_ms": float(np.median([report.milliseconds.get(phase, 0.0) for report in reports]))
           for name, phase in phases.items()},
    }  # fmt: skip


def make_body(tets: int, tolerance: float) -> tuple[Body, ReducedModel]:
    """The beam and a subspace of its bends."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), elements=tets)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e6, poisson=0.4), pins)
    basis = diagonalise(modal_basis(body, linear_modes(body, _MODES), _RANK), body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        rule = train_rule(body, basis, tolerance, np.random.default_rng(0))
    return body, ReducedModel(basis, rule, np.zeros((3 * len(body.mass), 0)), np.inf)


def make_inputs(body: Body, steps: int, away: float = 0.0) -> list[Inputs]:
    """Two balls that close in from above and below and stay, `away` [m] from the beam."""
    held = body.mesh.vertices[body.pins.vertices]

    def place(step: int) -> tuple[Placement, ...]:
        into = _DEEP * min(step / _CLOSES, 1.0) - 0.002 - away
        return tuple(
            Placement(np.eye(3), np.array([0.6, 0.125 + side * (0.125 + _BALL - into), 0.125])) for side in (1.0, -1.0)
        )

    moments = [Moment(_STEP * k, held, (), place(k)) for k in range(steps + 1)]
    return [Inputs(begin, end) for begin, end in pairwise(moments)]


def _touching() -> dict[str, Any]:
    return {"colliders": (Sphere(_BALL),) * 2, "contact": ContactSettings(friction=0.0, self_contact=False)}


def _time(solver: Any, inputs: list[Inputs]) -> tuple[float, list[Any]]:
    """Median time of the steps that touch [ms], each the least of several runs, and the last run's reports."""
    spent = []
    for count in (3, *(len(inputs),) * _RUNS):  # the first run compiles
        state, reports = solver.start(inputs[0]), []
        for one in inputs[:count]:
            state, report = solver.step(state, one)
            reports.append(report)
        spent.append([report.milliseconds["total"] for report in reports])
    touching = [k for k, report in enumerate(reports) if report.contacts] or list(range(len(reports)))
    return float(np.median(np.min(spent[1:], axis=0)[touching])), [reports[k] for k in touching]
