"""The command line: what each verb is called with; the work is done elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

import supple
from supple._console import WRONG_INPUT, Common, Console, perform

__all__ = ["app", "main"]

app = App(
    name="supple",
    help="Soft bodies simulated in small subspaces, with the error measured against the full solver.",
    version=supple.__version__,
)
Outputs = Annotated[list[Path] | None, Parameter(name=["--output", "-o"], negative="", consume_multiple=False)]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Method = Literal["full", "reduced", "skipping", "condensation", "posespace", "projective", "hyperreduced"]
DEFAULTS = Common()


@app.command
def demo(
    name: str | None = None,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    view_: Annotated[bool, Parameter(name="--view", negative="")] = False,
    common: Common = DEFAULTS,
) -> int:
    """Give a rigged character soft tissue, hold it against the full solver, and write a page and animations.

    Parameters
    ----------
    name
        Another demonstration, one for every method.
    output
        Folder to write to (default: supple-demo, and in it one for every name).
    list_
        List the demonstrations.
    view_
        Open it live in the browser instead, to pull at and to pose (needs the extra `view`).
    """
    from supple.scene.demo import lay_out_demo, run_demo
    from supple.scene.demo_table import DEMOS, FIRST

    def work(console: Console) -> Mapping[str, Any]:
        if list_:
            for one in DEMOS.values():
                console.say(f"{one.name:14} {one.about}")
            return {"demos": {one.name: one.about for one in DEMOS.values()}}
        folder = output or Path("supple-demo") / (name or "")
        if view_:
            from supple.view.launch import Look, view_file

            look = Look(lay_out_demo(folder, name or FIRST), {}, folder=folder)
            return view_file(look, console.listener, console.say, console.warn)
        return run_demo(folder, console.listener, console.say, name or FIRST)

    return perform(common, "demo", work)


@app.command
def run(
    scene: Path,
    /,
    *,
    output: Outputs = None,
    method: Method | None = None,
    model: Path | None = None,
    save_model: Path | None = None,
    frames: int | None = None,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    replay: Path | None = None,
    write_scene: Path | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Simulate a scene, or a mesh or rigged character with default settings.

    Parameters
    ----------
    scene
        Scene file (.toml), a mesh that then stands on its lowest 5 % under gravity, or a rigged character (.glb .usd).
    output
        File to write, its suffix is the format (.usdc .usda .npz .pvd .glb .pc2 .mdd .obj); may be given several times.
    method
        Use this method instead of the scene's; a reduced one is trained first where no model is found, projective and
        hyperreduced need no training.
    model
        Trained model (.npz) for a reduced method (default: NAME.model.npz beside the scene), or for skipping to begin
        with.
    save_model
        Leave what skipping has learned as a model (.npz), for later runs of the same body.
    frames
        Simulate so many frames instead of the scene's number.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    resume
        Go on from the checkpoint that a stopped run left.
    replay
        Events to feed in, one JSON object a line: {"frame": 12, "event": {...}}.
    write_scene
        Save the scene that is run as a .toml file.
    """
    from supple.scene.launch import Launch, launch

    tables = {
        "time": {"frames": frames},
        "method": {"model": _absolute(model), "save": _absolute(save_model)},
        "training": {"seed": common.seed},
    }
    changes = _given({"units": units, "up_axis": up_axis, **tables})
    json = None if common.json in (None, "-") else Path(str(common.json))
    asked = Launch(scene, output or (), changes, method, resume, replay, write_scene, json)
    return perform(common, "run", lambda console: launch(asked, console.listener, console.say, console.warn))


