"""What was found in a comparison, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["say_kept", "summarise", "tell_sternest", "to_length", "to_percent"]

MEASURES = {
    "relative": "of the motion",
    "relative_to_deformation": "of the deformation",
    "relative_to_skinning": "of the motion beside the bones",
}


def summarise(facts: Mapping[str, Any]) -> list[str]:
    """The result line by line, for a person at a terminal."""
    lines = []
    for method in facts["methods"]:
        label, error = method["label"], method["error"]
        if method["failure"] is not None:
            lines.append(f"{label}: failed: {method['failure']}")
        if error is None:
            continue
        lines.append(
            f"{label}: error {tell_sternest(error)}, in the worst frame ({error['worst_frame']}) "
            f"{to_percent(error['worst_relative'])} of the motion; largest distance {to_length(error['max_m'])} "
            f"(frame {error['max_frame']}, vertex {error['max_vertex']})"
        )
        lines.append(
            f"{label}: {method['ms_per_frame']:.3g} ms per frame against {facts['full']['ms_per_frame']:.3g} ms of "
            f"{facts['full']['label']}: {method['speedup']:.3g} times as fast{_say_offline(method)}"
        )
        if method["within_tolerance"] is False:
            lines.append(
                f"{label}: misses the {to_percent(method['tolerance'])} that was asked for{_say_judge(method)}"
            )
    if facts["motion"]["lively"] is False:
        lines.append(f"at half time the kinetic energy is {to_percent(facts['motion']['kinetic_at_half'])} of its peak")
    return lines


def tell_sternest(error: Mapping[str, Any]) -> str:
    """The largest of the relative errors of a run, and what it is relative to."""
    return f"{to_percent(error[error['sternest']])} {MEASURES[error['sternest']]}"


def _say_judge(method: Mapping[str, Any]) -> str:
    """Which error is meant, where it is not the one told first."""
    why = {
        "relative_to_deformation": "nothing holds the body, so its error relative to the deformation counts",
        "relative_to_skinning": "bones carry the body, so its error relative to what flesh moves beside them counts",
    }.get(method["judged_by"])
    return "" if why is None else f": {why}, {to_percent(method['error'][method['judged_by']])}"


def say_kept(method: Mapping[str, Any]) -> str | None:
    """Whether the accuracy asked for is kept, and by which error."""
    kept = method["within_tolerance"]
    if kept is None:
        return None
    measures = {
        "relative_to_deformation": ", relative to the deformation",
        "relative_to_skinning": ", relative to the skinning",
    }
    return ("yes" if kept else "no") + measures.get(method["judged_by"], "")


def _say_offline(method: Mapping[str, Any]) -> str:
    if method["offline_s"] is None:
        return ""
    frames = method["break_even_frames"]
    won_back = "are not won back" if frames is None else f"are won back after {frames:,} frames"
    return f"; {method['offline_s']:.3g} s of training {won_back}"


def to_percent(value: float | None) -> str | None:
    """A share in percent, two digits or all before the point."""
    if value is None:
        return None
    return f"{100.0 * value:.2g} %" if value < 1.0 else f"{100.0 * value:,.0f} %"


def to_length(metres: float | None) -> str | None:
    """A length in the unit that suits it."""
    if not metres:
        return None if metres is None else "0 m"
    for unit, size in (("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)):
        if metres >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres / 1e-6:.3g} µm"
