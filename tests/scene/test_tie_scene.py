"""Springs, limits of strain and example shapes in scenes of projective dynamics."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.io.save import save_tets
from supple.scene.build import build_scene, set_stage
from supple.scene.load import parse_scene
from supple.scene.simulate import simulate

BLOCK: dict[str, Any] = {
    "gravity": False,
    "mesh": {"shape": "beam", "resolution": 6},
    "material": {"young": 1e5, "poisson": 0.3, "density": 1000, "damping_mass": 20.0},
    "time": {"frames": 60, "fps": 50, "substeps": 1},
    "pin": [{"select": "min x"}],
    "method": {"name": "projective", "iterations": 30},
}
METHODS = ("projective", "hyperreduced")


def scene(**tables: Any):
    return parse_scene({**BLOCK, **tables}, "test")


def settle(**tables: Any) -> tuple[Any, np.ndarray]:
    """What a scene was built to, and the positions at its end."""
    built = build_scene(scene(**tables))
    *_, last = simulate(built)
    return built, built.solver.positions(last.state)


def tip(built, x: np.ndarray) -> np.ndarray:
    """How far the free end has moved [m], (3,)."""
    rest = built.mesh.vertices
    end = rest[:, 0] > rest[:, 0].max() - 1e-9
    return (x - rest)[end].mean(axis=0)


PULL = [{"kind": "region", "select": "max x", "vector": [5.0, 0.0, 0.0]}]


@pytest.mark.parametrize("name", METHODS)
def test_springs_to_their_place_share_the_load_with_the_flesh(name: str) -> None:
    method = {"name": name, "iterations": 30}
    free, x = settle(force=PULL, method=method)
    alone = tip(free, x)[0]
    stiffness = 5.0 / alone  # of the body itself, [N/m]
    ends = int((free.mesh.vertices[:, 0] > free.mesh.vertices[:, 0].max() - 1e-9).sum())
    springs = [{"select": "max x", "to": "place", "stiffness": 3.0 * stiffness / ends}]
    held, x = settle(force=PULL, spring=springs, method=method)
    assert tip(held, x)[0] == pytest.approx(alone / 4.0, rel=0.05)


def test_springs_hold_their_length_and_are_slack_below_it() -> None:
    method = {"name": "projective", "iterations": 60, "history": 5}  # ropes stiffer than flesh make iterations short
    free, loose = settle(force=PULL, method=method)
    rope = {"select": "min x", "to": "max x", "stiffness": 1e4}
    built, x = settle(force=PULL, spring=[rope], method=method)
    assert tip(built, x)[0] < 0.1 * tip(free, loose)[0]
    reach = 1.0 + 2.0 * tip(free, loose)[0] / np.ptp(free.mesh.vertices[:, 0])
    slack, y = settle(force=PULL, spring=[{**rope, "limits": [0.0, reach]}], method=method)
    assert tip(slack, y)[0] == pytest.approx(tip(free, loose)[0], rel=0.01)


def test_springs_along_edges_stiffen() -> None:
    soft, x = settle(force=PULL)
    stiff, y = settle(force=PULL, spring=[{"select": "all", "stiffness": 1e4}])
    assert tip(stiff, y)[0] < 0.5 * tip(soft, x)[0]


def test_stretches_end_at_their_limits() -> None:
    pull = [{**PULL[0], "vector": [600.0, 0.0, 0.0]}]
    method = {"name": "projective", "iterations": 60, "history": 5}
    table = {"limits": [0.5, 1.02]}
    free, x = settle(force=pull, method=method)
    held, y = settle(force=pull, strain=table, method=method)
    length = np.ptp(free.mesh.vertices[:, 0])
    assert tip(free, x)[0] > 0.1 * length
    # Beyond 2 % eleven times as stiff: as much farther as a series of both springs says
    beyond = 0.02 + (tip(free, x)[0] / length - 0.02) / 11.0
    assert tip(held, y)[0] == pytest.approx(beyond * length, rel=0.15)
    small = [{**PULL[0], "vector": [1.0, 0.0, 0.0]}]
    within, z = settle(force=small, strain=table, method=method)
    plain, w = settle(force=small, method=method)
    assert tip(within, z)[0] == pytest.approx(tip(plain, w)[0], rel=0.02)


def test_limits_act_in_small_spaces_too() -> None:
    pull = [{**PULL[0], "vector": [600.0, 0.0, 0.0]}]
    ends = []
    for name in METHODS:
        built, x = settle(force=pull, strain={"limits": [0.5, 1.02]}, method={"name": name, "iterations": 60})
        ends.append(tip(built, x)[0])
    assert ends[1] == pytest.approx(ends[0], rel=0.1)


def test_an_example_is_as_good_as_the_rest_shape(tmp_path: Path) -> None:
    mesh = set_stage(scene()).mesh
    save_tets(tmp_path / "longer.npz", mesh.transformed(np.diag([1.3, 1.0, 1.0])))
    table = {"files": [str(tmp_path / "longer.npz")], "shear": 1e6}
    start = {"force": [{**PULL[0], "vector": [200.0, 0.0, 0.0]}], "material": {**BLOCK["material"], "young": 1e4}}
    plain, x = settle(**start)
    liked, y = settle(**start, examples=table)
    stretch = tip(liked, y)[0] / np.ptp(mesh.vertices[:, 0])
    assert 0.25 < stretch < 0.32  # it goes there, and no farther
    assert tip(plain, x)[0] > 1.2 * tip(liked, y)[0]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"spring": [{"select": "max x", "stiffness": 0.0}]}, "stiffness"),
        ({"spring": [{"select": {"vertices": [0]}, "stiffness": 1.0}]}, "no edge between"),
        ({"spring": [{"select": "max x", "to": "max x", "stiffness": 1.0}]}, "ends where it begins"),
        ({"spring": [{"select": "max x", "to": "place", "limits": [0, 1], "stiffness": 1.0}]}, "remove them"),
        ({"spring": [{"select": "max x", "to": "somewhere", "stiffness": 1.0}]}, r"spring\[0\].to"),
        ({"strain": {"limits": [1.2, 0.8]}}, "smaller first"),
        ({"examples": {"files": []}}, "examples.files"),
        ({"strain": {"limits": [0.9, 1.1]}, "method": {"name": "full"}}, r"does not know \[strain\]"),
        ({"spring": [{"select": "all", "stiffness": 1.0}], "method": {"name": "reduced"}}, r"know \[\[spring\]\]"),
        ({"strain": {"limits": [0.9, 1.1]}, "shell": {"thickness": 1e-3}}, "needs tetrahedra"),
    ],
)
def test_what_makes_no_sense_is_named(tables: dict[str, Any], words: str) -> None:
    with pytest.raises(SceneError, match=words):
        set_stage(scene(**tables))


def test_an_example_of_another_mesh_is_named(tmp_path: Path) -> None:
    other = set_stage(scene(mesh={"shape": "beam", "resolution": 8})).mesh
    save_tets(tmp_path / "other.npz", other)
    with pytest.raises(SceneError, match="the body's own mesh in another shape"):
        set_stage(scene(examples={"files": [str(tmp_path / "other.npz")]}))
