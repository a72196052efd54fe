"""A demonstration: one scene, simulated, compared with the full solver, with a page and animations to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from supple.errors import OutputError
from supple.io import open_cache
from supple.io.files import write_atomically, writing
from supple.io.permit import Permit
from supple.picture import Page
from supple.scene.build import set_stage
from supple.scene.compare import Contestant, compare_methods, pick_reference
from supple.scene.compare_facts import tell_comparison
from supple.scene.compare_page import make_page
from supple.scene.compare_plots import make_plots
from supple.scene.compare_words import summarise
from supple.scene.convert import Conversion, convert_file
from supple.scene.demo_page import add_ending, make_full_page
from supple.scene.demo_table import FIRST, Demo, pick_demo
from supple.scene.draw import Drawing, draw_recording
from supple.scene.kernels import compile_ahead
from supple.scene.load import load_scene
from supple.scene.prepare import prepare_scene
from supple.scene.progress import Listener
from supple.scene.run import run_scene
from supple.scene.stage import Built

__all__ = ["lay_out_demo", "run_demo"]

Say = Callable[[str], None]
PAGE = "index.html"


def run_demo(
    folder: Path,
    listener: Listener,
    say: Say,
    name: str = FIRST,
    changes: Mapping[str, Any] | None = None,
    *,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Simulate a demonstration (its scene with `changes`, see `load_scene`) and write what there is to see.

    Files that are there are replaced where the same demonstration wrote them, or with `overwrite`.
    """
    demo, source = pick_demo(name), lay_out_demo(folder, name, overwrite=overwrite)
    permit = Permit(source, "demo", overwrite)
    permit.ask(folder / PAGE)
    say(f"{demo.name}: {demo.about}")
    with compile_ahead(*demo.ahead):
        built = prepare_scene(set_stage(load_scene(source, changes)), listener, source, overwrite=overwrite)
        animation = source.with_suffix(".usdc")
        say(f"simulating {source}")
        result = run_scene(built, [animation], listener=listener, source=source, overwrite=overwrite)
        if result.stopped:
            raise OutputError(f"the demonstration was stopped before it was done: run  supple demo {demo.name}  again.")
    if built.solver.name == "full":
        page, facts = make_full_page(demo, built, result, open_cache(animation)), dict[str, Any]()
    else:
        page, facts = _compare(demo, built, listener, say)
    add_ending(page, demo, folder)
    files = {page.save(folder / PAGE): "the page to open first", **_draw(animation, overwrite)}
    permit.done(folder / PAGE)
    files |= {source: "scene"}
    say("wrote")
    for path, about in files.items():
        say(f"  {path}  ({about})")
    return {
        "demo": demo.name,
        "scene": str(source),
        "files": [str(path) for path in files],
        "frames": result.frame,
        "ms_per_frame": result.ms_per_frame,
        **facts,
    }


def lay_out_demo(folder: Path, name: str = FIRST, *, overwrite: bool = False) -> Path:
    """The scene file of a demonstration, written into a folder; one that was changed there is replaced on demand."""
    demo = pick_demo(name)
    source = folder / f"{demo.name}.toml"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        permit = Permit(f"supple demo {demo.name}", "scene", overwrite)
        if not source.exists() or source.read_bytes() != demo.scene.encode():
            permit.ask(source)
        write_atomically(source, [demo.scene.encode()])
        permit.done(source)
    return source


def _compare(demo: Demo, built: Built, listener: Listener, say: Say) -> tuple[Page, dict[str, Any]]:
    """The method beside the full solver: its page with a film, and its figures."""
    reference, trials = pick_reference(built, listener)
    comparison = compare_methods(reference, [Contestant(demo.name, built)], trials=trials, listener=listener)
    say("drawing")
    facts = tell_comparison(comparison)
    page = make_page(f"supple demo {demo.name}", comparison, facts, make_plots(comparison), film=True)
    for line in summarise(facts):
        say(line)
    told = facts["methods"][0]
    error = told["error"]
    return page, {"speedup": told["speedup"], "error": error and error[error["sternest"]]}


def _draw(animation: Path, overwrite: bool) -> dict[Path, str]:
    """The animation in another format, and a strip of it, beside it; what each is."""
    twin, strip = animation.with_suffix(".glb"), animation.with_suffix(".png")
    convert_file(animation, twin, Conversion(), overwrite=overwrite)
    draw_recording(animation, strip, Drawing(strip=6, width=240, height=300), overwrite=overwrite)
    return {strip: "strip", animation: "animation in USD", twin: "animation in glTF"}
