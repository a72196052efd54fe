"""The command line as people and programs meet it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from supple.cli import main
from supple.io import open_cache, save_surface, save_tets
from supple.scene.load import load_scene
from supple.shape import make_shape

SCENE = """\
[time]
frames = 4
[mesh]
shape = "beam"
resolution = 5
[[pin]]
select = "min x"
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small scene in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "beam.toml"
    path.write_text(SCENE)
    return path


def result(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Standard output, which must be one JSON object and nothing else."""
    loaded: dict[str, Any] = json.loads(capsys.readouterr().out)
    return loaded


def test_run_writes_next_to_the_user_and_names_the_file(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scene)]) == 0
    said = capsys.readouterr()
    body, time, method, closing = said.out.splitlines()
    assert body.startswith("body: ")
    assert "4 frames of" in time
    assert "units: m" in time
    assert method.startswith("full space")
    assert re.match(r"4 frames in .*: wrote beam.usdc; next:  supple render beam.usdc -o beam.gif$", closing)
    bar = [line for line in said.err.splitlines() if "%" in line]
    assert len(bar) == 1
    assert bar[0].endswith("100 %")
    assert open_cache(scene.parent / "beam.usdc").frames == 5


def test_verbose_tells_all_that_was_chosen_and_every_frame(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scene), "-v"]) == 0
    said = capsys.readouterr()
    assert 'units: "m"' in said.out
    assert "linear solver: " in said.out
    assert "frame 4: " in said.err


def test_json_on_standard_output_is_alone_there(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scene), "-o", "a.npz", "-o", "a.usda", "--frames", "2", "--json", "-"]) == 0
    data = result(capsys)
    assert (data["verb"], data["frame"], data["files"]) == ("run", 2, ["a.npz", "a.usda"])
    assert [row["frame"] for row in data["rows"]] == [1, 2]
    assert data["rows"][0]["ms"] > 0
    assert main(["info", "a.npz", "--json=-"]) == 0
    assert result(capsys)["frames"] == 3
    assert main(["doctor", str(scene), "--json", "-"]) == 0
    assert result(capsys)["findings"] == []
    assert main(["bench", "--list", "--json", "-"]) == 0
    assert "mesh" in result(capsys)["benchmarks"]


def test_json_goes_to_a_file_beside_the_text(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(scene), "--json", "info.json"]) == 0
    assert "kind: scene" in capsys.readouterr().out
    assert json.loads((scene.parent / "info.json").read_text())["kind"] == "scene"


def test_quiet_says_nothing(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scene), "-q"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["walk"], 2, "Unknown command"),
        (["run"], 2, "requires an argument"),
        (["run", "beam.toml", "--frmes", "3"], 2, "Did you mean --frames"),
        (["run", "beam.toml", "--frames", "0"], 2, "beam.toml: time.frames = 0 must be at least 1."),
        (["run", "beam.toml", "--units", "cn"], 2, 'units = "cn" must be one of m, dm, cm'),
        (["run", "none.toml"], 2, "none.toml does not exist"),
        (["run", "beam.toml", "-o", "a.abc"], 1, "one of these suffixes"),
        (["run", "beam.toml", "-o", "beam.toml/a.npz"], 1, "cannot be written"),
        (["run", "beam.toml", "--resume"], 1, "nothing to resume"),
        (["run", "beam.toml", "--replay", "none.jsonl"], 1, "none.jsonl cannot be read"),
        (["run", "beam.toml", "--threads", "0"], 2, "--threads 0"),
        (["run", "beam.toml", "--write-scene", "a.txt"], 1, "end it in .toml"),
        (["info", "none.msh"], 1, "does not exist"),
        (["mesh", "beam.toml", "-o", "a.msh"], 1, "surfaces are read from"),
        (["render", "none.npz", "-o", "a.png"], 1, "none.npz"),
        (["bench", "none"], 2, "there is no benchmark 'none'"),
        (
            ["bench", "rig", "--mesh", "bear.msh"],
            2,
            "takes no --mesh: that is for character, condense-figure, condense-hand, condense-pat, condense-walk",
        ),
        (["run", "beam.toml", "--json", "no/where.json"], 1, "choose another --json file"),
    ],
)
def test_error_is_one_sentence_with_its_exit_code(
    scene: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert main([*arguments, "-q"] if len(arguments) > 1 else arguments) == code
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert "Traceback" not in error


def test_error_is_json_too_and_traceback_needs_vv(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "none.toml", "--json", "-"]) == 2
    assert result(capsys)["error"]["kind"] == "SceneError"
    assert main(["run", "none.toml", "-vv"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_doctor_fails_on_errors_only(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene.write_text(SCENE.replace("frames = 4", 'frames = 4\nintegrator = "static"').split("[[pin]]")[0])
    assert main(["doctor", str(scene)]) == 1
    assert capsys.readouterr().out.startswith("error: ")
    assert main(["run", str(scene)]) == 2
    scene.write_text("gravity = false\n" + SCENE)
    assert main(["doctor", str(scene)]) == 0
    assert "warning: no gravity" in capsys.readouterr().out
    assert main(["run", str(scene)]) == 0
    assert "warning: no gravity" in capsys.readouterr().err


def test_bare_mesh_runs_with_a_scene_that_can_be_kept(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_tets("ball.npz", make_shape("sphere", resolution=4))
    kept = scene.parent / "kept" / "ball.toml"
    kept.parent.mkdir()
    assert main(["run", "ball.npz", "--frames", "2", "--units", "cm", "--write-scene", str(kept)]) == 0
    assert 'select = "min y 5%"' in capsys.readouterr().out
    again = load_scene(kept)
    assert (again.units, again.time.frames) == ("cm", 2)
    assert main(["run", str(kept), "-o", "again.usdc"]) == 0
    assert Path("ball.usdc").read_bytes() == Path("again.usdc").read_bytes()


def test_run_never_overwrites_what_it_reads(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_tets("ball.npz", make_shape("sphere", resolution=4))
    before = Path("ball.npz").read_bytes()
    assert main(["run", "ball.npz", "-o", "ball.npz"]) == 1
    assert "would be overwritten" in capsys.readouterr().err
    assert Path("ball.npz").read_bytes() == before


def test_surface_is_filled_shown_and_run(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_surface("ball.obj", make_shape("sphere", resolution=8).surface())
    assert main(["mesh", "ball.obj", "-o", "ball.msh", "--elements", "400", "--json", "-"]) == 0
    facts = result(capsys)
    assert facts["tetrahedra"] == pytest.approx(400, rel=0.1)
    assert main(["info", "ball.msh"]) == 0
    assert f"tetrahedra: {facts['tetrahedra']}" in capsys.readouterr().out
    assert main(["run", "ball.msh", "-o", "ball.npz", "--frames", "1"]) == 0
    assert main(["render", "ball.npz", "-o", "ball.png", "--width", "60", "--height", "40"]) == 0
    assert Path("ball.png").read_bytes().startswith(b"\x89PNG")
    assert main(["mesh", "ball.obj", "-o", "b.msh", "--elements", "400", "--resolution", "4"]) == 2


def test_replay_feeds_events_in(scene: Path) -> None:
    event = {"kind": "SetGravity", "acceleration": [0.0, 0.0, 0.0]}
    Path("log.jsonl").write_text(json.dumps({"frame": 0, "event": event}) + "\n")
    assert main(["run", str(scene), "-o", "a.npz", "--replay", "log.jsonl"]) == 0
    cache = open_cache("a.npz")
    assert cache.surface_positions(4) == pytest.approx(cache.surface_positions(0), abs=1e-9)


def test_benchmark_prints_its_frame_and_rows(
    scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import supple.bench.mesh
    import supple.bench.registry

    monkeypatch.setattr(supple.bench.mesh, "run", lambda size: [{"tets": 7, "ms": 1.25}])
    monkeypatch.setattr(supple.bench.registry, "measure_gemm", lambda: 125.0)
    assert main(["bench", "mesh", "--json", "-"]) == 0
    data = result(capsys)
    assert {"bench", "size", "threads", "load", "gemm_ms", "rows"} <= set(data)
    assert (data["bench"], data["size"], data["gemm_ms"], data["rows"]) == (
        "mesh",
        "small",
        125.0,
        [{"tets": 7, "ms": 1.25}],
    )
    assert main(["bench", "mesh"]) == 0
    assert capsys.readouterr().out.split() == ["tets", "ms", "7", "1.25"]


def test_ctrl_c_leaves_readable_output_and_a_checkpoint_that_goes_on(scene: Path) -> None:
    command = [sys.executable, "-m", "supple", "run", str(scene), "-o", "a.npz", "--frames", "2000", "-v"]
    paths = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=paths) as child:
        assert child.stderr is not None
        next(line for line in child.stderr if line.startswith("frame 100:"))
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "go on with:  supple run" in out
    assert Path("a.npz.checkpoint.npz").exists()
    last = open_cache("a.npz").indices[-1]
    assert 100 <= last < 2000
    more = ["--frames", str(last + 3), "-q"]
    assert main(["run", str(scene), "-o", "a.npz", "--resume", *more]) == 0
    assert main(["run", str(scene), "-o", "whole.npz", *more]) == 0
    assert Path("a.npz").read_bytes() == Path("whole.npz").read_bytes()
    assert not Path("a.npz.checkpoint.npz").exists()


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(verb in text for verb in ("demo", "run", "mesh", "info", "doctor", "render", "bench"))
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == "0.1.0"


def test_reader_that_leaves_early_is_no_fault(scene: Path) -> None:
    command = f"{sys.executable} -m supple info {scene} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "kind: scene\n"
    assert "fault" not in done.stderr
    assert "Error" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["mesh", "ball.off", "-o", "ball.msh", "--elements", "0"], "above 0"),
        (["mesh", "ball.off", "-o", "ball.stl"], ".msh"),
        (["run", "ball.fbx"], ".toml"),
    ],
)
def test_unfit_names_and_numbers_are_refused_before_any_work(
    arguments: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ball.off").write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
    assert main(arguments) in (1, 2)
    assert word in capsys.readouterr().err


def test_no_output_replaces_what_the_run_reads(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = scene.read_text()
    assert main(["run", str(scene), "--json", str(scene)]) == 1
    assert main(["run", str(scene), "--write-scene", str(scene)]) == 1
    assert scene.read_text() == text
    assert main(["run", str(scene), "-o", "k.pvd", "--frames", "1", "-q"]) == 0
    before = Path("k_0001.vtu").read_bytes()
    assert main(["run", "k_0001.vtu", "-o", "k.pvd"]) == 1
    assert Path("k_0001.vtu").read_bytes() == before
    assert main(["run", str(scene), "-o", "x.npz", "-o", "x.npz.checkpoint.npz"]) == 1
    Path("mesh.json").write_text("{}")
    assert main(["run", str(scene), "--replay", "mesh.json", "--json", "mesh.json"]) == 1


def test_two_usd_outputs_of_one_name_do_not_disturb_each_other(scene: Path) -> None:
    from supple.io import open_cache

    assert main(["run", str(scene), "-o", "y.usda", "-o", "y.usdc", "--frames", "2", "-q"]) == 0
    a, b = open_cache(Path("y.usda")), open_cache(Path("y.usdc"))
    assert a.frames == b.frames == 3
    assert sorted(p.name for p in Path().glob("y*")) == ["y.usda", "y.usdc"]


def test_body_pinned_as_a_whole_follows_its_pins(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = scene.with_name("held.toml")
    held.write_text('[time]\nframes = 2\n[mesh]\nshape = "box"\nresolution = 2\n[[pin]]\nselect = "all"\n')
    assert main(["run", str(held), "-o", "held.npz"]) == 0
    assert "every vertex is pinned" in capsys.readouterr().out


def test_replayed_stiffness_shows_in_the_recorded_stress(scene: Path) -> None:
    from supple.io import open_cache

    static = scene.with_name("static.toml")
    static.write_text(
        '[time]\nframes = 1\nintegrator = "static"\n[mesh]\nshape = "beam"\nresolution = 5\n[[pin]]\nselect = "min x"\n'
        "[material]\nyoung = 1e7\n"
    )
    Path("log.jsonl").write_text('{"frame": 0, "event": {"kind": "SetStiffness", "factor": 4.0}}\n')
    stresses = []
    for extra in ([], ["--replay", "log.jsonl"]):
        assert main(["run", str(static), "-o", "s.npz", "-q", *extra]) == 0
        stresses.append(open_cache(Path("s.npz")).point_values("von_mises", 1).max())
    # The same load in equilibrium makes the same stress, however stiff the body
    assert stresses[1] == pytest.approx(stresses[0], rel=0.02)


def test_events_for_vertices_the_mesh_lacks_are_refused_before_the_run(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("log.jsonl").write_text('{"frame": 5, "event": {"kind": "AddPin", "vertices": [99999999]}}\n')
    assert main(["run", str(scene), "-o", "e.npz", "--replay", "log.jsonl"]) == 2
    assert "names vertex 99999999" in capsys.readouterr().err
    assert not Path("e.npz").exists()


REDUCED = """
[method]
name = "reduced"
tolerance = 0.2
[training]
cases = 2
heldout = 1
steps = 6
"""


def test_a_model_is_trained_told_and_used(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene.write_text(SCENE + REDUCED)
    assert main(["train", str(scene), "--json", "-"]) == 0
    data = result(capsys)
    assert (data["verb"], data["tolerance"], data["met"]) == ("train", 0.2, True)
    assert data["file"] == str(scene.with_name("beam.model.npz"))
    assert main(["info", "beam.model.npz", "--json", "-"]) == 0
    told = result(capsys)
    assert (told["kind"], told["rank"], told["elements"]) == ("model", data["rank"], data["elements"])
    assert main(["info", "beam.model.npz"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 8
    assert main(["info", "beam.model.npz", "-v"]) == 0
    text = capsys.readouterr().out
    assert len(re.findall(r"^  patch gravity, direction \(", text, re.M)) == len(told["loads"])  # a row each, no braces
    assert "{" not in text
    assert main(["run", str(scene), "-o", "a.npz", "--json", "-"]) == 0
    ran = result(capsys)
    assert (ran["method"], ran["model"]["rank"]) == ("reduced", data["rank"])
    assert {row["kind"] for row in ran["rows"]} == {"reduced"}
    assert main(["run", str(scene), "--method", "full", "-o", "full.npz", "--json", "-"]) == 0
    full = result(capsys)
    assert (full["method"], full["model"]) == ("full", None)
    assert max(row["residual"] for row in full["rows"]) <= 1e-4  # the reduced method's tolerance is not Newton's


def test_a_run_trains_where_there_is_no_model_and_says_so(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene.write_text(SCENE + REDUCED)
    assert main(["doctor", str(scene)]) == 0
    assert [path.name for path in scene.parent.iterdir()] == ["beam.toml"]
    capsys.readouterr()
    assert main(["run", str(scene), "-o", "a.npz"]) == 0
    said = capsys.readouterr().err
    assert "training on 2 cases of 6 steps" in said
    assert "beam.model.npz" in said
    assert main(["run", str(scene), "-o", "a.npz", "--model", "beam.model.npz"]) == 0
    assert "training on" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "beam.toml", "-o", "model.zip"], "model.zip is no name for a model: end it in .npz"),
        (["train", "beam.toml", "--rank", "100000"], "method.rank = 100000 must be at most 2000"),
        (["run", "beam.toml", "--method", "reduced", "--model", "none.npz"], "none.npz cannot be found"),
    ],
)
def test_training_that_cannot_be_says_why(
    scene: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) in (1, 2)
    assert said in capsys.readouterr().err
