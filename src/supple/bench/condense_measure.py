"""Runs of condensation beside the full solver and the subspace alone: the rows of its benchmarks."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact import ContactSettings
from supple.contact.collider import Collider
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.mesh.spread import Spread
from supple.method import (
    ArticulatedModel,
    CondensationSolver,
    FullSolver,
    ReducedModel,
    ReducedSolver,
    Report,
    SkinnedModel,
    SkinnedSolver,
)
from supple.rig import SkinnedRig
from supple.solve import Inputs

__all__ = ["Case", "Row", "Track", "measure_run"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
_PATCH = 0.04  # longest sides about what touches that a patch is judged by
_BEFORE = 3  # frames that are run before a run is timed


@dataclass(frozen=True, eq=False)
class Case:
    """A body, what happens to it, and a subspace that knows nothing of what it touches."""

    body: Body
    model: ReducedModel | SkinnedModel | ArticulatedModel
    inputs: Sequence[Inputs]
    integrator: str
    colliders: tuple[Collider, ...]
    contact: ContactSettings
    rig: SkinnedRig | None = None

    @property
    def touching(self) -> dict[str, Any]:
        return {"integrator": self.integrator, "colliders": self.colliders, "contact": self.contact}

    @cached_property
    def full(self) -> "Track":
        contact = replace(self.contact, rules=False)
        _ = self.alone  # has compiled what contact takes: full runs are too long to be run twice
        return follow(self, FullSolver(self.body, rig=self.rig, **{**self.touching, "contact": contact}))

    @cached_property
    def alone(self) -> "Track":
        """The subspace without any full space, touching as it can."""
        return follow(self, self._reduce(**self.touching))

    @cached_property
    def free_ms(self) -> float:
        """A step of the subspace that touches nothing."""
        solver, spent = self._reduce(integrator=self.integrator), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # of poses and loads that training did not know
            for _ in range(2):
                state = solver.start(self.inputs[0])
                for inputs in self.inputs:
                    state, report = solver.step(state, inputs)
                    spent.append(report.milliseconds["total"])
        return float(np.median(spent))

    def _reduce(self, **settings: Any) -> Any:
        """The solver of the subspace alone."""
        if isinstance(self.model, ReducedModel):
            return ReducedSolver(self.body, self.model, **settings)
        assert self.rig is not None
        return SkinnedSolver(self.body, self.rig, self.model, **settings)

    def condense(self, radius: float, weights: str) -> "Track":
        settings: Any = {"radius": radius, "weights": weights, "rig": self.rig, **self.touching}
        return follow(self, CondensationSolver(self.body, self.model, **settings), len(self.inputs))

    def find_rest(self, number: int) -> FloatArray:
        """Where nothing but bones would have the body in a frame [m], (n, 3)."""
        pose = self.inputs[number].end.pose
        return self.body.mesh.vertices if self.rig is None or pose is None else self.rig.positions(pose)


@dataclass(frozen=True, eq=False)
class Track:
    """A run, frame by frame."""

    x: FloatArray
    reports: list[Report]
    full: list[NDArray[np.int32]]
    """Full vertices of each frame."""

    @property
    def ms(self) -> FloatArray:
        return np.array([report.milliseconds["total"] for report in self.reports])

    @property
    def shares(self) -> FloatArray:
        return np.array([report.full_share for report in self.reports])

    @property
    def depth(self) -> float:
        """The deepest that anything is inside [m]."""
        return max(
            (float(report.touching.depth.max()) for report in self.reports if report.touching is not None), default=0.0
        )


def follow(case: Case, solver: Any, before: int = _BEFORE) -> Track:
    """The run of a solver; so many of its frames are run before it is timed, since they may compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what a run misses is in its row
        for count in (before, len(case.inputs)):
            state = solver.start(case.inputs[0])
            x, reports, full = [], [], []
            for inputs in case.inputs[:count]:
                state, report = solver.step(state, inputs)
                x.append(solver.positions(state))
                reports.append(report)
                full.append(getattr(state, "full", np.zeros(0, np.int32)))
    return Track(np.array(x), reports, full)


def measure_run(case: Case, track: Track, weights: str, radius: float) -> Row:
    """The row of a run with a rule of weights and a radius."""
    body, own, alone = case.body, _judge(case, track), _judge(case, case.alone)
    full_ms, ms, active = float(case.full.ms.mean()), track.ms, track.shares > 0.0
    linear = [one.linear_iterations / one.linear_systems for one in track.reports if one.linear_systems]
    touching = [float(some[active].mean()) if active.any() else 0.0 for some in (ms, case.full.ms)]
    edge = body.mesh.surface().mean_edge()
    return {
        "tets": len(body.mesh.tets), "vertices": len(body.mass), "rank": case.model.basis.rank,
        "elements": case.model.rule.size, "weights": weights, "radius": radius,
        "full_ms": full_ms, "subspace_ms": case.free_ms,
        "avg_active": float(track.shares.mean()), "avg_ms": float(ms.mean()),
        "avg_speedup": full_ms / float(ms.mean()),
        "worst_active": float(track.shares.max()), "worst_ms": float(ms.max()),
        "worst_speedup": full_ms / float(ms.max()), "best_speedup": full_ms / float(ms.min()),
        "touching_ms": touching[0], "touching_full_ms": touching[1],
        "touching_speedup": touching[1] / touching[0] if active.any() else 0.0,
        "least_speedup": float((case.full.ms / ms).min()),
        "newton_avg": float(np.mean([report.newton_iterations for report in track.reports])),
        "pcg_avg": float(np.mean(linear)) if linear else 0.0,
        "pcg_max": max(report.linear_longest for report in track.reports),
        "detect_ms": float(np.mean([report.milliseconds.get("contact", 0.0) for report in track.reports])),
        "rms_error": own[0], "rms_error_subspace": alone[0],
        "patch_error": own[1], "patch_error_subspace": alone[1],
        "whole_error": own[2], "whole_error_subspace": alone[2],
        "depth": track.depth / edge, "depth_full": case.full.depth / edge,
    }  # fmt: skip


def _judge(case: Case, track: Track) -> tuple[float, float, float]:
    """Relative error of the frames that touch, in the metric of the masses; the largest near what touches; and the
    first of all frames relative to all that moves.

    The first two are relative to what contact and flesh move, bones apart."""
    body, rest, exact = case.body, case.body.mesh.vertices, case.full
    spread = Spread(rest, body.mesh.vertex_neighbours())
    side = float(np.ptp(rest, axis=0).max())
    lost = moved = worst = 0.0
    missed, way = (float(np.einsum("v,kvi->", body.mass, (x - exact.x) ** 2)) for x in (track.x, rest))
    # Of the whole run: where contact begins, nothing has moved yet
    far = max(float(np.linalg.norm(x - case.find_rest(k), axis=1).max()) for k, x in enumerate(exact.x))
    for k, (x, truth, report) in enumerate(zip(track.x, exact.x, exact.reports, strict=True)):
        if report.touching is None:
            continue
        still = case.find_rest(k)
        lost += float(body.mass @ ((x - truth) ** 2).sum(axis=1))
        moved += float(body.mass @ ((truth - still) ** 2).sum(axis=1))
        patch = spread.reach(np.unique(report.touching.vertex), _PATCH * side)
        worst = max(worst, float(np.linalg.norm((x - truth)[patch], axis=1).max()) / far)
    return float(np.sqrt(lost / max(moved, 1e-300))), worst, float(np.sqrt(missed / max(way, 1e-300)))
