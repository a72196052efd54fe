"""What a scene may write, and the files of its recordings that are there already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from supple.errors import OutputError
from supple.io.cache import list_recording
from supple.io.permit import Permit
from supple.scene.bodies import split_bodies
from supple.scene.schema import Scene

__all__ = ["ask_outputs", "checkpoint_path", "make_permit", "stamped", "timeline_path"]


def make_permit(scene: Scene, source: Path | None, overwrite: bool) -> Permit:
    """What a scene under its method may write; `source` is its file, None where it has none."""
    bodies = split_bodies(scene).values() if scene.body else [scene]
    return Permit(source or _fingerprint(scene), " + ".join(one.method.name for one in bodies), overwrite)


def _fingerprint(scene: Scene) -> str:
    """What tells scenes without a file apart; how long they run and what they write does not."""
    keys = scene.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude={"output": True, "time": {"frames"}}
    )
    return f"scene {hashlib.sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()[:16]}"


def checkpoint_path(outputs: Sequence[Path]) -> Path | None:
    """Where the checkpoint of a run with these outputs lies; a run without outputs leaves none."""
    return outputs[0].with_name(f"{outputs[0].name}.checkpoint.npz") if outputs else None


def timeline_path(outputs: Sequence[Path]) -> Path | None:
    """Where the timeline of a run with these outputs lies; a run without outputs leaves none."""
    return outputs[0].with_name(f"{outputs[0].name}.timeline.json") if outputs else None


def stamped(path: Path) -> Path:
    """What the stamp of a recording is named after: `name.obj` stands for name.0000.obj, ... and is no file of it."""
    return path.with_name(f"{path.stem}.####.obj") if path.suffix.lower() == ".obj" else path


def ask_outputs(permit: Permit, outputs: Sequence[Path], frames: int) -> list[str]:
    """Refuse outputs of a run of so many frames that would replace what is not its own; what it replaces, in words."""
    said = []
    for path in outputs:
        beside, foreign = list_recording(path, frames)
        if foreign and not permit.overwrite:
            raise OutputError(
                f"{foreign[0]} would be replaced by a frame of {path}, and supple did not write it: name another "
                "output, or give  --overwrite  (in Python, overwrite=True)."
            )
        if path == outputs[0]:
            beside += [one for one in (checkpoint_path(outputs), timeline_path(outputs)) if one is not None]
        words = permit.ask(stamped(path), beside)
        said += [] if words is None else [words]
    return said
