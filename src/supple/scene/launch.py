"""From a file on the command line to a finished run: what `supple run` does."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from supple.errors import ConvergenceError, OutputError, SceneError
from supple.io.files import probe_folder, writing
from supple.io.lock import refuse_locked
from supple.io.permit import Permit
from supple.linalg.work_clock import work_clock
from supple.scene.build import set_stage
from supple.scene.change import check_changes
from supple.scene.defaults import is_mesh_file, open_allowed
from supple.scene.doctor import Finding, diagnose
from supple.scene.method_table import MethodName
from supple.scene.permission import ask_outputs, make_permit
from supple.scene.prepare import bare_name, default_model, prepare_scene
from supple.scene.progress import Listener, tell_span
from supple.scene.record import probe_outputs
from supple.scene.replay import check_events, load_events
from supple.scene.run import RunResult, run_scene
from supple.scene.schema import Scene
from supple.scene.section import change_files
from supple.scene.stage import Built
from supple.scene.timeline import tell_timeline
from supple.scene.toml import write_toml

__all__ = ["Launch", "launch", "save_scene"]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Launch:
    """What is asked for besides what the scene says."""

    source: Path  #: a scene, or a mesh that gets the default scene
    outputs: Sequence[Path] = ()  #: instead of the scene's own
    changes: dict[str, Any] | None = None  #: keys and tables that override the scene's
    method: MethodName | None = None  #: instead of the scene's
    resume: bool = False
    replay: Path | None = None
    write_scene: Path | None = None
    json: Path | None = None  #: where the result is written for programs
    allow_code: bool = False  #: Python files that the scene names may be run
    overwrite: bool = False  #: files that supple did not write for this scene and method may be replaced
    detailed: bool = False  #: say everything that was chosen, not three lines of it


def launch(asked: Launch, listener: Listener, say: Say, warn: Say) -> dict[str, Any]:
    """Check, build, diagnose and run a scene; the result by name."""
    scene = open_allowed(asked.source, asked.changes, asked.allow_code, say)
    scene = scene if asked.method is None else scene.under(asked.method)
    permit = make_permit(scene, asked.source, asked.overwrite)
    outputs = _choose_outputs(asked, scene, permit)
    probe_outputs(outputs)
    save = _choose_model(asked, scene, permit, warn)
    model = scene.method.model or (None if scene.method.name in ("full", "skipping") else default_model(asked.source))
    learned = None if save is None or str(save) == model else save  # what was learned may take its own place
    written = [*outputs, *(path for path in (asked.write_scene, asked.json, learned) if path is not None)]
    solids = [*(table.file for table in scene.collider), *(scene.examples.files if scene.examples else ())]
    solids += [table.mesh.file for table in scene.body if table.mesh is not None]
    _protect_inputs(written, [asked.source, asked.replay, scene.mesh.file, scene.mesh.render, model, *solids])
    if asked.json is not None and asked.json.resolve() in {path.resolve() for path in outputs}:
        raise OutputError(f"{asked.json} is both an output and the --json file: name another.")
    if save is not None and save.resolve() in {path.resolve() for path in outputs}:
        raise OutputError(f"{save} is both an output and where the model goes: name another.")
    refuse_locked(outputs)
    if not asked.resume:
        ask_outputs(permit, outputs, scene.time.frames)
    events = None if asked.replay is None else load_events(asked.replay)
    _show_scene(asked, scene, permit.under("scene"), say)
    stage = set_stage(scene)
    check_events(events or {}, stage.drive, scene.time.frames)
    check_changes(scene, events or {})
    for line in stage.describe() if asked.detailed else stage.summary():
        say(line)
    findings = refuse_errors(diagnose(stage))
    for finding in findings:
        if finding.severity == "warning":
            warn(f"warning: {finding.text}")
    built = prepare_scene(stage, listener, asked.source, overwrite=asked.overwrite)
    for line in built.solver.describe()[: None if asked.detailed else 1]:
        say(line)
    begin = work_clock()
    try:
        result = run_scene(
            built,
            outputs,
            resume=asked.resume,
            events=events,
            listener=listener,
            source=asked.source,
            overwrite=asked.overwrite,
        )
    except ConvergenceError:
        warn(f"the frames before the failure are kept in {', '.join(map(str, outputs))}")
        raise
    if asked.detailed:
        for line in (*tell_timeline(result.rows), *_tell_bodies_time(result)):
            say(line)
    for text in _find_unconverged(result):
        warn(f"warning: {text}")
    say(_closing_line(result, asked, work_clock() - begin))
    return _result_facts(built, result, findings)


def refuse_errors(findings: list[Finding]) -> list[Finding]:
    """The findings, if none of them makes a run pointless."""
    for finding in findings:
        if finding.severity == "error":
            raise SceneError(finding.text)
    return findings


def _choose_outputs(asked: Launch, scene: Scene, permit: Permit) -> list[Path]:
    """The files to write: those asked for, the scene's own, or one named after the source."""
    if asked.outputs:
        return list(asked.outputs)
    if scene.output.files:
        files = [Path(name) for name in scene.output.files]
        for path in files:
            permit.keep_inside(path)
        return files
    return [Path(f"{bare_name(asked.source)}.usdc")]


