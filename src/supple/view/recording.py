"""What was seen, kept: the frames in a file, a film or a picture, and the events that make them again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from numba import get_num_threads

from supple.errors import OutputError
from supple.scene.draw import Drawing, draw_recording
from supple.scene.launch import save_scene
from supple.scene.prepare import save_trained
from supple.scene.record import Recorder
from supple.scene.replay import save_log
from supple.scene.stage import Built
from supple.solve import SetScene
from supple.view.take import Take

__all__ = ["EVENTS", "FORMATS", "save_events", "save_take"]

EVENTS = "events (to run again)"
FORMATS = (".usdc", ".glb", ".pc2", ".npz", ".obj", ".mp4", ".gif", ".png")
DRAWN = (".mp4", ".gif", ".png")


def save_take(take: Take, folder: Path, name: str, suffix: str, field: str = "", frame: int | None = None) -> Path:
    """Write the frames as `run` would; a film, or a picture of one frame, is drawn coloured by a field.

    The name is this function's choice: nothing of it comes from the page.
    """
    if take.first > max(take.begin, 0):
        raise OutputError(f"frames before {take.first} are not kept any more: save the events and run them again.")
    target = _free_name(folder, name, suffix)
    if suffix not in DRAWN:
        _record(take, target)
        return target
    with tempfile.TemporaryDirectory() as scratch:
        recording = Path(scratch) / "take.npz"
        _record(take, recording)
        one = max(frame or 0, 0) if suffix == ".png" else None
        draw_recording(recording, target, Drawing(frame=one, field=field or None))
    return target


def save_events(take: Take, folder: Path, source: Path) -> tuple[Path, str]:
    """Write scene, events and models; the log, and the command that makes the same frames of them."""
    log = _free_name(folder, source.stem, ".jsonl")
    first, *changed = _keep_models([built for _, built in take.versions], log)
    events, models = dict(take.log), iter(changed)
    for frame in sorted(events):
        events[frame] = tuple(
            _name_model(event, next(models)) if isinstance(event, SetScene) else event for event in events[frame]
        )
    save_log(log, events)
    scene = take.scene.scene
    if first is not None:
        method = scene.method.model_copy(update={"model": str(log.with_name(first))})
        scene = scene.model_copy(update={"method": method})
    save_scene(log.with_suffix(".toml"), scene, f"What was played as {log.name}.")
    last = max(take.now.frame, 1)
    threads = get_num_threads()  # with as many a factorisation gives the same bytes, too
    return log, f"supple run {log.with_suffix('.toml')} --replay {log} --frames {last} --threads {threads}"


def _keep_models(versions: list[Built], log: Path) -> list[str | None]:
    """Names of the files, beside the log, into which models go; None for a version that has none of its own."""
    names: list[str | None] = []
    for number, built in enumerate(versions):
        name = None
        if built.model is not None and all(built.model is not other.model for other in versions[:number]):
            name = save_trained(built, log.with_name(f"{log.stem}.{number}.model.npz"), built.model).name
        names.append(name)
    return names


def _name_model(event: SetScene, model: str | None) -> SetScene:
    if model is None:
        return event
    return SetScene({**event.changes, "method": {**event.changes.get("method", {}), "model": model}})


def _record(take: Take, target: Path) -> None:
    with Recorder(take.scene, [target], versions=take.versions) as recorder:
        for frame in take:
            recorder.write(frame)


def _free_name(folder: Path, name: str, suffix: str) -> Path:
    """The first of NAME-1, NAME-2, ... in which nothing lies yet."""
    number = 1
    while any(folder.glob(f"{name}-{number}.*")):
        number += 1
    return folder / f"{name}-{number}{suffix}"
