"""Trained models where a scene needs one: named, found beside the scene, or trained and left there."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from supple.errors import FileFormatError, OutputError, SuppleWarning, TrainingError
from supple.io.articulated_file import is_articulated_file, load_articulated, save_articulated
from supple.io.fallback_places import fallback_places, make_fallback_folder
from supple.io.files import make_folder, probe_folder, write_atomically
from supple.io.model_file import load_model, save_model
from supple.io.permit import Permit
from supple.io.posespace_file import load_posespace, save_posespace
from supple.io.skinned_file import load_skinned, save_skinned
from supple.linalg.work_clock import work_clock
from supple.method import (
    ArticulatedModel,
    PoseSpaceModel,
    ReducedModel,
    SkippingSolver,
    TrainedModel,
    count_elements,
    count_rank,
)
from supple.scene.kept import cache_folder
from supple.scene.kernels import announce_compilation
from supple.scene.permission import make_permit
from supple.scene.progress import Listener, SilentListener
from supple.scene.schema import Scene
from supple.scene.solvers import add_solver, join_solvers
from supple.scene.stage import Built, Stage
from supple.scene.training import train_model
from supple.scene.training_poses import train_posespace
from supple.scene.training_table import TrainingTable

__all__ = ["bare_name", "default_model", "load_named", "prepare_scene", "save_learned", "save_trained", "train_scene"]

OTHER_LOADS = "was trained for other loads, pins, motions or time steps"


def prepare_scene(
    stage: Stage, listener: Listener | None = None, source: Path | None = None, *, overwrite: bool = False
) -> Built:
    """The stage with its solver; a reduced one gets the model it names, or the one beside `source`, the scene's file.

    Where none is there that fits, one is trained and stored (without a `source`: trained only). It takes the place of
    one that the same scene and method left there, or with `overwrite` of any.
    """
    listener = listener or SilentListener()
    if stage.members:
        return join_solvers(
            stage, {name: _prepare_body(stage, name, listener, source, overwrite) for name in stage.members}
        )
    method = stage.scene.method
    if method.is_projective:
        return _prepare_projective(stage, listener)
    if method.name == "full" or (method.name == "skipping" and method.model is None):
        return add_solver(stage)
    if method.name == "skipping":
        model = _load(stage, Path(str(method.model)))
        listener.say(f"begins with {method.model}: rank {count_rank(model)}, {count_elements(model)} elements")
        return add_solver(stage, model)
    if method.model is not None:
        return add_solver(stage, load_named(stage, Path(method.model), listener))
    path = None if source is None else default_model(source)
    found = None if path is None else _find(stage, path, listener)
    return add_solver(stage, found or train_scene(stage, path, listener, source, overwrite=overwrite))


def _prepare_body(stage: Stage, name: str, listener: Listener, source: Path | None, overwrite: bool) -> Built:
    """One of several bodies with its solver; its model lies beside the scene, called by both."""
    own = None if source is None else source.with_name(f"{bare_name(source)}.{name}{source.suffix}")
    return prepare_scene(stage.members[name], listener, own, overwrite=overwrite)


def _prepare_projective(stage: Stage, listener: Listener) -> Built:
    """The stage with a solver that needs no training, and a word on how long that took."""
    with announce_compilation(listener.say):
        begin = work_clock()
        built = add_solver(stage)
    for line in built.said:
        listener.say(line)
    listener.say(f"prepared in {work_clock() - begin:.2g} s, without training")
    return built


def load_named(stage: Stage, path: Path, listener: Listener) -> TrainedModel:
    """The model that somebody chose for this scene; a warning tells where its figures do not hold here."""
    model = _load(stage, path)
    _present(stage, model, path, listener)
    if model.facts.get("loads_stamp", stamp_loads(stage)) != stamp_loads(stage):
        warnings.warn(
            f"{path} {OTHER_LOADS}, so its error here is not known: train one for this scene, or see what  supple "
            "compare  measures.",
            SuppleWarning,
            stacklevel=3,
        )
    return model


def train_scene(
    stage: Stage, path: Path | None, listener: Listener, source: Path | None = None, *, overwrite: bool = False
) -> TrainedModel:
    """A model of the scene, trained now and stored at `path`.

    Runs are cached where the scene says, or beside `source`, its file. What lies there is replaced where the same scene
    and method wrote it, or with `overwrite`.
    """
    permit = make_permit(stage.scene, source, overwrite)
    if stage.scene.method.name == "condensation":
        permit = permit.under("reduced")  # whose model it takes
    if path is not None:
        probe_folder(path)
        words = permit.ask(path)
        if words is not None:
            listener.say(words)
    cache = stage.scene.training.cache
    folder = Path(cache) if cache else None if source is None else _beside(source, ".training")
    if folder is not None:
        _take_cache(folder, permit.under("training"), named=bool(cache))
    with announce_compilation(listener.say):
        train = train_posespace if stage.scene.method.name == "posespace" else train_model
        model = train(_untouched(stage), cache=folder, listener=listener)
    noted = {"loads_stamp": stamp_loads(stage), "asked": _tell_settings(stage.scene)}
    model = replace(model, facts={**model.facts, **noted})
    if path is not None:
        _store(stage, path, model, listener, permit)
        _write_seconds(_seconds_file(path), model)
    return model


def _take_cache(folder: Path, permit: Permit, named: bool) -> None:
    """Refuse a folder for full-space runs that the scene names elsewhere, or that holds files of others."""
    if named:
        permit.keep_inside(folder)
    probe_folder(folder / "case-0000.npz")
    permit.ask_folder(folder, "*.npz")
    make_folder(folder / "case-0000.npz")
    permit.done(folder)


def _store(stage: Stage, path: Path, model: TrainedModel, listener: Listener, permit: Permit) -> None:
    """Write a model; where its own place takes none, it is kept where there is room, and the error says so."""
    try:
        listener.say(f"wrote {save_trained(stage, path, model)}")
    except OutputError as error:
        for place in fallback_places(path, cache_folder()):
            try:
                make_fallback_folder(place)
                kept = save_trained(stage, place, model)
            except (OutputError, OSError):
                continue
            raise OutputError(f"{error} The model is kept in {kept}.") from error
        raise
    permit.done(path)


def _untouched(stage: Stage) -> Stage:
    """What a model learns from: of a body that is full where it is touched, what happens while nothing does."""
    if stage.scene.method.name != "condensation":
        return stage
    method = stage.scene.method.model_copy(update={"name": "reduced", "radius": None})
    ruled = stage.contact is not None and stage.contact.rules  # rules have to be learned from what touches itself
    contact, settings = (stage.scene.contact, stage.contact) if ruled else (None, None)
    scene = stage.scene.model_copy(update={"collider": [], "contact": contact, "method": method})
    return replace(stage, scene=scene, drive=replace(stage.drive, obstacles=()), contact=settings)


def save_learned(built: Built, state: Any, listener: Listener) -> Path | None:
    """What a run that skips steps has learned in `state`, its last, as a model where the scene asks for it."""
    path = built.scene.method.save
    if path is None or not isinstance(built.solver, SkippingSolver):
        return None
    model = built.solver.tell_learned(state)
    if model is None:
        listener.say(f"nothing was learned of the body as it is pinned in the scene, so {path} is not written")
        return None
    model = replace(model, facts={**model.facts, "loads_stamp": stamp_loads(built)})
    return save_model(Path(path), model, built.body)


def _load(stage: Stage, path: Path) -> TrainedModel:
    """The model in a file, with the seconds that its training took where these are known; one for another body or rig
    than the stage's is refused."""
    rigging = stage.drive.rigging
    model: TrainedModel
    if rigging is None:
        model = load_model(path, stage.body)
    elif stage.scene.method.name == "posespace":
        model = load_posespace(path, stage.body, rigging.rig)
    elif is_articulated_file(path):
        model = load_articulated(path, stage.body, rigging.skin)
    else:
        model = load_skinned(path, stage.body, rigging.skin)
    with suppress(OSError, ValueError, TypeError, LookupError):
        noted = json.loads(_seconds_file(path).read_text(encoding="utf-8"))
        if noted["model"] == model.hash():
            seconds = {str(phase): float(spent) for phase, spent in noted["seconds"].items()}
            model = replace(model, facts={**model.facts, "seconds": seconds})
    return model