def _choose_model(asked: Launch, scene: Scene, permit: Permit, warn: Say) -> Path | None:
    """Where the model goes that a run learns."""
    if scene.method.save is None:
        return None
    if scene.method.name != "skipping":
        warn('warning: method.save and --save-model are for method.name = "skipping" alone: no model is written')
        return None
    path = Path(scene.method.save)
    if path.suffix.lower() != ".npz":
        raise OutputError(f"{path} is no name for a model: end it in .npz.")
    if "save" not in (asked.changes or {}).get("method", {}):
        permit.keep_inside(path)
    probe_folder(path)
    permit.ask(path)
    return path


def _protect_inputs(outputs: Sequence[Path], inputs: Sequence[object]) -> None:
    """Refuse an output that would replace a file the run reads, itself or by one of its numbered frames."""
    read = {Path(name).resolve() for name in inputs if isinstance(name, str | Path)}
    for path in outputs:
        numbered = {".pvd": rf"{re.escape(path.stem)}_\d+\.vtu", ".obj": rf"{re.escape(path.stem)}\.\d+\.obj"}
        frames = re.compile(numbered.get(path.suffix.lower(), r"(?!)"))
        for source in read:
            if path.resolve() == source or (path.resolve().parent == source.parent and frames.fullmatch(source.name)):
                raise OutputError(f"{source.name} is what the run reads and would be overwritten: name another output.")


def _show_scene(asked: Launch, scene: Scene, permit: Permit, say: Say) -> None:
    """Print the default scene of a bare mesh, and save the scene where that was asked for."""
    comment = f"What  supple run {asked.source}  simulates."
    if is_mesh_file(asked.source):
        text = write_toml(scene.keys(), comment)
        say(f"no scene was given, so this one is run (--write-scene FILE keeps it):\n\n{text}")
    if asked.write_scene is not None:
        permit.ask(asked.write_scene)
        save_scene(asked.write_scene, scene, comment)
        permit.done(asked.write_scene)
        say(f"wrote {asked.write_scene}")


def save_scene(path: Path, scene: Scene, comment: str) -> None:
    """Write a scene as TOML; the files it names are found from there."""
    if path.suffix.lower() != ".toml":
        raise OutputError(f"{path} is no name for a scene: end it in .toml.")
    folder = path.resolve().parent
    moved = change_files(scene, lambda name: os.path.relpath(Path(name).resolve(), folder))
    with writing(path):
        path.write_text(write_toml(moved.keys(), comment), encoding="utf-8")


def _closing_line(result: RunResult, asked: Launch, seconds: float) -> str:
    """How many frames were simulated in what time, which files they are in, and what to do next."""
    count = len(result.rows)
    facts = [f"{result.ms_per_frame:.3g} ms each (median)", *tell_timeline(result.rows)[:1], *_tell_share(result)]
    files = [str(path) for path in (*result.files, result.timeline, result.model) if path is not None]
    done = f"{count} frame{'s' * (count != 1)} in {tell_span(seconds)} ({'; '.join(facts)}): wrote {', '.join(files)}"
    if result.stopped:
        return f"{done}; stopped at frame {result.frame}, go on with:  {_resume_command(asked)}"
    film = result.files[0].with_suffix(".gif")
    return f"{done}; next:  {shlex.join(['supple', 'render', str(result.files[0]), '-o', str(film)])}"


