"""What the doctor finds, and that it leaves healthy scenes alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.io import save_tets
from supple.mesh import TetMesh
from supple.scene import Finding, build_scene, diagnose, examine, parse_scene, set_stage
from supple.shape import make_shape
from supple.subspace import linear_modes
from supple.subspace.softest_period import softest_period

HEALTHY: dict[str, Any] = {
    "time": {"substeps": 4},
    "mesh": {"shape": "beam", "resolution": 5},
    "material": {"young": 1e5, "poisson": 0.4},
    "pin": [{"select": "min x"}],
}


def findings(**changes: Any) -> list[Finding]:
    return diagnose(build_scene(parse_scene({**HEALTHY, **changes})))


def only(found: list[Finding]) -> Finding:
    assert len(found) == 1, found
    assert found[0].text.endswith(".")
    assert "\n" not in found[0].text
    return found[0]


def test_healthy_scene_has_no_findings() -> None:
    assert findings() == []


@pytest.mark.parametrize(
    ("changes", "severity", "check", "said"),
    [
        ({"material": {"young": 1e12}, "time": {"substeps": 4000}}, "warning", "stiffness", "young = 1e+12 Pa"),
        ({"material": {"density": 1.0}, "time": {"substeps": 40}}, "warning", "density", "density = 1 kg/m³"),
        ({"material": {"poisson": 0.47}}, "note", "locking", "poisson = 0.47"),
        ({"material": {"poisson": 0.495}}, "warning", "locking", "lower it or use a finer mesh"),
        ({"material": {"young": 5e3}}, "warning", "self-weight", "raise young"),
        ({"time": {"fps": 0.5, "substeps": 1}}, "warning", "time step", "a time step is 2 s long"),
        ({"time": {"substeps": 1}, "material": {"young": 2e7}}, "note", "time step", "set time.substeps ="),
        (
            {"time": {"substeps": 1, "integrator": "newmark"}, "material": {"young": 1e9}},
            "warning",
            "time step",
            "set time.substeps =",
        ),
        ({"time": {"fps": 1e6, "substeps": 1000}}, "warning", "time step", "fewer time.substeps"),
        ({"gravity": False}, "warning", "motion", "it stands still"),
        ({"pin": []}, "note", "motion", "nothing holds the body: it falls 19.6 m in 2 s"),
        ({"pin": [{"select": "all"}]}, "warning", "pins", "pin[0] holds the whole body"),
        ({"pin": [{"select": "min x"}, {"select": "max x", "from": 5.0}]}, "warning", "pins", "takes hold at 5 s"),
        ({"time": {"integrator": "static"}, "pin": []}, "error", "supports", "pin at least three vertices"),
        (
            {"time": {"integrator": "static"}, "pin": [{"select": "min x", "axes": "xy"}]},
            "error",
            "supports",
            "can still move as a whole",
        ),
    ],
)
def test_finding_names_the_trouble_and_the_remedy(
    changes: dict[str, Any], severity: str, check: str, said: str
) -> None:
    found = [finding for finding in findings(**changes) if finding.check == check]
    finding = only(found)
    assert (finding.severity, finding.check) == (severity, check)
    assert said in finding.text


def test_man_of_180_metres_is_told_about_units(tmp_path: Path) -> None:
    save_tets(tmp_path / "man.npz", make_shape("creature", elements=300).scaled(180.0))
    found = {finding.check: finding for finding in examine(tmp_path / "man.npz")}
    assert 'set units (perhaps "cm")' in found["scale"].text
    assert "scale" not in {finding.check for finding in examine(tmp_path / "man.npz", {"units": "cm"})}


def test_loose_part_and_slivers_are_reported(tmp_path: Path) -> None:
    one = make_shape("box", resolution=2)
    flat = np.array([[5.0, 0, 0], [6, 0, 0], [5, 1, 0], [5.5, 0.5, 1e-4]])
    vertices = np.concatenate([one.vertices, flat])
    tets = np.concatenate([one.tets, [[len(one.vertices) + k for k in range(4)]]])
    save_tets(tmp_path / "two.npz", TetMesh.clean(vertices, tets))
    found = {finding.check: finding.text for finding in examine(tmp_path / "two.npz", {"pin": [{"select": "min x"}]})}
    assert "2 separate parts and 1 of them are held by no pin" in found["supports"]
    touching = {"pin": [{"select": "min x"}], "contact": {}}
    [note] = [finding for finding in examine(tmp_path / "two.npz", touching) if finding.check == "supports"]
    assert (note.severity, "only by contact with the others" in note.text) == ("note", True)
    assert f"1 of {len(tets)} tetrahedra are slivers (the worst is number {len(tets) - 1})" in found["slivers"]


def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    scene.write_text('[mesh]\nshape = "beam"\nresolution = 5\n[[pin]]\nselect = "min x"\n[output]\nfiles = ["a.xyz"]\n')
    first = examine(scene)[0]
    assert (first.severity, first.check) == ("error", "output")


def of(found: list[Finding], check: str) -> list[str]:
    return [finding.text for finding in found if finding.check == check]


def test_time_step_is_compared_with_the_first_mode_not_with_a_wave_along_the_body() -> None:
    long = {"mesh": {"shape": "beam", "size": {"length": 1.0, "width": 0.1, "height": 0.1}, "resolution": 20}}
    scene = {**HEALTHY, **long, "material": {"young": 2e7, "poisson": 0.4, "density": 1000.0}}
    first = 2 * np.pi / (3.516 * np.sqrt(2e7 * 0.1**2 / 12 / 1000.0))  # a cantilever's, by Euler and Bernoulli
    found = softest_period(build_scene(parse_scene(scene)).body)
    assert 0.75 * first < found < 1.02 * first  # few tetrahedra across are too stiff
    wave = 2.0 * np.sqrt(1.0 / (2e7 / 2.8 / 1000.0))
    assert wave < 0.2 * found
    step = found / 6.0  # long for a wave, short for the mode
    assert step > wave / 4.0
    assert (
        of(diagnose(build_scene(parse_scene({**scene, "time": {"fps": 1 / step, "substeps": 1}}))), "time step") == []
    )


@pytest.mark.parametrize(
    "pins", [[{"select": "min x"}], [], [{"select": "min x", "axes": "xy"}], [{"select": "min y"}]]
)
def test_softest_period_is_that_of_the_first_mode(pins: list[dict[str, str]]) -> None:
    body = build_scene(parse_scene({**HEALTHY, "pin": pins})).body
    exact = 2.0 * np.pi / np.sqrt(linear_modes(body, 1).importance[0])
    assert 0.75 * exact < softest_period(body) < 1.001 * exact
    assert softest_period(body, enough=0.0) <= softest_period(body)


def test_advice_on_time_steps_knows_the_integrator() -> None:
    stiff = {"material": {"young": 2e7, "poisson": 0.4}}
    [euler] = of(findings(**stiff, time={"substeps": 1}), "time step")
    [newmark] = of(findings(**stiff, time={"substeps": 1, "integrator": "newmark"}), "time step")
    assert "implicit_euler damps away" in euler
    assert "which newmark shows 1." in newmark
    assert "damps" not in newmark
    [fast] = findings(material={"young": 1e9, "poisson": 0.4}, time={"substeps": 1, "integrator": "newmark"})
    assert (fast.severity, "times as slow" in fast.text) == ("warning", True)
    assert findings(material={"young": 1e9, "poisson": 0.4}, time={"substeps": 1}) == []  # no frame would show it
    wanted = int(euler.split("time.substeps = ")[1].split(",")[0])
    assert of(findings(**stiff, time={"substeps": wanted}), "time step") == []


def test_unit_that_makes_a_body_plausible_is_named(tmp_path: Path) -> None:
    save_tets(tmp_path / "man.npz", make_shape("figure", elements=600).scaled(10.0))
    soft = {"material": {"young": 3e4, "density": 1000.0}}
    [text] = of(examine(tmp_path / "man.npz", soft), "self-weight")
    assert 'which units = "dm" would make' in text
    assert "e+" not in text
    assert of(examine(tmp_path / "man.npz", {**soft, "units": "dm"}), "self-weight") == []
    [text] = of(findings(material={"young": 500.0}), "self-weight")  # a metre long, and too soft in any unit
    assert "units" not in text


BOX = {"shape": "box", "at": [1.5, 0.0, 0.0], "size": {"length": 0.2, "width": 2.0, "height": 2.0}}


def test_pin_that_goes_through_a_collider_is_named() -> None:
    moved = {"name": "tip", "select": "max x", "move": [{"t": 0, "by": [0, 0, 0]}, {"t": 1, "by": [1.0, 0, 0]}]}
    pins = [{"select": "min x"}, moved]
    [text] = [text for text in of(findings(pin=pins, collider=[BOX]), "overlap") if "through" in text]
    assert text.startswith('pin[1] "tip" goes through collider[0]: at frame ')
    still = [{"select": "min x"}, {"select": "max x"}]
    assert of(findings(pin=still, collider=[BOX]), "overlap") == []
    wall = {**BOX, "at": [0.0, 0.0, 0.0]}  # which is meant to hold the end
    assert of(findings(collider=[wall], pin=[{"select": "min x 10%"}]), "overlap") == []


def test_bone_that_goes_through_a_collider_is_named() -> None:
    floor = {"shape": "plane", "at": [0.0, -0.02, 0.0]}
    keys = [{"t": 0.0, "pose": "rest"}, {"t": 1.0, "pose": "bent"}]
    scene = {"mesh": {"shape": "capsule", "resolution": 10}, "rig": {}, "collider": [floor], "motion": {"keys": keys}}
    texts = of(diagnose(set_stage(parse_scene(scene))), "overlap")
    assert [text for text in texts if text.startswith("joint '") and "through collider[0]" in text], texts


def test_scene_that_only_training_loads_is_not_called_still() -> None:
    load = [{"kind": "body", "vector": [0.0, 1.0, 0.0]}]
    assert of(findings(gravity=False), "motion") != []
    assert of(findings(gravity=False, training={"load": load}), "motion") == []


@pytest.mark.parametrize("off", [False, [0.0, 0.0, 0.0]])
def test_gravity_that_is_off_goes_with_a_force_of_kind_gravity(off: Any) -> None:
    force = [{"kind": "gravity", "vector": [0.0, -1.0, 0.0]}]
    assert build_scene(parse_scene({**HEALTHY, "gravity": off, "force": force})).drive.gravity is None
    with pytest.raises(SceneError, match="both gravity and a"):
        parse_scene({**HEALTHY, "gravity": True, "force": force})