def _seconds_file(path: Path) -> Path:
    """Where the seconds stand that training a model took: among its runs, as its own bytes hang on no clock."""
    return path.with_name(f"{path.name.removesuffix('.npz').removesuffix('.model')}.training") / "seconds.json"


def _write_seconds(file: Path, model: TrainedModel) -> None:
    """Keep the seconds of a training where its runs are kept."""
    if file.parent.is_dir():
        text = json.dumps({"model": model.hash(), "seconds": model.facts["seconds"]})
        write_atomically(file, [text.encode()])


def save_trained(stage: Stage, path: Path, model: TrainedModel) -> Path:
    """Write a model of the stage's body, without the seconds that its training took; where it lies."""
    rigging = stage.drive.rigging
    model = replace(model, facts={name: fact for name, fact in model.facts.items() if name != "seconds"})
    if isinstance(model, ReducedModel):
        return save_model(path, model, stage.body)
    assert rigging is not None
    if isinstance(model, PoseSpaceModel):
        return save_posespace(path, model, stage.body, rigging.rig)
    if isinstance(model, ArticulatedModel):
        return save_articulated(path, model, stage.body, rigging.skin)
    return save_skinned(path, model, stage.body, rigging.skin)


def default_model(source: Path) -> Path:
    """Where the model of a scene file lies when nothing else is said."""
    return _beside(source, ".model.npz")


