"""The comparison as one web page: figures first, then what is seen, then the tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from supple.picture import Page
from supple.picture.page import Cell
from supple.scene.compare import Comparison, Entry
from supple.scene.compare_facts import LIVELY
from supple.scene.compare_pictures import Gallery
from supple.scene.compare_plots import Plot
from supple.scene.compare_words import say_kept, tell_sternest, to_length, to_percent
from supple.scene.timeline import tell_timeline

__all__ = ["make_page"]

DEFINITION = (
    "Errors are distances from the full solver at the same vertex and frame. The relative error is their "
    "mass-weighted root mean square over that of the body's displacement from its start, taken over the whole run; "
    "relative to the deformation, the body's rigid motion is first taken out of the latter; relative to the "
    "skinning, what bones do to it. Times are means over all "
    "frames with warm kernels, one thread pool, one process; the pre-roll is not counted."
)


CHOSEN = {
    "tolerance": "accuracy asked for",
    "error": "error on held-out cases",
    "met": "accuracy met there",
    "rank": "rank of the basis",
    "elements": "elements of the cubature",
    "carried_fields": "fields that follow pins",
    "particles": "vertices of the frame's cubature",
    "projection_error": "missed by the basis",
    "rule_heldout_error": "held-out residual of the cubature",
    "frequency_error": "error of the first frequencies",
    "cases": "training cases",
    "steps": "steps of each",
    "heldout": "held-out cases",
}


def make_page(
    title: str, comparison: Comparison, facts: Mapping[str, Any], plots: Mapping[str, Plot], *, film: bool = False
) -> Page:
    """The page; its pictures, and the film if there shall be one, show the first contestant."""
    main, told = comparison.entries[0], facts["methods"][0]
    page = Page(title, _lead(main, told, facts))
    page.add_facts(_headline(told))
    if main.errors is not None:
        _add_pictures(page, comparison, main, told, film)
    page.add_section("Error")
    page.add_table(["", *(method["label"] for method in facts["methods"])], _error_rows(facts), DEFINITION)
    _add_plots(page, plots, "error", "distance")
    page.add_section("Cost")
    page.add_table(["", facts["full"]["label"], *(m["label"] for m in facts["methods"])], _cost_rows(facts))
    page.add_paragraph(_say_full(facts))
    _add_plots(page, plots, "time", "pareto")
    _add_timelines(page, comparison)
    page.add_section("Is the motion a fair trial?")
    page.add_paragraph(_say_motion(facts["motion"]))
    _add_training(page, comparison, plots)
    page.add_section("What ran")
    page.add_code("\n".join(comparison.reference.built.describe()))
    for method in facts["methods"]:
        page.add_code("\n".join([f"{method['label']}:", *method["solver"]]))
    return page


def _lead(main: Entry, told: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """The result in a sentence."""
    label, reached = main.contestant.label, len(main.track.rows)
    if told["failure"] is not None:
        return f"{label} failed after {reached} of {facts['frames']} frames: {told['failure']}"
    reference = "the full solver" if _is_full(facts) else facts["full"]["label"]
    size = f"{facts['tetrahedra']:,} tetrahedra" if facts["tetrahedra"] else f"{facts['vertices']:,} vertices"
    return (
        f"{label} against {reference} over {facts['frames']} frames of {size}: "
        f"{told['speedup']:.3g} times as fast, off by {tell_sternest(told['error'])}."
    )


def _headline(told: Mapping[str, Any]) -> dict[str, Cell]:
    error = told["error"] or {}
    return {
        "error of the run": tell_sternest(error) if error else None,
        "in the worst frame": to_percent(error.get("worst_relative")),
        "largest distance": to_length(error.get("max_m")),
        "speed-up": None if told["speedup"] is None else f"{told['speedup']:.3g} x",
        "frames to break even": told["break_even_frames"],
    }


def _add_pictures(page: Page, comparison: Comparison, main: Entry, told: Mapping[str, Any], film: bool) -> None:
    gallery = Gallery(comparison, main)
    page.add_section("Side by side")
    if film:
        page.add_film(*gallery.draw_film(), f"Left: {comparison.reference.label}. Right: {main.contestant.label}.")
    rig = gallery.draw_rig()
    if rig is not None:
        page.add_picture(
            rig,
            f"Above: {main.contestant.label}, coloured by how far its flesh is from where the rig alone has it. Below: "
            "the rig alone.",
        )
    names = f"Above: {comparison.reference.label}. Middle: {main.contestant.label}."
    page.add_picture(gallery.draw_strip(), f"{names} Below: distance between them. Same camera, same frames.")
    heat, place = gallery.draw_heat_map()
    row, error = main.track.rows[place], told["error"]
    page.add_picture(
        heat,
        f"Where the error sits, in the worst frame ({row.frame}, {row.time:.2f} s). Over the whole run the furthest is "
        f"vertex {error['max_vertex']} in frame {error['max_frame']}, {to_length(error['max_m'])} off.",
        alt="Heat map of the error per vertex in metres",
    )


def _error_rows(facts: Mapping[str, Any]) -> list[list[Cell]]:
    shown: dict[str, Callable[[Mapping[str, Any]], Cell]] = {
        "relative error of the run": lambda error: to_percent(error["relative"]),
        "relative to the deformation": lambda error: to_percent(error["relative_to_deformation"]),
        "relative to the skinning": lambda error: to_percent(error["relative_to_skinning"]),
        "worst frame": lambda error: f"{to_percent(error['worst_relative'])} (frame {error['worst_frame']})",
        "largest distance": lambda error: f"{to_length(error['max_m'])} (frame {error['max_frame']})",
        "of vertex": lambda error: str(error["max_vertex"]),
        "RMS in unit-cube units": lambda error: f"{error['rms_unit_cube']:.2g}",
    }
    methods = facts["methods"]
    errors = [method["error"] for method in methods]
    rows: list[list[Cell]] = [
        [name, *(None if error is None else show(error) for error in errors)] for name, show in shown.items()
    ]
    rows = [row for row in rows if any(cell is not None for cell in row[1:])]
    if any(method["tolerance"] is not None for method in facts["methods"]):
        rows.append(["accuracy asked for", *(to_percent(method["tolerance"]) for method in facts["methods"])])
        rows.append(["kept here", *(say_kept(method) for method in facts["methods"])])
    if any(method["min_jacobian"] is not None for method in methods):
        rows.append(["inverted tets in the worst frame", *(method["inverted"] for method in methods)])
        rows.append(["least volume ratio of a tet", *(_cell(method["min_jacobian"]) for method in methods)])
    if any(method["trained_error"] is not None for method in methods):
        rows.append(["error in training", *(to_percent(method["trained_error"]) for method in methods)])
    if any(method["estimated_error"] is not None for method in methods):
        rows.append(["error estimated on the way", *(to_percent(method["estimated_error"]) for method in methods)])
    if any(method["failure"] for method in facts["methods"]):
        rows.append(["failed", *(method["failure"] for method in facts["methods"])])
    return rows


def _cost_rows(facts: Mapping[str, Any]) -> list[list[Cell]]:
    """Phases first, then what they add up to and what it means."""
    columns = [facts["full"], *facts["methods"]]
    phases = dict.fromkeys(phase for column in columns for phase in column["phases_ms_per_frame"])
    rows: list[list[Cell]] = [
        [f"{phase} [ms per frame]", *(column["phases_ms_per_frame"].get(phase) for column in columns)]
        for phase in phases
    ]
    rows.append(["positions of all vertices [ms per frame]", *(column["lift_ms_per_frame"] for column in columns)])
    rows.append(["inputs, energies and checks [ms per frame]", *(column["rest_ms_per_frame"] for column in columns)])
    rows.append(["total [ms per frame]", *(column["ms_per_frame"] for column in columns)])
    rows.append(["median frame [ms]", *(column["median_ms"] for column in columns)])
    rows.append(["Newton iterations per frame", *(c["newton_iterations"] / facts["frames"] for c in columns)])
    compared = {"speed-up": "speedup", "offline [s]": "offline_s", "frames to break even": "break_even_frames"}
    rows += [[name, None, *(method[key] for method in facts["methods"])] for name, key in compared.items()]
    return rows


def _is_full(facts: Mapping[str, Any]) -> bool:
    return str(facts["full"]["label"]).startswith("full")


def _say_full(facts: Mapping[str, Any]) -> str:
    if not _is_full(facts):
        return (
            f"What counts as the full solver here is {facts['full']['label']} in full space: the full solver knows no "
            "shells, skins, springs, target volumes, limits of strain or example shapes."
        )
    trials = facts["full"]["trials_ms_per_frame"]
    tried = ", ".join(f"{name} {spent:.3g} ms" for name, spent in trials.items())
    chosen = f"The full solver counted is the faster of those tried on the first frames ({tried} per frame). "
    return (chosen if len(trials) > 1 else "") + (
        f"It iterates to a relative residual of {facts['newton_tolerance']:g}. The break-even is the offline cost over "
        "what a frame saves."
    )


def _say_motion(motion: Mapping[str, Any]) -> str:
    """Kinetic energy and deformation, and whether they make a fair trial."""
    bent = ""
    if motion["deformation"] is not None:
        bent = f"The body bends by up to {to_percent(motion['deformation'])} of its longest side. "
    if motion["kinetic_at_half"] is None:
        return bent + "It is static or stands still: there is no kinetic energy to judge by."
    verdict = "at least" if motion["lively"] else "less than"
    half, later = to_percent(motion["kinetic_at_half"]), to_percent(motion["kinetic_second_half"])
    return (
        f"{bent}At half time its kinetic energy is {half} of the peak (in the second half at most {later}), {verdict} "
        f"the {to_percent(LIVELY)} of a lively motion."
    )


def _add_timelines(page: Page, comparison: Comparison) -> None:
    """What each step was, for methods that skip some."""
    for entry in comparison.entries:
        lines = tell_timeline(entry.track.rows)
        if lines:
            page.add_section("Steps skipped")
            page.add_code("\n".join([f"{entry.contestant.label}:", *lines]))


def _add_training(page: Page, comparison: Comparison, plots: Mapping[str, Plot]) -> None:
    """What training chose and achieved, as far as models tell."""
    trained = [entry.contestant for entry in comparison.entries if entry.contestant.facts]
    if not trained:
        return
    page.add_section("What was chosen")
    rows: list[list[Cell]] = [
        [words, *(_cell(one.facts.get(name)) for one in trained)]
        for name, words in CHOSEN.items()
        if any(one.facts.get(name) is not None for one in trained)
    ]
    phases = [one.facts["seconds"] if isinstance(one.facts.get("seconds"), Mapping) else {} for one in trained]
    for phase in dict.fromkeys(phase for seconds in phases for phase in seconds):
        rows.append([f"offline, {phase} [s]", *(_cell(seconds.get(phase)) for seconds in phases)])
    page.add_table(["", *(one.label for one in trained)], rows)
    _add_plots(page, plots, "singular_values", "rank", "cubature")


def _add_plots(page: Page, plots: Mapping[str, Plot], *names: str) -> None:
    for name in names:
        if name in plots:
            page.add_picture(plots[name].bright, plots[name].caption, dark=plots[name].dark)


def _cell(value: Any) -> Cell:
    """A number or a yes as it stands in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else f"{value:.3g}"
