"""From a scene on the command line to a page: what `supple compare` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from supple.errors import OutputError, SceneError, TrainingError
from supple.io.files import probe_folder
from supple.io.permit import Permit
from supple.picture.png import save_bytes
from supple.scene.bodies import split_bodies
from supple.scene.build import set_stage
from supple.scene.compare import Contestant, compare_methods, pick_reference
from supple.scene.compare_facts import tell_comparison
from supple.scene.compare_page import make_page
from supple.scene.compare_plots import Plot, make_plots
from supple.scene.compare_words import summarise, to_percent
from supple.scene.defaults import open_allowed
from supple.scene.doctor import diagnose
from supple.scene.launch import refuse_errors
from supple.scene.method_table import MethodName
from supple.scene.permission import make_permit
from supple.scene.prepare import bare_name, default_model, load_named, prepare_scene, train_scene
from supple.scene.progress import Listener
from supple.scene.solvers import add_solver
from supple.scene.stage import Stage

__all__ = ["Asked", "launch_comparison"]

Say = Callable[[str], None]
LOOSEST = 0.5  #: accuracy worth training to
PARETO = (5.0, 2.0, 0.5)  #: times the accuracy asked for, to which `pareto` trains too


@dataclass(frozen=True)
class Asked:
    """What is asked for besides what the scene says."""

    source: Path  #: a scene, or a mesh that gets the default scene
    output: Path | None = None  #: the page (default: named after the source)
    changes: Mapping[str, Any] | None = None  #: keys and tables that override the scene's
    method: MethodName | None = None  #: to hold against the full solver (default: the scene's, or reduced)
    models: Sequence[Path] = ()  #: instead of the scene's own
    pareto: bool = False  #: also train to looser and tighter accuracies
    plots: Path | None = None  #: folder that gets every plot as a file of its own
    film: bool = False  #: the page also gets a film of both
    allow_code: bool = False  #: Python files that the scene names may be run
    overwrite: bool = False  #: files that supple did not write for this comparison may be replaced


def launch_comparison(asked: Asked, listener: Listener, say: Say, warn: Say) -> dict[str, Any]:
    """Check, build and train a scene, run it under both methods and write the page; the result by name."""
    scene = open_allowed(asked.source, asked.changes, asked.allow_code, say)
    method = asked.method or (None if scene.body else scene.subspace_method)
    if method == "full" or (method is None and all(one.method.name == "full" for one in split_bodies(scene).values())):
        raise SceneError("the full solver compared with itself says nothing: give  --method reduced  or  posespace.")
    scene = scene if method is None else scene.under(method)
    permit = make_permit(scene, asked.source, asked.overwrite)
    permit = permit.under(f"{permit.method}, compared")
    page = _place_page(asked, permit, say)
    if asked.plots is not None:
        probe_folder(asked.plots / "error.svg")
    stage = set_stage(scene)
    for finding in refuse_errors(diagnose(stage)):
        if finding.severity == "warning":
            warn(f"warning: {finding.text}")
    for line in stage.describe():
        say(line)
    contestants = _find_contestants(asked, stage, listener, warn)
    reference, trials = pick_reference(stage, listener)
    comparison = compare_methods(reference, contestants, trials=trials, listener=listener)
    say("drawing")
    facts, plots = tell_comparison(comparison), make_plots(comparison)
    title = f"{bare_name(asked.source)}: {contestants[0].label} against {reference.label.split(' ')[0]}"
    make_page(title, comparison, facts, plots, film=asked.film).save(page)
    permit.done(page)
    written = [page, *_save_plots(asked.plots, plots, permit)]
    for line in [*summarise(facts), *(f"wrote {path}" for path in written)]:
        say(line)
    return {"scene": str(asked.source), "page": str(page), "files": [str(path) for path in written], **facts}


def _place_page(asked: Asked, permit: Permit, say: Say) -> Path:
    """Where the page goes; refused now if it cannot or may not be written there."""
    page = asked.output or Path(f"{bare_name(asked.source)}.compare.html")
    if page.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"{page} is no name for a page: end it in .html.")
    probe_folder(page)
    words = permit.ask(page)
    if words is not None:
        say(words)
    return page


def _find_contestants(asked: Asked, stage: Stage, listener: Listener, warn: Say) -> list[Contestant]:
    """The models named, or the scene's own, found or trained; with `pareto` also trained to other accuracies."""
    method = stage.scene.method.name
    if stage.members:
        if asked.models or asked.pareto:
            option = "--models" if asked.models else "--pareto"
            raise SceneError(f"{option} is for one body, and the scene has {len(stage.members)}: remove it.")
        label = " + ".join(one.scene.method.name for one in stage.members.values())
        return [Contestant(label, prepare_scene(stage, listener, asked.source, overwrite=asked.overwrite))]
    if stage.scene.method.is_projective:
        if asked.models or asked.pareto:
            option = "--models" if asked.models else "--pareto"
            raise SceneError(f'method.name = "{method}" is not trained, so there is nothing for {option}: remove it.')
        return [Contestant(method, prepare_scene(stage, listener, asked.source, overwrite=asked.overwrite))]
    if method == "skipping":
        if asked.models:
            raise SceneError("skipping learns while it runs and takes no models: leave  --models  out.")
        found = [Contestant(method, prepare_scene(stage, listener, asked.source, overwrite=asked.overwrite))]
    elif asked.models:
        paths = list(dict.fromkeys(asked.models))
        names = [path.name.removesuffix(".npz") for path in paths]
        labels = names if len(set(names)) == len(names) else [str(path) for path in paths]
        found = [
            Contestant(label, add_solver(stage, load_named(stage, path, listener)), path)
            for label, path in zip(labels, paths, strict=True)
        ]
    else:
        named = stage.scene.method.model
        file = default_model(asked.source) if named is None else Path(named)
        found = [Contestant(method, prepare_scene(stage, listener, asked.source, overwrite=asked.overwrite), file)]
    if asked.pareto:
        for share in PARETO:
            found += _train_at(asked, stage, min(share * stage.scene.method.accuracy, LOOSEST), listener, warn)
    return found


def _train_at(asked: Asked, stage: Stage, accuracy: float, listener: Listener, warn: Say) -> list[Contestant]:
    """The scene's method trained to another accuracy, from the same runs; none where that cannot be done."""
    scene = stage.scene
    method = scene.method.model_copy(update={"tolerance": accuracy, "rank": None, "elements": None})
    other = replace(stage, scene=scene.model_copy(update={"method": method}))
    label = f"{method.name}, {to_percent(accuracy)}"
    if method.name == "skipping":
        return [Contestant(label, add_solver(other))]
    try:
        return [
            Contestant(
                label, add_solver(other, train_scene(other, None, listener, asked.source, overwrite=asked.overwrite))
            )
        ]
    except TrainingError as error:
        warn(f"warning: {label} is left out: {error}")
        return []


def _save_plots(folder: Path | None, plots: Mapping[str, Plot], permit: Permit) -> list[Path]:
    """The plots as files of their own."""
    if folder is None:
        return []
    files = {folder / f"{name}.svg": plot.bright for name, plot in plots.items()}
    for path in files:
        permit.ask(path)
    for path, picture in files.items():
        save_bytes(path, picture)
        permit.done(path)
    return list(files)
