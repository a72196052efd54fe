"""From a file on the command line to a trained model: what `supple train` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from supple.errors import OutputError
from supple.scene.build import set_stage
from supple.scene.defaults import open_allowed
from supple.scene.doctor import diagnose
from supple.scene.launch import refuse_errors
from supple.scene.load import override, parse_scene
from supple.scene.prepare import default_model, train_scene
from supple.scene.progress import Listener
from supple.scene.schema import Scene

__all__ = ["launch_training"]

Say = Callable[[str], None]


def launch_training(
    source: Path,
    output: Path | None,
    changes: Mapping[str, Any],
    method: Mapping[str, Any],
    listener: Listener,
    say: Say,
    warn: Say,
    *,
    allow_code: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Check a scene, train its model and store it; the result by name.

    `changes` override the scene's keys, `method` those of its method once that is reduced.
    With `allow_code` Python files that the scene names may be run, with `overwrite` any model may be replaced.
    """
    path = output or default_model(source)
    if path.suffix.lower() != ".npz":
        raise OutputError(f"{path} is no name for a model: end it in .npz.")
    if path.resolve() == source.resolve():
        raise OutputError(f"{source} is what the training reads and would be overwritten: name another output.")
    stage = set_stage(_reduce(open_allowed(source, changes, allow_code, say), method, source))
    for line in stage.describe():
        say(line)
    for finding in refuse_errors(diagnose(stage)):
        if finding.severity == "warning":
            warn(f"warning: {finding.text}")
    model = train_scene(stage, path, listener, source, overwrite=overwrite)
    facts = {"scene": str(source), "vertices": len(stage.mesh.vertices), "tetrahedra": len(stage.mesh.tets)}
    return {**model.facts, **facts, "file": str(path)}


def _reduce(scene: Scene, method: Mapping[str, Any], source: Path) -> Scene:
    """The scene under the method in a subspace that suits it, with these keys of it."""
    reduced = scene.under(scene.subspace_method)
    return parse_scene(override(reduced.keys(), {"method": dict(method)}), str(source)) if method else reduced
