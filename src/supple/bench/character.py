"""Characters from file to frames: reading, filling, training, simulating and writing your own (--mesh FILE or FOLDER).

Rows are of `supple run FILE` without its pre-roll; `first_s` is the time from file to the first simulated frame, and
`again_s` all that `supple run` takes the second time, in a process of its own, to that frame and its file. At size
"paper" a subspace is trained. Each row is printed as it is finished.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from supple.bench.character_files import find_characters
from supple.errors import SceneError, SuppleError, SuppleWarning
from supple.linalg.work_clock import work_clock
from supple.scene.build import set_stage
from supple.scene.defaults import open_scene
from supple.scene.kept import VARIABLE
from supple.scene.launch import save_scene
from supple.scene.load import override, parse_scene
from supple.scene.prepare import prepare_scene
from supple.scene.record import Recorder
from supple.scene.schema import Scene
from supple.scene.simulate import simulate, start_scene
from supple.scene.stage import Built

__all__ = ["run"]

Row = dict[str, Any]
SCENE = "character.toml"
_FRAMES = {"small": 6, "paper": 48}


def run(size: str, mesh: Path | None = None, steps: int | None = None) -> list[Row]:
    """A row for every character in the file or folder `mesh`, of so many frames; failures are rows, too."""
    if mesh is None:
        raise SceneError("the benchmark 'character' is of your own files: give --mesh FILE or --mesh FOLDER.")
    found = find_characters(mesh)
    if not found:
        raise SceneError(f"{mesh} holds no rigged character: give a .glb, .gltf or .usd file with a skin, or a folder.")
    rows = []
    for name, source in found.items():
        row = _measure(name, source, steps or _FRAMES[size], trained=size == "paper")
        said = (f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())
        print(", ".join(said), file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def _measure(name: str, source: Path | dict[str, Any], frames: int, *, trained: bool) -> Row:
    with tempfile.TemporaryDirectory(prefix="supple-bench-character-") as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        folder = Path(place)
        try:
            with _keeping(folder / "kept"):  # nothing of an earlier run helps the first start
                row = _play(name, source, frames, folder, trained=trained)
                return row | {"again_s": _start_again(folder)}
        except SuppleError as error:
            return {"file": name, "failed": str(error)}


@contextmanager
def _keeping(folder: Path) -> Iterator[None]:
    """What starts keep for later ones goes into a folder."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def _start_again(folder: Path) -> float:
    """Seconds that `supple run` takes for one frame of the scene in a folder, from the command to the file."""
    command = [sys.executable, "-P", "-m", "supple", "run", str(folder / SCENE), "--frames", "1"]
    begin = work_clock()
    done = subprocess.run([*command, "-o", str(folder / "again.usdc")], capture_output=True, text=True, check=False)
    taken = work_clock() - begin
    if done.returncode:
        raise SceneError(f"the second start failed: {done.stderr.strip()[-300:]}")
    return taken


def _play(name: str, source: Path | dict[str, Any], frames: int, folder: Path, *, trained: bool) -> Row:
    """One character through some frames; what is trained stays in the folder."""
    marks = [work_clock()]
    scene = _open(source, "reduced" if trained else None)
    save_scene(folder / SCENE, scene, name)
    marks.append(work_clock())
    stage = set_stage(scene)
    marks.append(work_clock())
    built = prepare_scene(stage, source=folder / SCENE)
    marks.append(work_clock())
    target = folder / "run.usdc"
    first, taken, begun, written = _simulate(built, frames, target)
    load, mesh, train = (after - before for before, after in pairwise(marks))
    figure, rigging = stage.source.figure, stage.drive.rigging
    drawn = stage.mesh.vertices if stage.source.render is None else stage.source.render.surface.vertices
    notes = [*(() if figure is None else figure.character.notes)]
    skeleton = None if rigging is None else rigging.posing.actor.skeleton
    return {
        "file": name,
        "vertices": len(drawn),
        "joints": 0 if skeleton is None else len(skeleton),
        "tets": len(stage.mesh.tets),
        "load_s": load,
        "mesh_s": mesh,
        "train_s": train,
        "frame_ms": taken,
        "write_s": written,
        "out_mb": sum(file.stat().st_size for file in folder.glob("run*")) / 1e6,
        "first_s": begun - marks[0] + first,
        "mended": len(notes),
    }


def _open(source: Path | dict[str, Any], method: str | None) -> Scene:
    """The scene of a character; `method` in place of its own."""
    change: dict[str, Any] = {"time": {"preroll": 0}} | ({} if method is None else {"method": {"name": method}})
    return open_scene(source, change) if isinstance(source, Path) else parse_scene(override(source, change))


def _simulate(built: Built, frames: int, target: Path) -> tuple[float, float, float, float]:
    """Seconds to the first frame, milliseconds of the median frame, when that began, and seconds of writing."""
    begin = work_clock()
    start = start_scene(built)
    first, count, written, times = 0.0, 0, 0.0, []
    with Recorder(built, [target]) as recorder:
        for now in simulate(built, start):
            first = first or work_clock() - begin
            times.append(now.row.ms if now.row is not None else 0.0)
            mark = work_clock()
            recorder.write(now)
            written += work_clock() - mark
            count += now.frame > 0
            if count >= frames:
                break
        mark = work_clock()
    return first, sorted(times)[len(times) // 2], begin, written + work_clock() - mark
