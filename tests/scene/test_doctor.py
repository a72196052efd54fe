"""What the doctor finds, and that it leaves healthy scenes alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.io import save_tets
from supple.mesh import TetMesh
from supple.scene import Finding, build_scene, diagnose, examine, parse_scene
from supple.shape import make_shape

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
        ({"time": {"substeps": 1}, "material": {"young": 1e6}}, "note", "time step", "set time.substeps ="),
        ({"time": {"substeps": 1}, "material": {"young": 1e8}}, "warning", "time step", "set time.substeps ="),
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
