"""From a scene to a model in pose space: poses of its motion, bases, rules, and a check against the full solver."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature.pose_rules import PoseRules, train_pose_rules
from supple.errors import ConvergenceError, SceneError, SuppleWarning, TrainingError
from supple.method import PoseSpaceModel, assemble_posespace
from supple.method.measure import measure_errors
from supple.rig import Rig
from supple.scene.cases import case_steps, draw_judges, play_case
from supple.scene.kernels import await_kernels
from supple.scene.progress import Listener, SilentListener
from supple.scene.rigging import Rigging
from supple.scene.snapshot_cache import Recorded, SnapshotCache, record_cases
from supple.scene.solvers import reduced_solver
from supple.scene.stage import Stage
from supple.scene.training_basis import soft_modes
from supple.scene.training_search import Clock
from supple.scene.training_touch import Touched, find_touched
from supple.subspace.pose_bases import PoseBases
from supple.subspace.pose_choice import choose_poses

__all__ = ["POSESPACE", "train_posespace"]

FloatArray = NDArray[np.float64]

POSESPACE = "supple.method.posespace.ahead"  #: may have compiled a step ahead
FIRST, GROWTH, TRIES = 24, 1.6, 4  #: rank to begin with, factor to the next, ranks to try until one is good enough
PER_REGION = 12  #: coordinates of a region to begin with
LOOKS = 200  #: poses of a motion to choose from, at most
RULE, FINEST, COARSEST = 0.6, 0.005, 0.06  #: tolerance of the rules as a share of the whole, and its limits


def train_posespace(stage: Stage, *, cache: Path | None = None, listener: Listener | None = None) -> PoseSpaceModel:
    """A model of the scene's character whose error on held-out cases is `method.tolerance`, or the best with a warning.

    The full solver's runs are kept in the folder `cache`; what was done and achieved stands in the model's facts.
    """
    rigging = stage.drive.rigging
    if rigging is None:
        raise SceneError("a model in pose space is of a body with a rig: add [rig].")
    listener, clock = listener or SilentListener(), Clock()
    method, table = stage.scene.method, stage.scene.training
    judges = _record(stage, SnapshotCache(cache), clock, listener)
    given = _given_poses(stage, rigging)
    among = _sample_motion(stage)
    with clock.phase("contact"), _heard(listener):
        touched = find_touched(stage, rigging.rig, among, given)
    if len(touched.corrected):
        listener.say(f"flesh is pressed apart where it would pass through itself, in {len(touched.corrected)} poses")
    models: list[PoseSpaceModel] = []
    regions = touched.maker.regions
    first = FIRST if regions is None else max(FIRST, PER_REGION * len(regions.names))
    rank = min(method.rank or first, table.max_rank)
    fixed = method.rank is not None or (regions is not None and regions.fixed)
    while True:
        with _heard(listener):
            model = _make_model(stage, touched, rank, among, clock)
            await_kernels(POSESPACE)
            with clock.phase("check"):
                model = replace(model, error=max(_error(stage, model, judge) for judge in judges))
        models.append(model)
        listener.say(
            f"rank {model.rank}, {len(model.poses)} poses, {len(model.elements)} elements, {len(model.particles)} "
            f"particles: error {100 * (model.error or 0.0):.3g} % on held-out cases"
        )
        met = _meets(model, method.accuracy)
        if met or fixed or len(models) == TRIES or rank == table.max_rank:
            break
        rank = min(round(GROWTH * rank), table.max_rank)
    best = models[-1] if met else min(models, key=lambda one: one.error or 0.0)
    return replace(best, facts={**best.facts, **_tell(stage, best, models, clock, judges)})


@contextmanager
def _heard(listener: Listener) -> Iterator[None]:
    """Warnings of what is tried are told as lines: held-out cases judge."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", SuppleWarning)
        yield
    for one in said:
        listener.say(str(one.message))


def _make_model(stage: Stage, touched: Touched, rank: int, among: FloatArray, clock: Clock) -> PoseSpaceModel:
    """A model of this rank for poses among those of a motion, and the given ones."""
    rig, body, most = touched.rig, stage.body, stage.scene.training.max_poses
    with clock.phase("basis"):
        bases = choose_poses(body, rig, among, rank, given=touched.given, most=most, maker=touched.maker)
    with clock.phase("rule"):
        rules = _make_rules(stage, rig, bases)
    model = assemble_posespace(body, rig, bases, rules, touch=touched.touch)
    return replace(model, corrected=touched.corrected, corrections=touched.corrections)


