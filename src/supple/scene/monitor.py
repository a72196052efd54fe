"""What is watched while a run goes on, and the row that tells of every frame: the one place where rows are made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.errors import ConvergenceError, SuppleWarning
from supple.linalg.work_clock import work_clock
from supple.mesh import Sheet
from supple.method import Measured, Report
from supple.method.measured import VolumeCheck, check_volumes
from supple.method.solver import largest
from supple.scene.crossing import make_check
from supple.scene.energy_balance import EnergyBalance, is_fed
from supple.scene.progress import FrameRow, StepRow
from supple.scene.stage import Built
from supple.scene.trained_range import TrainedRange
from supple.solve import Inputs

__all__ = ["Lift", "Placed", "RunMonitor"]

FloatArray = NDArray[np.float64]


class Placed(NamedTuple):
    """All vertices in a frame."""

    x: FloatArray
    """Positions [m], (n, 3)."""
    v: FloatArray | None = None
    """Velocities [m/s], (n, 3), where they are asked for."""


Lift = Callable[[Built, int, Any], Placed | None]
"""Places all vertices of a frame, given what makes it, its number and its state; None where nobody needs them."""


class RunMonitor:
    """Watches the steps of a run and makes the row of each of its frames.

    Only what `lift` asks for touches all vertices of a reduced body: with nothing to write, nothing does.
    """

    def __init__(self, built: Built, lift: Lift | None = None) -> None:
        self._lift = lift
        self._crossing = make_check(built)
        self._energy = EnergyBalance(built.body.mass.sum(), built.mesh.size(), _find_remedy(built))
        self._inverted_warned = False
        self._range = TrainedRange(built)
        self._built: Built | None = None
        self._measured: Measured | None = None
        self._reports: list[Report] = []
        self._crossings, self._fed, self._began = 0, False, 0.0

    def begin(self, built: Built, frame: int, state: Any) -> None:
        """A frame begins after frame `frame`, made by `built`."""
        if self._built is not built:  # the run begins, or goes on by another solver
            time = frame / built.scene.time.fps
            self._built, self._measured = built, built.solver.measure(state, built.drive.inputs(time, time))
            self._energy.restart(_total(self._measured), None)
            self._range = TrainedRange(built)
        self._reports, self._crossings, self._fed, self._began = [], 0, False, work_clock()

    def step(self, built: Built, begin: Any, end: Any, inputs: Inputs, report: Report) -> None:
        """A step of the frame was taken from one state to another."""
        self._reports.append(report)
        self._fed = self._fed or is_fed(inputs) or any(one.live.grabs for one in getattr(end, "states", (end,)))
        if self._crossing is not None:
            place = built.solver.positions
            self._crossings += self._crossing.count(place(begin), place(end), inputs, report.touching)

    def finish(self, built: Built, frame: int, state: Any, inputs: Inputs) -> tuple[FrameRow, Placed | None]:
        """The row of the frame that ends with these inputs, and all its vertices where they were placed."""
        before, self._measured = self._measured, built.solver.measure(state, inputs)
        assert before is not None
        placed = None if self._lift is None else self._lift(built, frame, state)
        measured, reports, touching = self._measured, self._reports, self._reports[-1].touching
        _refuse_infinite(built, frame, state, measured, placed)
        is_static = built.scene.time.integrator == "static"
        work = None if is_static else measured.loads.work_from(before.loads)
        if not is_static:
            self._energy.check(frame, _total(measured), work, touching, fed=self._fed)
        volumes = _check_all(built, frame, measured, placed)
        self._check_inverted(built, frame, volumes or measured.volumes)
        scene_time = built.scene.time
        self._range.check(frame, (frame + scene_time.preroll) / scene_time.fps, state, inputs)
        row = FrameRow(
            frame=frame,
            time=frame / built.scene.time.fps,
            ms=sum(report.milliseconds["total"] for report in reports),
            newton_iterations=sum(report.newton_iterations for report in reports),
            residual=largest(report.residual for report in reports),
            halvings=max(report.halvings for report in reports),
            kinetic_energy=measured.kinetic_energy,
            elastic_energy=measured.elastic_energy,
            kind=reports[-1].kind,
            contact_rounds=sum(report.contact_rounds for report in reports),
            contact_settled=all(report.contact_settled for report in reports),
            crossings=None if self._crossing is None else self._crossings,
            steps=tuple(_list_steps(reports)),
            phases=_sum_phases(reports),
            full_share=max(report.full_share for report in reports),
            estimated_error=reports[-1].estimated_error,
            trained_error=None if self._range.is_left else reports[-1].trained_error,
            local_global_iterations=sum(report.local_global_iterations for report in reports),
            change=largest(report.change for report in reports),
            converged=all(report.converged for report in reports),
            frame_ms=1e3 * (work_clock() - self._began),
            work=work,
            inverted=None if volumes is None else volumes.inverted,
            min_jacobian=None if volumes is None else volumes.least,
            body_contacts=_count_by_body(built, touching),
            **_sum_contacts(touching, len(built.drive.obstacles)),
        )
        return row, placed

    def _check_inverted(self, built: Built, frame: int, volumes: VolumeCheck | None) -> None:
        """Warn, once, of the first frame that has inverted tets."""
        if self._inverted_warned or volumes is None or not volumes.inverted:
            return
        self._inverted_warned = True
        mesh, worst = built.mesh, volumes.worst
        centre = mesh.vertices[mesh.tets[worst]].mean(axis=0) / built.scene.metres
        place = ", ".join(f"{value:.4g}" for value in centre)
        part = "" if volumes.checked == len(mesh.tets) else ", all that forces are taken from here,"
        warnings.warn(
            f"frame {frame}: {volumes.inverted} of {volumes.checked:,} tets{part} are inverted, the worst is tet "
            f"{worst} at rest near ({place}) with {volumes.least:.3g} times its volume: use more substeps, move pins "
            "and colliders less far in a frame, or use a stiffer material (said once: reports count them in every "
            "frame whose positions are written).",
            SuppleWarning,
            stacklevel=3,
        )


def _total(measured: Measured) -> float:
    return measured.kinetic_energy + measured.elastic_energy


def _find_remedy(built: Built) -> str:
    """What helps against an integrator that makes energy."""
    if built.scene.time.integrator == "newmark":
        damped = '"generalized_alpha" or "implicit_euler"' if built.solver.name == "full" else '"implicit_euler"'
        return f"use time.integrator = {damped}, or more substeps"
    return "use more substeps, or a smaller method.tolerance"


def _refuse_infinite(built: Built, frame: int, state: Any, measured: Measured, placed: Placed | None) -> None:
    """Refuse a state that is not finite; energies show it before all vertices are placed."""
    if np.isfinite(_total(measured)) and (placed is None or np.isfinite(placed.x).all()):
        return
    x, v, _ = built.solver.to_full(state)
    finite = np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1)
    if not finite.all():
        raise ConvergenceError(
            f"frame {frame}: the motion of vertex {int(np.argmin(finite))} is not a finite number; use more substeps."
        )


def _check_all(built: Built, frame: int, measured: Measured, placed: Placed | None) -> VolumeCheck | None:
    """Volume ratios of all tets, where their vertices are at hand."""
    if measured.is_whole:
        return measured.volumes
    if placed is None or isinstance(built.mesh, Sheet):
        return None
    return check_volumes(built.drive.rest_body(frame / built.scene.time.fps).jacobians(placed.x))


def _sum_phases(reports: Sequence[Report]) -> dict[str, float]:
    """Milliseconds of all steps by phase."""
    phases: dict[str, float] = {}
    for report in reports:
        for phase, spent in report.milliseconds.items():
            if phase != "total":
                phases[phase] = phases.get(phase, 0.0) + spent
    return phases


def _list_steps(reports: Sequence[Report]) -> Iterator[StepRow]:
    """What a method that skips steps did in each."""
    for report in reports:
        skip = report.skip
        if skip is not None:
            yield StepRow(
                report.kind, skip.checked, skip.rejected, skip.learned, skip.rank, skip.elements, report.estimated_error
            )


def _count_by_body(built: Built, touching: Touch | None) -> dict[str, int]:
    """How many contacts each of several bodies bears, those that it shares with another counted for both."""
    counts = {}
    for name, own in built.spans().items():
        borne = np.zeros(0) if touching is None else (touching.bearing >= own.start) & (touching.bearing < own.stop)
        counts[name] = 0 if touching is None else int((borne & (touching.weights != 0.0)).any(axis=1).sum())
    return counts


def _sum_contacts(touching: Touch | None, colliders: int) -> dict[str, Any]:
    """How many contacts there are, how deep the deepest, and with what force each collider pushes the body [N]."""
    forces = np.zeros((colliders, 3))
    if touching is not None:
        outside = touching.source != SELF
        np.add.at(forces, touching.source[outside], touching.force[outside])
    return {
        "contacts": 0 if touching is None else len(touching),
        "contact_depth": 0.0 if touching is None else float(touching.depth.max()),
        "contact_forces": tuple(tuple(force) for force in forces.tolist()),
    }
