"""Scene files: what is refused, and in which words."""

import json
import math
from pathlib import Path

import pytest

from supple.errors import SceneError
from supple.scene.load import load_scene, parse_scene
from supple.scene.toml import write_toml

BEAM = {"mesh": {"shape": "beam"}}
PIN = {"select": "min x"}


def refusal(**tables: object) -> str:
    with pytest.raises(SceneError) as caught:
        parse_scene({**BEAM, **tables}, source="s.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("tables", "key", "nearest"),
    [
        ({"materil": {}}, "materil", "material"),
        ({"material": {"yung": 1.0}}, "material.yung", "young"),
        ({"material": {"regions": {"core": {"densty": 1.0}}}}, "material.regions.core.densty", "density"),
        ({"time": {"substep": 3}}, "time.substep", "substeps"),
        ({"mesh": {"shape": "beam", "resolutoin": 1.0}}, "mesh.resolutoin", "resolution"),
        ({"pin": [PIN, {"select": "max x", "axis": "x"}]}, "pin[1].axis", "axes"),
        ({"pin": [{**PIN, "move": {"velocty": [0.0, 0.0, 1.0]}}]}, "pin[0].move.velocty", "velocity"),
        ({"pin": [{"select": {"regoin": 1}}]}, "pin[0].select.regoin", "region"),
        ({"force": [{"kind": "gravity", "vector": [0.0, 1.0, 0.0], "form": 1.0}]}, "force[0].form", "from"),
        ({"output": {"file": []}}, "output.file", "files"),
    ],
)
def test_unknown_key_is_refused_with_its_path_and_the_nearest_known_one(
    tables: dict[str, object], key: str, nearest: str
) -> None:
    text = refusal(**tables)
    assert text.startswith(f"s.toml: {key} is not a key of ")
    assert text.endswith(f"did you mean '{nearest}'?")


def test_all_wrong_keys_are_listed_and_a_misspelt_key_explains_a_missing_one() -> None:
    text = refusal(time={"fsp": 3, "frames": -1}, force=[{"kind": "gravity", "vectr": [0.0, 1.0, 0.0]}])
    assert text.splitlines() == [
        "s.toml has 3 faults:",
        "  time.fsp is not a key of [time]: did you mean 'fps'?",
        "  force[0].vectr is not a key of [force[0]]: did you mean 'vector'?",
        "  time.frames = -1 must be at least 1",
    ]


