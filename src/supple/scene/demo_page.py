"""What the page of a demonstration has beside a comparison: a run in full space, what to try next."""

from __future__ import annotations

from pathlib import Path

from supple.io import Cache
from supple.picture import Page, plot_lines, render_frames, render_strip
from supple.scene.demo_table import DEMOS, Demo
from supple.scene.run import RunResult
from supple.scene.stage import Built

__all__ = ["add_ending", "make_full_page"]

PANELS = 6
WIDTH, HEIGHT = 240, 320  #: of a picture in a strip [pixels]


def make_full_page(demo: Demo, built: Built, result: RunResult, cache: Cache) -> Page:
    """The page of a run in full space: film, numbers, plots."""
    page = Page(f"supple demo {demo.name}", "One scene file in full space: this is what supple approximates.")
    frames = [cache.surface_positions(place) for place in range(cache.frames)]
    film = render_frames(frames, cache.triangles, width=380, height=340, samples=4)
    page.add_film(film, cache.info.fps, "Only the soles and a core in belly and head are moved.")
    page.add_facts(
        {
            "tetrahedra": len(built.mesh.tets),
            "unknowns": int(3 * len(built.mesh.vertices) - built.body.pins.held.sum()),
            "frames": result.frame,
            "ms per frame": result.ms_per_frame,
            "mass [kg]": float(built.body.mass.sum()),
        }
    )
    strip = render_strip(frames, cache.triangles, count=PANELS, times=cache.times, width=WIDTH, height=HEIGHT)
    page.add_picture(strip, "Moments of the film.")
    page.add_section("What it cost")
    _add_plots(page, result)
    page.add_section("What ran")
    page.add_code("\n".join(built.describe()))
    return page


def _add_plots(page: Page, result: RunResult) -> None:
    """Energies, time and Newton iterations over the frames, for bright and dark pages."""
    rows = [row for row in result.rows if row.frame > 0]
    seconds = [row.time for row in rows]
    plots: list[tuple[str, str, dict[str, list[float]]]] = [
        (
            "Energies of the body.",
            "energy [J]",
            {
                "kinetic": [row.kinetic_energy or 0.0 for row in rows],
                "elastic": [row.elastic_energy or 0.0 for row in rows],
            },
        ),
        ("Solving time.", "ms per frame", {"ms": [row.ms for row in rows]}),
        (
            "Newton iterations over all steps of a frame.",
            "iterations",
            {"Newton": [float(row.newton_iterations) for row in rows]},
        ),
    ]
    for caption, label, lines in plots:
        series = {name: (seconds, values) for name, values in lines.items()}
        bright, dark = (plot_lines(series, "time [s]", label, height=300, dark=dark) for dark in (False, True))
        page.add_picture(bright, caption, dark=dark)


def add_ending(page: Page, demo: Demo, folder: Path) -> None:
    """The scene file, and what to try next."""
    scene = folder / f"{demo.name}.toml"
    page.add_section("The scene file")
    page.add_code(demo.scene)
    page.add_section("What to try next")
    trials = {
        "Change a number in the scene and run it again:": f"supple run {scene} -o changed.usdc",
        "Look at a run:": "supple render changed.usdc -o changed.gif",
        "Hold a method against the full solver:": f"supple compare {scene}",
        "Check a scene before it runs:": f"supple doctor {scene}",
        "Use a mesh of your own; a surface is filled with tetrahedra:": "supple run body.obj -o body.usdc",
    }
    for about, command in trials.items():
        page.add_paragraph(about)
        page.add_code(command)
    page.add_paragraph(f"More about this method: docs/{demo.page}. The other demonstrations:")
    page.add_code("\n".join(f"supple demo {other.name:14}# {other.about}" for other in DEMOS.values() if other != demo))
