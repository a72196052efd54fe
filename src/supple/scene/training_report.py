"""What a training tells of itself: to who watches it, and in the model's facts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from supple.errors import SuppleWarning
from supple.scene.cases import Case, scene_steps
from supple.scene.schema import Scene
from supple.scene.stage import Stage
from supple.scene.training_basis import Span
from supple.scene.training_motion import LocalMotion, Snapshots
from supple.scene.training_search import STALLED, Attempt, Clock

__all__ = ["announce", "tell_cases", "tell_search"]


def tell_search(
    stage: Stage,
    span: Span,
    attempts: Sequence[Attempt],
    best: Attempt,
    clock: Clock,
) -> dict[str, Any]:
    """What was asked, chosen and achieved."""
    rule = best.model.rule
    sizes = sorted({attempt.model.rule.size: attempt.model.rule for attempt in attempts}.items())
    return {
        "tolerance": stage.scene.method.accuracy,
        "met": best.error <= stage.scene.method.accuracy,
        "error": best.error,
        "projection_error": best.projection,
        "energy_excess": span.excess(best.rank),
        "rank": best.rank,
        "elements": rule.size,
        "rule_training_error": rule.training_error,
        "rule_heldout_error": rule.heldout_error,
        "frequency_error": rule.frequency_error,
        **best.model.tell(),
        "attempts": {
            "rank": [attempt.rank for attempt in attempts],
            "elements": [attempt.model.rule.size for attempt in attempts],
            "error": [attempt.error if np.isfinite(attempt.error) else None for attempt in attempts],
        },
        "seconds": dict(clock.seconds),
        "singular_values": span.singular.tolist(),
        "error_by_rank": span.missed.tolist(),
        "error_by_size": {
            "elements": [size for size, _ in sizes],
            "error": [made.heldout_error for _, made in sizes],
        },
    }


def tell_cases(stage: Stage, cases: Sequence[Case], heldout: Sequence[LocalMotion], train: Snapshots) -> dict[str, Any]:
    """What was trained on and judged by."""
    judges = [motion.case for motion in heldout]
    largest = max(train.largest, *(motion.largest for motion in heldout))
    return {
        "cases": len(cases),
        "heldout": len(judges),
        "steps": cases[0].steps,
        "heldout_steps": judges[0].steps,
        "scene_steps": scene_steps(stage, judges[0].steps),
        "step_s": stage.scene.time.step,
        "integrator": stage.scene.time.integrator,
        "newton_tolerance": stage.scene.method.residual,
        "seed": stage.scene.training.seed,
        "largest_displacement": largest / stage.mesh.size(),
        "loads": [entry for case in (*cases, *judges) for entry in case.drive.directions()],
    }


def announce(best: Attempt, facts: dict[str, Any], scene: Scene, say: Callable[[str], None], span: Span) -> None:
    """Tell what was achieved, and warn where that is not what was asked for."""
    tolerance, error = facts["tolerance"], facts["error"]
    seconds = sum(facts["seconds"].values())
    say(
        f"chose rank {facts['rank']} with {facts['elements']} elements: error {100 * error:.3g} % where "
        f"{100 * tolerance:.3g} % was asked for, {seconds:.1f} s offline"
    )
    if not facts["met"]:
        warnings.warn(
            f"the error on held-out cases is {100 * error:.3g} % where {100 * tolerance:.3g} % was asked for, and "
            f"{_find_remedy(best, facts['limited_by'], scene, span)}.",
            SuppleWarning,
            stacklevel=3,
        )


def _find_remedy(best: Attempt, limit: str | None, scene: Scene, span: Span) -> str:
    """What limits the error of a model, and the keys that would lower it."""
    method, rank = scene.method, best.rank
    more = f"training.cases (now {scene.training.cases})"
    if limit == "training.budget":
        return f"the work that rules may take was used up: raise training.budget (now {scene.training.budget:g})"
    if best.projection > 0.5 * best.error:
        why = f"the subspace misses {100 * best.projection:.3g} % of them: raise "
        if method.rank is not None and rank < len(span.singular) and span.missed[-1] < STALLED * best.projection:
            return f"{why}method.rank (now {rank}) or {more}"
        full = method.rank is None and rank == len(span.singular) == scene.training.max_rank
        return f"{why}{more}" + (f" or training.max_rank (now {rank})" if full else "")
    elements = "" if method.elements is None else f", method.elements (now {method.elements})"
    return f"the rule or the steps limit it: raise {more}{elements}, or use a shorter time step"
