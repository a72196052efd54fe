"""A comparison as plain numbers, for programs and for tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.method.measure import Errors
from supple.scene.compare import Comparison, Entry
from supple.scene.compare_run import Track
from supple.scene.stage import Built

__all__ = ["LIVELY", "tell_comparison"]

LIVELY = 0.2  #: share of its peak that kinetic energy must have at half time for a motion to be a fair trial


def tell_comparison(comparison: Comparison) -> dict[str, Any]:
    """Everything that was measured: milliseconds, seconds, metres and relative errors, by name."""
    built = comparison.reference.built
    failed = any(entry.track.failure is not None for entry in comparison.entries)
    return {
        "failed": failed,
        "frames": len(comparison.track.rows),
        "tetrahedra": len(built.mesh.tets),
        "vertices": len(built.mesh.vertices),
        "unknowns": int(3 * len(built.mesh.vertices) - built.body.pins.held.sum()),
        "newton_tolerance": comparison.newton_tolerance,
        "motion": tell_motion(comparison),
        "full": {
            "label": comparison.reference.label,
            "solver": built.solver.describe(),
            "trials_ms_per_frame": dict(comparison.trials),
            **_tell_cost(comparison.track),
        },
        "methods": [_tell_entry(comparison, entry) for entry in comparison.entries],
    }


def tell_motion(comparison: Comparison) -> dict[str, Any]:
    """Whether the motion is a fair trial: how much still moves at half time, how far the body bends."""
    at_half = comparison.kinetic_at_half
    measured = next((entry.errors for entry in comparison.entries if entry.errors is not None), None)
    return {
        "kinetic_at_half": at_half,
        "kinetic_second_half": comparison.kinetic_later,
        "lively": None if at_half is None else at_half >= LIVELY,
        "deformation": None if measured is None else measured.deformation,
        "displacement_m": None if measured is None else measured.motion,
    }


def _tell_entry(comparison: Comparison, entry: Entry) -> dict[str, Any]:
    solver, estimates = entry.contestant.built.solver, entry.track.estimates
    tolerance, errors = entry.tolerance, entry.errors
    kept, judged_by = None, None
    if tolerance is not None and errors is not None:
        judged_by, error = _judge(errors, entry.of_flesh, is_held=_is_held(entry.contestant.built))
        kept = entry.track.failure is None and error <= tolerance
    return {
        "label": entry.contestant.label,
        "method": solver.name,
        "model": None if entry.contestant.file is None else str(entry.contestant.file),
        "solver": solver.describe(),
        "failure": entry.track.failure,
        **_tell_cost(entry.track),
        "speedup": comparison.speedup(entry),
        "offline_s": entry.offline_s,
        "break_even_frames": comparison.break_even(entry),
        "tolerance": tolerance,
        "within_tolerance": kept,
        "judged_by": judged_by,
        "estimated_error": max(estimates) if estimates else None,
        "trained_error": entry.track.rows[-1].trained_error if entry.track.rows else None,
        "error": None if errors is None else _tell_errors(errors, entry.track, entry.of_flesh),
        "training": dict(entry.contestant.facts),
    }


def _is_held(built: Built) -> bool:
    """Whether pins hold the body or colliders stop it, so that its travel is not its own affair."""
    return len(built.body.pins.vertices) > 0 or bool(built.drive.obstacles)


def _judge(errors: Errors, of_flesh: float | None, *, is_held: bool) -> tuple[str, float]:
    """Which error the accuracy asked for is about, and that error: travel must not flatter a body that nothing holds,
    nor one that bones carry.

    Training judges the same way.
    """
    if of_flesh is not None:
        return "relative_to_skinning", of_flesh
    if is_held or errors.of_deformation is None:
        return "relative", errors.relative
    return "relative_to_deformation", errors.of_deformation


def _tell_cost(track: Track) -> dict[str, Any]:
    """What frames cost online [ms]; the pre-roll is not counted."""
    return {
        "ms_per_frame": track.ms_per_frame,
        "median_ms": track.median_ms,
        "lift_ms_per_frame": float(track.lift_ms.mean()) if track.rows else 0.0,
        "rest_ms_per_frame": float(track.rest_ms.mean()) if track.rows else 0.0,
        "phases_ms_per_frame": dict(track.phases),
        "newton_iterations": sum(row.newton_iterations for row in track.rows),
        **_tell_volumes(track),
        "frame_ms": track.frame_ms.tolist(),
    }


def _tell_volumes(track: Track) -> dict[str, Any]:
    """How many tets are inverted in the worst frame, the least volume ratio of any, and where that begins."""
    known = [row for row in track.rows if row.min_jacobian is not None]
    bad = [row for row in known if row.inverted]
    return {
        "inverted": max((row.inverted or 0 for row in known), default=None),
        "min_jacobian": min((row.min_jacobian for row in known if row.min_jacobian is not None), default=None),
        "first_inverted_frame": bad[0].frame if bad else None,
    }


def _tell_errors(errors: Errors, track: Track, of_flesh: float | None) -> dict[str, Any]:
    """Errors as supple.method.measure defines them; frames by their numbers."""
    furthest = int(np.argmax(errors.greatest))
    shares = {
        "relative": errors.relative,
        "relative_to_deformation": errors.of_deformation,
        "relative_to_skinning": of_flesh,
    }
    return {
        **shares,
        "sternest": max((name for name in shares if shares[name] is not None), key=lambda name: shares[name] or 0.0),
        "worst_relative": float(errors.by_frame[errors.worst]),
        "worst_frame": track.rows[errors.worst].frame,
        "max_m": float(errors.greatest[furthest]),
        "max_frame": track.rows[furthest].frame,
        "max_vertex": int(errors.vertex[furthest]),
        "rms_unit_cube": float(np.sqrt(np.mean(errors.rms**2))),
        "worst_rms_unit_cube": float(errors.rms.max()),
        "frame_relative": errors.by_frame.tolist(),
        "frame_max_m": errors.greatest.tolist(),
    }