def _make_rules(stage: Stage, rig: Rig, bases: PoseBases) -> PoseRules:
    """Rules to a share of the scene's tolerance; the first frequencies are right to 1 % in any case."""
    most, seed = stage.scene.method.elements, stage.scene.training.seed
    aim = float(np.clip(RULE * stage.scene.method.accuracy, FINEST, COARSEST))
    rules = train_pose_rules(stage.body, rig, bases, aim, np.random.default_rng([seed, 2]))
    if most is not None and len(rules.elements) > most:
        raise TrainingError(
            f"forces of rank {bases.rank} take {len(rules.elements)} elements and method.elements = {most}: raise it, "
            "or lower method.rank."
        )
    return rules


def _meets(model: PoseSpaceModel, accuracy: float) -> bool:
    return model.error is not None and model.error <= accuracy


def _record(stage: Stage, cache: SnapshotCache, clock: Clock, listener: Listener) -> list[Recorded]:
    """The cases that judge, in full space."""
    with clock.phase("basis"):
        period = 2.0 * np.pi / float(np.sqrt(soft_modes(stage.body).importance[0]))
    steps = case_steps(stage, period)[1]
    listener.say(f"judged by {stage.scene.training.heldout} cases of {steps} steps, in full space")
    recorded = record_cases(stage, draw_judges(stage, steps), cache, listener)
    clock.add("simulate", sum(one.seconds for one in recorded))
    return recorded


def _given_poses(stage: Stage, rigging: Rigging) -> FloatArray:
    """Poses that somebody named, (g, p): for a basis, or with a shape of their own, which no other pose tells of."""
    rig = stage.scene.rig
    tables = [*stage.scene.training.poses, *(one.pose for one in (rig.correction if rig is not None else ()))]
    return np.array([rigging.posing.pose(one) for one in tables]).reshape(-1, len(rigging.rig.controls))


def _sample_motion(stage: Stage) -> FloatArray:
    """Poses of the scene's motion, (k, p)."""
    time, rigging = stage.scene.time, stage.drive.rigging
    assert rigging is not None
    frames = np.arange(-time.preroll, time.frames + 1)
    chosen = frames[:: 1 + len(frames) // LOOKS]
    return np.array([rigging.course.pose(float(frame) / time.fps) for frame in chosen])


def _error(stage: Stage, model: PoseSpaceModel, judge: Recorded) -> float:
    """How far the model's run of a case is from the full one, relative to what flesh moves beside its rig."""
    rigging, body = stage.drive.rigging, stage.body
    assert rigging is not None
    try:
        played = [x for x, _ in play_case(judge.case, reduced_solver(stage, model))]
    except ConvergenceError:
        return float("inf")
    found, wanted = (_beside(rigging.rig, x, judge.case.poses()) for x in (played, judge.x))
    rest = body.mesh.vertices
    return measure_errors(rest + found[1:], rest + wanted[1:], rest, body.mass, body.mesh.size()).relative


def _beside(rig: Rig, x: Sequence[FloatArray] | FloatArray, poses: FloatArray) -> FloatArray:
    """Displacements from where a rig has the vertices [m], (t, n, 3)."""
    return np.array([one - rig.positions(pose) for one, pose in zip(x, poses, strict=True)])


def _tell(
    stage: Stage, best: PoseSpaceModel, models: Sequence[PoseSpaceModel], clock: Clock, judges: Sequence[Recorded]
) -> dict[str, Any]:
    """What was asked, chosen and achieved; a warning where that is not what was asked for."""
    accuracy, error = stage.scene.method.accuracy, best.error or 0.0
    if not _meets(best, accuracy):
        warnings.warn(
            f"the error on held-out cases is {100 * error:.3g} % where {100 * accuracy:.3g} % was asked for: raise "
            f"method.rank (now {best.rank}) or training.max_poses (now {stage.scene.training.max_poses}), or ask for a "
            "larger method.tolerance.",
            SuppleWarning,
            stacklevel=3,
        )
    return {
        "tolerance": accuracy,
        "met": _meets(best, accuracy),
        "error": error,
        "rank": best.rank,
        "elements": len(best.elements),
        **best.tell(),
        "attempts": {
            "rank": [one.rank for one in models],
            "elements": [len(one.elements) for one in models],
            "error": [one.error if one.error is not None and np.isfinite(one.error) else None for one in models],
        },
        "seconds": dict(clock.seconds),
        "heldout": len(judges),
        "heldout_steps": judges[0].case.steps,
        "step_s": stage.scene.time.step,
        "integrator": stage.scene.time.integrator,
        "seed": stage.scene.training.seed,
    }