def _tell_share(result: RunResult) -> list[str]:
    """How much of the body was in full space, for a method that solves both ways at once."""
    shares = [row.full_share for row in result.rows]
    if not any(0.0 < share < 1.0 for share in shares):
        return []
    mean, active = 100 * sum(shares) / len(shares), sum(share > 0.0 for share in shares)
    return [
        f"full space: {mean:.3g} % of the unknowns on average, {100 * max(shares):.3g} % at most, in {active} of "
        f"{len(shares)} frames"
    ]


def _tell_bodies_time(result: RunResult) -> list[str]:
    """What each of several bodies cost."""
    names = list(result.rows[0].body_contacts) if result.rows else []
    shares = [
        f"{label} {sum(row.phases.get(phase, 0.0) for row in result.rows) / len(result.rows):.1f} ms"
        for label, phase in (*zip(names, names, strict=True), ("between them", "between bodies"))
    ]
    return [f"a frame on average: {', '.join(shares)}"] if names else []


def _find_unconverged(result: RunResult) -> list[str]:
    """That contact did not converge, where it did not."""
    rows = [row for row in result.rows if not row.contact_settled]
    if not rows:
        return []
    return [
        f"contact did not converge in {len(rows)} of {len(result.rows)} frames, first in frame {rows[0].frame}: "
        "use more substeps"
    ]


def _resume_command(asked: Launch) -> str:
    """The command line that goes on where this run stopped."""
    changes = asked.changes or {}
    options = {
        "--method": asked.method,
        "--model": changes.get("method", {}).get("model"),
        "--save-model": changes.get("method", {}).get("save"),
        "--frames": changes.get("time", {}).get("frames"),
        "--units": changes.get("units"),
        "--up-axis": changes.get("up_axis"),
        "--replay": asked.replay,
    }
    words = ["supple", "run", str(asked.source), *(word for path in asked.outputs for word in ("-o", str(path)))]
    words += [word for option, value in options.items() if value is not None for word in (option, str(value))]
    return shlex.join([*words, *(["--allow-code"] if asked.allow_code else []), "--resume"])


def _tell_bodies(built: Built, result: RunResult) -> dict[str, Any]:
    """What each of several bodies is and costs."""
    count = max(len(result.rows), 1)
    return {
        name: {
            "method": one.solver.name,
            "vertices": len(one.mesh.vertices),
            "tetrahedra": len(one.mesh.tets),
            "mass_kg": float(one.body.mass.sum()),
            "ms_per_frame": sum(row.phases.get(name, 0.0) for row in result.rows) / count,
            "contacts": sum(row.body_contacts.get(name, 0) for row in result.rows) / count,
        }
        for name, one in built.members.items()
        if isinstance(one, Built)
    }


def _result_facts(built: Built, result: RunResult, findings: list[Finding]) -> dict[str, Any]:
    """The result of a run for programs."""
    return {
        "frame": result.frame,
        "stopped": result.stopped,
        "failed": result.stopped,
        "files": [str(path) for path in result.files],
        "checkpoint": None if result.checkpoint is None else str(result.checkpoint),
        "method": built.solver.name,
        "solver": built.solver.describe(),
        "model": None if built.model is None else built.model.facts,
        "vertices": len(built.mesh.vertices),
        "tetrahedra": len(built.mesh.tets),
        "pinned": len(built.body.pins.vertices),
        "mass_kg": float(built.body.mass.sum()),
        "step_s": built.scene.time.step,
        "metres_per_unit": built.scene.metres,
        "up_axis": built.scene.up_axis,
        "ms_per_frame": result.ms_per_frame,
        "bodies": _tell_bodies(built, result),
        "learned": None if result.model is None else str(result.model),
        "timeline": None if result.timeline is None else str(result.timeline),
        "findings": [asdict(finding) for finding in findings],
        "rows": [asdict(row) for row in result.rows],
    }
