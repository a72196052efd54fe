"""Trained models where a scene needs one: named, found beside the scene, or trained and left there."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from supple.errors import FileFormatError, SuppleWarning, TrainingError
from supple.io.files import probe_folder
from supple.io.model_file import load_model, save_model
from supple.method import ReducedModel
from supple.scene.build import Built, Stage, add_solver
from supple.scene.kernels import announce_compilation
from supple.scene.progress import Listener, SilentListener
from supple.scene.training import train_model

__all__ = ["default_model", "prepare_scene", "train_scene"]


def prepare_scene(stage: Stage, listener: Listener | None = None, source: Path | None = None) -> Built:
    """The stage with its solver; a reduced one gets the model it names, or the one beside `source`, the scene's file.

    Where none is there that fits, one is trained and stored (without a `source`: trained only).
    """
    listener = listener or SilentListener()
    method = stage.scene.method
    if method.name == "full":
        return add_solver(stage)
    if method.model is not None:
        model = load_model(method.model, stage.body)
        _present(model, Path(method.model), method.accuracy, listener)
        return add_solver(stage, model)
    path = None if source is None else default_model(source)
    found = None if path is None else _find(stage, path, listener)
    return add_solver(stage, found or train_scene(stage, path, listener))


def train_scene(stage: Stage, path: Path | None, listener: Listener) -> ReducedModel:
    """A model of the scene, trained now and stored at `path`; runs are cached beside it unless the scene says where."""
    if path is not None:
        probe_folder(path)
    cache = stage.scene.training.cache
    folder = Path(cache) if cache else None if path is None else path.with_name(f"{_stem(path)}.training")
    with announce_compilation(listener.say):
        model = train_model(stage, cache=folder, listener=listener)
    model = replace(model, facts={**model.facts, "loads_stamp": stamp_loads(stage)})
    if path is not None:
        listener.say(f"wrote {save_model(path, model, stage.body)}")
    return model


def default_model(source: Path) -> Path:
    """Where the model of a scene file lies when nothing else is said."""
    return source.with_name(f"{_stem(source)}.model.npz")


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def stamp_loads(stage: Stage) -> str:
    """Fingerprint of what a model is trained for beside the body: all that acts on it, and the time step."""
    keys = {"gravity", "units", "up_axis", "pin", "force", "start", "time", "training"}
    tables: dict[str, Any] = stage.scene.model_dump(mode="json", include=keys)
    tables["time"].pop("frames")
    tables["training"] = tables["training"]["load"]
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def _find(stage: Stage, path: Path, listener: Listener) -> ReducedModel | None:
    """The model at `path` if it serves this scene as accurately as it asks; why not is said."""
    if not path.exists():
        return None
    try:
        model = load_model(path, stage.body)
    except (FileFormatError, TrainingError) as error:
        listener.say(f"{str(error).rstrip('.')}: done now")
        return None
    reason = _unfit(stage, model)
    if reason is not None:
        listener.say(f"{path} {reason}: training again")
        return None
    _present(model, path, stage.scene.method.accuracy, listener)
    return model


def _unfit(stage: Stage, model: ReducedModel) -> str | None:
    """Why a model of this body is not the one the scene asks for."""
    method = stage.scene.method
    if model.facts.get("loads_stamp") != stamp_loads(stage):
        return "was trained for other loads, pins or time steps"
    if method.rank not in (None, model.basis.rank):
        return f"has rank {model.basis.rank} instead of {method.rank}"
    if method.elements is not None and model.rule.size > method.elements:
        return f"has {model.rule.size} elements instead of at most {method.elements}"
    tried = float(model.facts.get("tolerance", 1.0))
    if min(tried, 1.0 if model.error is None else model.error) > method.accuracy:
        return f"was trained to {100 * tried:.3g} % where {100 * method.accuracy:.3g} % is asked for"
    return None


def _present(model: ReducedModel, path: Path, accuracy: float, listener: Listener) -> None:
    """Say what a model is worth, and warn where that is less than the scene asks for."""
    known = "" if model.error is None else f", error {100 * model.error:.3g} % on held-out cases"
    listener.say(f"using {path}: rank {model.basis.rank}, {model.rule.size} elements{known}")
    if model.error is not None and model.error > accuracy:
        warnings.warn(
            f"{path} has an error of {100 * model.error:.3g} % on held-out cases where {100 * accuracy:.3g} % is asked "
            "for: train again with more training.cases, or ask for a larger tolerance.",
            SuppleWarning,
            stacklevel=3,
        )