@app.command
def train(
    scene: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    tolerance: float | None = None,
    rank: int | None = None,
    elements: int | None = None,
    cases: int | None = None,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Train a reduced model of a scene to a wanted accuracy.

    Parameters
    ----------
    scene
        Scene file (.toml), or a mesh that then stands on its lowest 5 % under gravity.
    output
        Model to write (default: NAME.model.npz beside the scene, where run finds it).
    tolerance
        Error against the full solver on motions not trained on, such as 0.01.
    rank
        Size of the subspace, instead of what the tolerance needs.
    elements
        Most elements to take forces from, instead of what the tolerance needs.
    cases
        Motions to learn from.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    """
    from supple.scene.training_launch import launch_training

    method = _given({"tolerance": tolerance, "rank": rank, "elements": elements})
    training = {"cases": cases, "seed": common.seed}
    changes = _given({"units": units, "up_axis": up_axis, "training": training})
    return perform(
        common,
        "train",
        lambda console: launch_training(scene, output, changes, method, console.listener, console.say, console.warn),
    )


@app.command
def compare(
    scene: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    method: Method | None = None,
    frames: int | None = None,
    models: Annotated[list[Path] | None, Parameter(negative="", consume_multiple=True)] = None,
    pareto: Annotated[bool, Parameter(negative="")] = False,
    plots: Path | None = None,
    film: Annotated[bool, Parameter(negative="")] = False,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Run a scene under the full solver and a reduced one: error and time per frame, on a page.

    Parameters
    ----------
    scene
        Scene file (.toml), or a mesh that then stands on its lowest 5 % under gravity.
    output
        Page to write (default: NAME.compare.html).
    method
        Hold this method against the full solver (default: the scene's, or reduced).
    frames
        Simulate so many frames instead of the scene's number.
    models
        Trained models (.npz) to compare, instead of the scene's own.
    pareto
        Also train to looser and tighter accuracies and compare these.
    plots
        Folder that gets every plot as an .svg file too.
    film
        Show a film of both motions on the page.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    """
    from supple.scene.compare_launch import Asked, launch_comparison

    tables = {"time": {"frames": frames}, "training": {"seed": common.seed}}
    changes = _given({"units": units, "up_axis": up_axis, **tables})
    asked = Asked(scene, output, changes, method, models or (), pareto, plots, film)
    return perform(
        common, "compare", lambda console: launch_comparison(asked, console.listener, console.say, console.warn)
    )


@app.command
def mesh(
    surface: Path,
    /,
    *,
    output: Output,
    resolution: int | None = None,
    elements: int | None = None,
    conforming: Annotated[bool, Parameter(negative="")] = False,
    seconds: float = 300.0,
    gigabytes: float = 8.0,
    common: Common = DEFAULTS,
) -> int:
    """Fill a surface with tetrahedra.

    Parameters
    ----------
    surface
        Surface file (.obj .ply .off .stl .glb .usdc ...); holes and crossings do no harm.
    output
        Tetrahedra to write (.msh .mesh .vtu .npz .vtk .veg .ele .usdc ...).
    resolution
        Cells along the longest side.
    elements
        Number of tetrahedra to aim at (default 5000).
    conforming
        Keep to the surface, sharp edges included: needs the extra supple[mesh]; a surface it cannot take is repaired,
        then filled as without this.
    seconds
        Most time that the conforming mesher may take.
    gigabytes
        Most memory that the conforming mesher may take.
    """
    from supple.mesh import ConformLimits
    from supple.scene.fill import fill_surface

    def work(console: Console) -> Mapping[str, Any]:
        limits = ConformLimits(seconds, int(gigabytes * 2**30)) if conforming else None
        facts = fill_surface(surface, output, resolution, elements, console.listener.say, limits)
        _say_facts(console, facts)
        console.say(f"wrote {output}")
        return {"file": str(output), **facts}

    return perform(common, "mesh", work)


@app.command
def check(file: Path, /, *, fix: Path | None = None, common: Common = DEFAULTS) -> int:
    """Find what is wrong with a mesh, say what will come of it, and put it right.

    Parameters
    ----------
    file
        Tetrahedra or surface.
    fix
        Write the mesh here with all put right that can be, its suffix is the format.
    """
    from supple.scene.check import check_file

    def work(console: Console) -> Mapping[str, Any]:
        facts = check_file(file, fix)
        console.say(f"{file}: {facts['kind']}, {facts['vertices']:,} vertices, {facts['cells']:,} cells")
        for flaw in facts["flaws"]:
            console.say(f"{flaw.severity}: {flaw.text()}")
        if not facts["flaws"]:
            console.say("nothing to complain about")
        if fix is not None:
            for change in facts["changes"]:
                console.say(f"changed: {change}")
            for flaw in facts["left"]:
                console.say(f"left, {flaw.severity}: {flaw.text()}")
            console.say(f"wrote {fix}")
        plain: dict[str, Any] = {
            key: [flaw.facts() for flaw in facts[key]] for key in ("flaws", "left") if key in facts
        }
        return {**facts, **plain}

    return perform(common, "check", work)


@app.command
def convert(
    source: Path,
    target: Path,
    /,
    *,
    units: str | None = None,
    to_units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    to_up_axis: Literal["y", "z"] | None = None,
    fps: float | None = None,
    frame: int | None = None,
    group: Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)] = None,
    dialect: str | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Turn a mesh or a recording into another format.

    Parameters
    ----------
    source
        Tetrahedra, surface or recording.
    target
        File to write, its suffix is the format.
    units
        Length unit of the source (m, cm, mm, ...), instead of what it says or else metres.
    to_units
        Length unit of the target (default: the source's; metres for .glb).
    up_axis
        Which axis points up in the source, instead of what it says or else y.
    to_up_axis
        Which axis is to point up in the target (default: the source's; y for .glb).
    fps
        Frames a second, instead of the recording's; the frames stay the same.
    frame
        Write this one frame of a recording, as a mesh.
    group
        Take only this group of a surface; may be given several times.
    dialect
        Which form of the format (.msh: 2.2 2.2-binary 4.1 4.1-binary 1; .vtu: zlib base64 raw text; .vtk .ply .stl:
        binary text).
    """
    from supple.scene.convert import Conversion, convert_file

    asked = Conversion(units, to_units, up_axis, to_up_axis, fps, frame, group or (), dialect)

    def work(console: Console) -> Mapping[str, Any]:
        facts = convert_file(source, target, asked)
        _say_facts(console, facts)
        console.say(f"wrote {target}")
        return {"source": str(source), "file": str(target), **facts}

    return perform(common, "convert", work)


@app.command
def info(file: Path, /, *, common: Common = DEFAULTS) -> int:
    """Say what a mesh, scene, recording, checkpoint or trained model holds.

    Parameters
    ----------
    file
        The file.
    """
    from supple.scene.info import describe_file

    def work(console: Console) -> Mapping[str, Any]:
        facts = describe_file(file)
        _say_facts(console, facts)
        return {"file": str(file), **facts}

    return perform(common, "info", work)


@app.command
def doctor(
    scene: Path,
    /,
    *,
    units: str | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Check a scene (or a mesh with default settings) before it runs.

    Parameters
    ----------
    scene
        Scene file or mesh.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    """
    from supple.scene.doctor import examine

    def work(console: Console) -> Mapping[str, Any]:
        findings = examine(scene, _given({"units": units}))
        for finding in findings:
            console.say(f"{finding.severity}: {finding.text}")
        if not findings:
            console.say("nothing to complain about")
        failed = any(finding.severity == "error" for finding in findings)
        return {"scene": str(scene), "failed": failed, "findings": [asdict(finding) for finding in findings]}

    return perform(common, "doctor", work)


@app.command
def render(
    cache: Path,
    /,
    *,
    output: Output,
    frame: int | None = None,
    strip: int | None = None,
    field: Literal["displacement", "velocity", "J", "von_mises", "contact_force", "contact_depth"] | None = None,
    width: int | None = None,
    height: int | None = None,
    edges: Annotated[bool, Parameter(negative="")] = False,
    common: Common = DEFAULTS,
) -> int:
    """Draw a recorded run (or a mesh) without a display.

    Parameters
    ----------
    cache
        Recording (.usdc .usda .npz .pvd .glb .pc2 .mdd .obj) or mesh.
    output
        Picture (.png) or film (.gif .mp4).
    frame
        Frame of a single picture (default: the last).
    strip
        So many frames side by side instead.
    field
        Values that colour the surface.
    width
        Width in pixels, of each picture in a strip.
    height
        Height in pixels.
    edges
        Draw the triangles' edges.
    """
    from supple.scene.draw import Drawing, draw_recording

    def work(console: Console) -> Mapping[str, Any]:
        facts = draw_recording(cache, output, Drawing(frame, strip, field, width, height, edges))
        console.say(f"wrote {output}")
        return {**facts, "file": str(output)}

    return perform(common, "render", work)


@app.command
def view(
    file: Path,
    /,
    *,
    method: Method | None = None,
    model: Path | None = None,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    open_: Annotated[bool, Parameter(name="--open")] = True,
    play: bool = True,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path(),
    common: Common = DEFAULTS,
) -> int:
    """Play a scene in the browser: pull at it, change it, record it; or look at a recording.

    Parameters
    ----------
    file
        Scene file (.toml), a mesh that then stands on its lowest 5 % under gravity, or a recording.
    method
        Use this method instead of the scene's.
    model
        Trained model (.npz) for a reduced method (default: NAME.model.npz beside the scene).
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    host
        Address to listen at; the default can only be reached from this machine.
    port
        Port to listen at (default: any that is free).
    open_
        Open the page in the browser.
    play
        Begin to play as soon as the page is open.
    output
        Folder for what is recorded (default: this one).
    """
    from supple.view.launch import Look, view_file

    tables = {"method": {"model": _absolute(model)}, "training": {"seed": common.seed}}
    look = Look(file, _given({"units": units, "up_axis": up_axis, **tables}), method, host, port, open_, play, output)
    return perform(common, "view", lambda console: view_file(look, console.listener, console.say, console.warn))


@app.command
def bench(
    name: str | None = None,
    /,
    *,
    size: Literal["small", "paper"] = "small",
    mesh: Path | None = None,
    steps: int | None = None,
    plot: Path | None = None,
    only: str | None = None,
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    common: Common = DEFAULTS,
) -> int:
    """Run a benchmark and print its table, and before it each row as it is finished, where rows take long.

    Parameters
    ----------
    name
        Which one; without a name all are listed.
    size
        "small" takes seconds, "paper" the published sizes.
    mesh
        Tets, or a surface to fill, to use in place of a built-in shape; for benchmarks that take one.
    steps
        How many steps to run, for benchmarks of one motion.
    plot
        Folder for pictures, for benchmarks that draw some.
    only
        Words that rows shall have in common, such as "drop x10 clusters 1440"; for benchmarks that can be narrowed.
    list_
        List the benchmarks.
    """
    from supple._threads import available_threads
    from supple.bench import find_benchmarks, format_row, format_table, pick_benchmark, run_benchmark

    def work(console: Console) -> Mapping[str, Any]:
        if list_ or name is None:
            found = find_benchmarks()
            for benchmark in found.values():
                console.say(f"{benchmark.name:14} {benchmark.about}")
            return {"benchmarks": {benchmark.name: benchmark.about for benchmark in found.values()}}
        threads = common.threads or available_threads()
        chosen, asked = pick_benchmark(name), (mesh, steps, plot, only)
        result = run_benchmark(chosen, size, threads, *asked, lambda row: console.say(format_row(row)))
        console.say(format_table(result["rows"]))
        return result

    return perform(common, "bench", work)


def _absolute(path: Path | None) -> str | None:
    """A path from the command line as it is seen from a scene in any folder."""
    return None if path is None else str(path.absolute())


def _given(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that were asked for, tables without content left out."""
    kept = {key: _given(value) if isinstance(value, Mapping) else value for key, value in changes.items()}
    return {key: value for key, value in kept.items() if value is not None and value != {}}


def _say_facts(console: Console, facts: Mapping[str, Any], indent: str = "") -> None:
    """Print facts one a line, tables indented below their name."""
    for key, value in facts.items():
        label = f"{indent}{key.replace('_', ' ')}"
        if isinstance(value, Mapping):
            if value:
                console.say(f"{label}:")
                _say_facts(console, value, indent + "  ")
        elif value is not None and value != []:
            shown = _short_list(value) if isinstance(value, list) else _short(value)
            console.say(f"{label}: {shown}")


def _short_list(values: Sequence[object]) -> str:
    """The values side by side; of many the first and the last."""
    shown = [_short(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:4], "...", shown[-1]]) + (
        f" ({len(shown)} in all)" if len(shown) > 12 else ""
    )


def _short(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong command line or scene."""
    try:
        code = app(
            sys.argv[1:] if arguments is None else list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        print(f"supple: {str(error).rstrip('.')}: see  supple --help.", file=sys.stderr)
        return WRONG_INPUT
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