def _beside(source: Path, ending: str) -> Path:
    """What is made from a file lies beside it, or among what is kept where that folder takes no files."""
    own, folder = source.with_name(f"{bare_name(source)}{ending}"), cache_folder()
    if folder is None or own.exists() or not source.exists() or os.access(source.parent, os.W_OK):
        return own
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{bare_name(source)}-{hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:12]}{ending}"


def bare_name(source: Path) -> str:
    """The name of a scene or mesh file without its suffix, which files made from it begin with."""
    return Path(source.name.removesuffix(".gz")).stem


def stamp_loads(stage: Stage) -> str:
    """Fingerprint of what a model learns from beside the body: all that acts on it in training, and the time step."""
    keys = {"gravity", "units", "up_axis", "pin", "force", "collider", "contact", "start", "time", "training"}
    tables: dict[str, Any] = _untouched(stage).scene.model_dump(mode="json", include=keys)
    tables["time"].pop("frames")
    tables["training"] = tables["training"]["load"]
    if stage.drive.rigging is not None:
        tables["rig"] = stage.drive.rigging.digest()
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def _tell_settings(scene: Scene) -> dict[str, Any]:
    """What training was asked for beside its tolerance and its loads, as JSON has it."""
    training = scene.training.model_dump(mode="json", exclude={"load", "cache"})
    method = scene.method.model_dump(mode="json", include={"rank", "elements"})
    return {
        f"{name}.{key}": value
        for name, table in (("training", training), ("method", method))
        for key, value in table.items()
    }


def _find(stage: Stage, path: Path, listener: Listener) -> TrainedModel | None:
    """The model at `path` if it serves this scene as accurately as it asks; why not is said."""
    if not path.exists():
        return None
    try:
        model = _load(stage, path)
    except (FileFormatError, TrainingError) as error:
        listener.say(f"{str(error).rstrip('.')}: done now")
        return None
    reason = _unfit(stage, model)
    if reason is not None:
        listener.say(f"{path} {reason}: training again")
        return None
    _present(stage, model, path, listener)
    return model


def _unfit(stage: Stage, model: TrainedModel) -> str | None:
    """Why a model of this body is not the one the scene asks for; mere defaults ask for nothing."""
    scene, method = stage.scene, stage.scene.method
    if model.facts.get("loads_stamp") != stamp_loads(stage):
        return OTHER_LOADS
    rank = model.facts.get("rank", count_rank(model))
    if method.rank not in (None, rank):
        return f"has rank {rank} instead of {method.rank}"
    if method.elements is not None and count_elements(model) > method.elements:
        return f"has {count_elements(model)} elements instead of at most {method.elements}"
    asked, own = model.facts.get("asked", {}), _tell_settings(scene)
    for key in (f"training.{name}" for name in TrainingTable.model_fields if name in scene.training.model_fields_set):
        if key in own and asked.get(key) != own[key]:
            return f"was trained with {key} = {asked.get(key)} instead of {own[key]}"
    accuracy, tried = _accuracy(stage, model), float(model.facts.get("tolerance", 1.0))
    if model.error is not None and model.error <= accuracy:
        return None
    if tried > accuracy:
        return f"was trained to {100 * tried:.3g} % where {100 * accuracy:.3g} % is asked for"
    return None if asked == own else "missed its tolerance with other settings"


def _accuracy(stage: Stage, model: TrainedModel) -> float:
    """The error that is asked of a model: the scene's, or what the model was trained to where the scene has none."""
    method = stage.scene.method
    trained = model.facts.get("tolerance")
    return method.accuracy if method.tolerance is not None or trained is None else float(trained)


def _present(stage: Stage, model: TrainedModel, path: Path, listener: Listener) -> None:
    """Say what a model is worth, and warn where that is less than the scene asks for."""
    accuracy = _accuracy(stage, model)
    known = "" if model.error is None else f", error {100 * model.error:.3g} % on held-out cases"
    listener.say(f"using {path}: rank {count_rank(model)}, {count_elements(model)} elements{known}")
    if model.error is not None and model.error > accuracy:
        warnings.warn(
            f"{path} has an error of {100 * model.error:.3g} % on held-out cases where {100 * accuracy:.3g} % is asked "
            "for: train again with more training.cases, or ask for a larger tolerance.",
            SuppleWarning,
            stacklevel=4,
        )