def test_key_unlike_any_other_lists_the_known_ones() -> None:
    assert "known keys are fps, substeps" in refusal(time={"qqqqq": 1})


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"material": {"young": math.nan}}, "material.young = NaN must be a finite number"),
        ({"material": {"density": math.inf}}, "material.density = Infinity must be a finite number"),
        ({"material": {"density": -1.0}}, "material.density = -1.0 must be greater than 0"),
        ({"material": {"poisson": 0.5}}, "material.poisson = 0.5 must be less than 0.5"),
        ({"material": {"E": 1.0, "young": 2.0}}, "has both young and E"),
        ({"material": {"preset": "skn"}}, "did you mean 'skin'?"),
        ({"material": {"model": "neohookean"}}, "did you mean 'neo_hookean'?"),
        ({"material": {"model": "arruda_boyce", "young": 3.0}}, "takes shear, segments, bulk: remove young"),
        ({"time": {"fps": "fast"}}, 'time.fps = "fast" must be a number'),
        ({"time": {"fps": 0.0}}, "time.fps = 0.0 must be greater than 0"),
        ({"time": {"fps": True}}, "time.fps = true must be a number"),
        ({"time": {"substeps": 1.5}}, "time.substeps = 1.5 must be a whole number"),
        ({"time": {"frames": -3}}, "time.frames = -3 must be at least 1"),
        ({"gravity": "down"}, 'gravity = "down" must be true, false or three finite numbers'),
        ({"gravity": [0.0, math.nan, 0.0]}, "gravity must be true, false or three finite numbers"),
        ({"mesh": {}}, "mesh must have either file or shape"),
        ({"mesh": {"shape": "beam", "file": "a.msh"}}, "mesh must have either file or shape"),
        ({"mesh": {"shape": "beam", "elements": 100, "resolution": 10}}, "both resolution and elements"),
        ({"mesh": "beam"}, 'mesh = "beam" must be a table'),
        ({"pin": [{}]}, "pin[0].select is missing"),
        ({"pin": [{"select": "left"}]}, 'pin[0].select = "left" must read "all", "min x"'),
        ({"pin": [{**PIN, "axes": "xq"}]}, 'axes = "xq"'),
        ({"pin": [{**PIN, "from": 2.0, "until": 1.0}]}, "ends (until = 1) before it begins (from = 2)"),
        ({"pin": [{**PIN, "move": [{"t": 1.0, "by": [0.0, 0.0, 0.0]}] * 2}]}, "times do not increase"),
        (
            {"pin": [{**PIN, "move": [{"t": 1.0, "by": [0.0, 0.0]}]}]},
            "pin[0].move.keys[0].by must be three numbers",
        ),
        ({"pin": [{**PIN, "from": 1.0, "move": {"velocity": [1, 0, 0]}}]}, "remove move and turn"),
        ({"pin": [{**PIN, "turn": {"axis": "x"}}]}, "must have either keys or speed"),
        ({"pin": [{**PIN, "turn": {"axis": [0, 0, 0], "speed": 1.0}}]}, "zero axis"),
        ({"force": [{"kind": "point", "vector": [0.0, 0.0, 1.0]}]}, "needs at"),
        ({"force": [{"kind": "gravity", "vector": [0.0, 0.0, 1.0], "select": "all"}]}, "takes no select"),
        ({"gravity": True, "force": [{"kind": "gravity", "vector": [0.0, 0.0, 1.0]}]}, "keep one of them"),
        ({"units": "inch"}, 'units = "inch" must be one of m, dm, cm, mm, um, km, in, ft'),
        ({"output": {"fields": ["vonmises"]}}, "did you mean 'von_mises'?"),
    ],
)
def test_wrong_value_is_refused_with_key_value_and_what_is_allowed(tables: dict[str, object], said: str) -> None:
    text = refusal(**tables)
    assert said in text
    assert "\n" not in text


def test_scene_without_a_mesh_says_so() -> None:
    with pytest.raises(SceneError, match="mesh is missing"):
        parse_scene({})


def test_misspelt_key_is_reported_before_the_key_it_leaves_missing() -> None:
    assert "pin[0].selct" in refusal(pin=[{"selct": "min x"}])


def test_file_names_start_at_the_scene_file(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    scene.write_text('[mesh]\nfile = "a.msh"\nrender = "b.obj"\n[output]\nfiles = ["out/c.usd"]\n')
    loaded = load_scene(scene)
    assert loaded.mesh.file == str(tmp_path / "a.msh")
    assert loaded.mesh.render == str(tmp_path / "b.obj")
    assert loaded.output.files == [str(tmp_path / "out/c.usd")]


def test_scene_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(BEAM))
    assert load_scene(path).mesh.shape == "beam"


@pytest.mark.parametrize("text", ["[mesh\n", "mesh = 1 2"])
def test_broken_toml_names_the_file_and_the_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(SceneError, match=r"s\.toml is no valid TOML: .*line 1"):
        load_scene(path)


def test_missing_and_binary_files_are_scene_errors(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="does not exist"):
        load_scene(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SceneError, match="cannot be read"):
        load_scene(tmp_path / "b.toml")


def test_scene_written_as_toml_reads_back_the_same(tmp_path: Path) -> None:
    scene = parse_scene(
        {
            **BEAM,
            "units": "cm",
            "gravity": [0.0, -1.0, 0.0],
            "material": {"E": 1e4, "regions": {"my core": {"preset": "skin", "select": {"region": 3}}}},
            "pin": [
                {**PIN, "until": 0.5, "move": [{"t": 0.0, "by": [0, 0, 0]}]},
                {"select": ["max x 3%", "min y"]},
            ],
            "force": [{"kind": "region", "vector": [1, 2, 3], "select": {"box": [[0, 0, 0], [1, 1, 1]]}}],
        }
    )
    path = tmp_path / "s.toml"
    path.write_text(write_toml(scene.keys(), comment="two\nlines"))
    assert path.read_text().startswith("# two\n# lines\nunits")
    assert load_scene(path) == scene
    assert load_scene(path).keys() == scene.keys()
    assert scene.keys()["pin"][1]["select"] == ["max x 3%", "min y"]
