"""The demonstration: a creature, shaken, with a page, a film and an animation to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io import Cache, open_cache
from supple.io.files import writing
from supple.picture import Page, plot_lines, render_frames, render_strip, save_film, save_picture
from supple.scene.build import Built, build_scene
from supple.scene.demo_scene import DEMO_SCENE
from supple.scene.load import load_scene
from supple.scene.progress import Listener
from supple.scene.run import RunResult, run_scene

__all__ = ["run_demo"]

PANELS = 7
Say = Callable[[str], None]
Picture = NDArray[np.uint8]


def run_demo(folder: Path, listener: Listener, say: Say, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Simulate the demonstration scene (with `changes`, see `load_scene`) and write what there is to see."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "creature.toml").write_text(DEMO_SCENE, encoding="utf-8")
    scene = load_scene(folder / "creature.toml", changes)
    animation = folder / "creature.usdc"
    say(f"simulating {folder / 'creature.toml'}")
    built = build_scene(scene)
    result = run_scene(built, [animation], listener=listener)
    if result.stopped:
        raise OutputError("the demonstration was stopped before it was done: run  supple demo  again.")
    say("drawing")
    cache = open_cache(animation)
    film, strip = _draw(cache)
    files = [
        folder / "index.html",
        save_film(folder / "creature.gif", film, cache.info.fps),
        save_picture(folder / "creature.png", strip),
        animation,
        folder / "creature.toml",
    ]
    _make_page(folder, built, result, film, strip).save(files[0])
    say("wrote")
    for path, about in zip(files, ("the page to open first", "film", "strip", "animation", "scene"), strict=True):
        say(f"  {path}  ({about})")
    return {
        "files": [str(path) for path in files],
        "frames": result.frame,
        "ms_per_frame": result.ms_per_frame,
    }


def _draw(cache: Cache) -> tuple[list[Picture], Picture]:
    """The film's pictures and the strip."""
    frames = [cache.surface_positions(place) for place in range(cache.frames)]
    film = list(render_frames(frames, cache.triangles, width=380, height=340, samples=4))
    strip = render_strip(frames, cache.triangles, count=PANELS, times=cache.times, width=240, height=320)
    return film, strip


def _make_page(folder: Path, built: Built, result: RunResult, film: list[Picture], strip: Picture) -> Page:
    """The page: film, numbers, plots, the scene and what to try next."""
    time = built.scene.time
    page = Page("A soft creature", "One scene file, simulated in full space: this is what supple approximates.")
    page.add_film(film, time.fps, "Shaken, hopping, turning; only the soles and a core are moved.")
    page.add_facts(
        {
            "tetrahedra": len(built.mesh.tets),
            "unknowns": int(3 * len(built.mesh.vertices) - built.body.pins.held.sum()),
            "frames": result.frame,
            "ms per frame": result.ms_per_frame,
            "mass [kg]": float(built.body.mass.sum()),
        }
    )
    page.add_picture(strip, "Seven moments of the film.")
    page.add_section("What it cost")
    _add_plots(page, result)
    page.add_section("What was simulated")
    page.add_code("\n".join(built.describe()))
    page.add_paragraph("The scene file:")
    page.add_code(DEMO_SCENE)
    page.add_section("What to try next")
    for about, command in {
        "Change a number in the scene and run it again:": f"supple run {folder}/creature.toml -o softer.usdc",
        "Look at a run:": "supple render softer.usdc -o softer.gif",
        "Check a scene before it runs:": f"supple doctor {folder}/creature.toml",
        "Use a mesh of your own; a surface is filled with tetrahedra:": "supple run body.obj -o body.usdc",
    }.items():
        page.add_paragraph(about)
        page.add_code(command)
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
                "kinetic": [row.kinetic_energy for row in rows],
                "elastic": [row.elastic_energy for row in rows],
            },
        ),
        (
            "Solving time.",
            "ms per frame",
            {"ms": [row.ms for row in rows]},
        ),
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
