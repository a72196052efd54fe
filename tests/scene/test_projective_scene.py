"""Scenes under projective dynamics and its hyper-reduction, from their tables to files."""

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import MeshError, OutputError, SceneError, SuppleError, SuppleWarning
from supple.io import open_cache, save_surface
from supple.mesh import Sheet, TriMesh
from supple.scene import build_scene, diagnose, parse_scene, run_scene, set_stage, simulate
from supple.scene.compare_launch import Asked, launch_comparison
from supple.scene.load import override
from supple.scene.progress import FrameRow, SilentListener
from supple.scene.reference import scene_reference
from supple.scene.run import RunResult
from supple.solve import Grab, SetGravity, SetStiffness, SetVolume

BLOCK: dict[str, Any] = {
    "time": {"frames": 3, "substeps": 1, "fps": 50.0},
    "mesh": {"shape": "box", "resolution": 4, "size": {"length": 0.2, "width": 0.1, "height": 0.1}},
    "material": {"young": 5e4, "poisson": 0.4},
    "pin": [{"select": "min x"}],
    "method": {"name": "projective"},
}
SHELL: dict[str, Any] = {
    **BLOCK,
    "mesh": {"shape": "sphere", "resolution": 6, "size": {"radius": 0.1}},
    "shell": {"thickness": 1e-3},
}
METHODS = ("projective", "hyperreduced")


def changed(scene: dict[str, Any], **tables: Any) -> dict[str, Any]:
    return override(scene, tables)


class StopAt(SilentListener):
    """Presses Ctrl-C when a frame is done."""

    def __init__(self, frame: int) -> None:
        self.stop = frame

    def frame(self, row: FrameRow) -> None:
        if row.frame == self.stop:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("method", METHODS)
def test_young_means_what_it_means_in_the_full_solver(method: str) -> None:
    many = {"name": method, "iterations": 300, "handles": 500, "radius": 2.0, "clusters": 10_000}
    ends = []
    for table in (many, {"name": "full", "newton_tolerance": 1e-8}):
        model = {"model": "corotational"}
        built = build_scene(parse_scene(changed(BLOCK, method=table, material=model)))
        *_, last = simulate(built)
        ends.append(built.solver.positions(last.state))
    sunk = float(np.abs(ends[1] - built.mesh.vertices).max())
    assert sunk > 0.002
    assert np.abs(ends[0] - ends[1]).max() < 0.01 * sunk


@pytest.mark.filterwarnings("ignore:frame 1. the body has")  # steps that are not converged make energy, too
@pytest.mark.parametrize("method", METHODS)
def test_a_run_whose_steps_are_not_converged_says_so_with_figures(method: str, tmp_path: Path) -> None:
    def run(**settings: Any) -> RunResult:
        scene = changed(BLOCK, method={"name": method, **settings}, material={"young": 2e6})
        return run_scene(build_scene(parse_scene(scene)), [tmp_path / "a.npz"], overwrite=True)

    with pytest.warns(SuppleWarning, match=r"in 3 of 3 frames.* after exactly 5 iterations: .*method.convergence"):
        rows = run(iterations=5, convergence=0.0).rows
    assert [row.local_global_iterations for row in rows] == [5, 5, 5]
    assert all(row.change is not None and row.change > 0.02 and not row.converged for row in rows)
    with pytest.warns(SuppleWarning, match=r"after at most 12 iterations: .*method.max_iterations \(now 12\)"):
        run(max_iterations=12)
    rows = run(max_iterations=20_000).rows  # pytest would show a warning as an error
    assert all(row.converged and row.change is not None and row.change <= 0.02 for row in rows)


def test_most_iterations_of_newton_are_not_those_of_projective_dynamics() -> None:
    with pytest.raises(SceneError, match=r"max_iterations = 5 below iterations = 10"):
        parse_scene(changed(BLOCK, method={"max_iterations": 5}))
    scene = parse_scene(changed(BLOCK, method={"name": "full", "max_iterations": 5}))
    assert scene.under("projective").method.max_iterations is None
    assert scene.under("skipping").method.max_iterations == 5


def test_material_is_corotational_unless_it_says_otherwise() -> None:
    lines = build_scene(parse_scene(BLOCK)).describe()
    assert any(line.startswith("material: corotational") for line in lines)
    other = build_scene(parse_scene(changed(BLOCK, material={"model": "neo_hookean"})))
    assert any("hyperelastic" in line for line in other.solver.describe())
    assert any("5 of them remembered" in line for line in other.solver.describe())


def test_energy_of_a_frame_is_that_of_the_constraints() -> None:
    built = build_scene(
        parse_scene(changed(BLOCK, skin={"thickness": 1e-3}, volume={"keys": [{"t": 0.0, "factor": 1.5}]}))
    )
    (now,) = [now for now in simulate(built) if now.frame == 3]
    assert built.tied is not None
    assert now.row is not None
    wanted = sum(c.inflated(1.5).energy(built.solver.positions(now.state)) for c in built.tied.constraints)
    assert now.row.elastic_energy == pytest.approx(wanted)
    assert built.body.mass == pytest.approx(built.tied.mass)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scene", [BLOCK, SHELL], ids=["solid", "shell"])
@pytest.mark.filterwarnings("ignore:steps in")  # 200 iterations are few for some of these bodies
def test_resumed_run_is_bit_for_bit_the_same(scene: dict[str, Any], method: str, tmp_path: Path) -> None:
    tables = {"time": {"frames": 6}, "method": {"name": method}, "output": {"checkpoint": 1}}
    tables |= {
        "collider": [{"shape": "plane", "at": [0.0, -0.12, 0.0]}],
        "contact": {"self": False, "restitution": 0.3},
    }
    if scene is BLOCK:
        tables |= {
            "volume": {"keys": [{"t": 0.02, "factor": 1.0}, {"t": 0.08, "factor": 1.3}]},
            "skin": {"thickness": 1e-3},
        }
    asked = parse_scene(changed(scene, **tables))
    events = {
        1: (SetStiffness(2.0),),
        2: (Grab("g", (5,), (1.0,), (0.0, 0.2, 0.0), 10.0), SetGravity((0.0, -5.0, 0.0))),
    }
    run_scene(build_scene(asked), [tmp_path / "whole.npz"], events=events)
    stopped = run_scene(build_scene(asked), [tmp_path / "parts.npz"], events=events, listener=StopAt(3))
    assert (stopped.stopped, stopped.frame) == (True, 3)
    run_scene(build_scene(asked), [tmp_path / "parts.npz"], resume=True, events=events)
    whole, parts = (open_cache(tmp_path / f"{name}.npz") for name in ("whole", "parts"))
    for frame in range(7):
        assert np.array_equal(whole.surface_positions(frame), parts.surface_positions(frame))


def test_keys_of_volume_give_way_to_events_after_the_last() -> None:
    table = {"keys": [{"t": 0.0, "factor": 1.2}]}
    built = build_scene(parse_scene(changed(BLOCK, volume=table, time={"frames": 2})))
    seen = list(simulate(built, events={1: (SetVolume(1.5),)}))
    assert [now.state.live.volume for now in seen] == [1.2, 1.5]


def test_shell_is_drawn_as_its_triangles_and_open_where_it_says(tmp_path: Path) -> None:
    built = build_scene(parse_scene(changed(SHELL, shell={"open": "max y 20%"}, pin=[{"select": "min y 5%"}])))
    assert isinstance(built.mesh, Sheet)
    surface = built.mesh.surface()
    assert not surface.is_closed()
    files = [tmp_path / name for name in ("shell.npz", "shell.usda", "shell.obj")]
    run_scene(built, files)
    for file in files:
        assert len(open_cache(file).triangles) == len(surface.triangles)
    with pytest.raises(OutputError, match=r"has none: name it \.usdc"):
        run_scene(built, [tmp_path / "shell.pvd"])


def test_shell_of_a_file_keeps_its_triangles(tmp_path: Path) -> None:
    x, y = np.meshgrid(np.linspace(0.0, 20.0, 6), np.linspace(0.0, 20.0, 6))
    corner = (np.arange(5)[:, None] * 6 + np.arange(5)).ravel()
    triangles = np.concatenate(
        [np.stack([corner, corner + 1, corner + 6], 1), np.stack([corner + 1, corner + 7, corner + 6], 1)]
    )
    save_surface(tmp_path / "cloth.obj", TriMesh.clean(np.stack([x.ravel(), 0 * x.ravel(), y.ravel()], 1), triangles))
    cloth = {"units": "cm", "mesh": {"file": str(tmp_path / "cloth.obj")}, "time": {"frames": 2}}
    cloth |= {"shell": {"thickness": 0.1, "young": 1e5}, "method": {"name": "projective"}, "pin": [{"select": "min x"}]}
    built = build_scene(parse_scene(cloth))
    assert built.mesh.bounds()[1] == pytest.approx([0.2, 0.0, 0.2])
    assert built.body.mass.sum() == pytest.approx(0.04 * 1e-3 * 1000)
    assert [finding for finding in diagnose(built) if finding.severity != "note"] == []
    *_, last = simulate(built)
    assert built.solver.positions(last.state)[:, 1].min() < -1e-3
    with pytest.raises(SceneError, match=r"^mesh.resolution has no meaning for a \[shell\]"):
        set_stage(parse_scene(override(cloth, {"mesh": {"resolution": 3}})))
    with pytest.raises(SuppleError, match=r"\[shell\]"):
        set_stage(parse_scene({**cloth, "shell": None, "method": {"name": "full"}}))


def test_triangle_without_area_is_named() -> None:
    flat = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]), np.array([[0, 1, 3], [0, 1, 2]], np.int32))
    with pytest.raises(MeshError, match=r"triangle 1 near \(1, 0, 0\) has no area"):
        Sheet.of(flat)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"time": {"integrator": "static"}}, 'does not know time.integrator = "static"'),
        ({"time": {"integrator": "newmark"}}, 'does not know time.integrator = "newmark"'),
        ({"rig": {}, "mesh": {"shape": "capsule", "size": {}}}, r"does not know a \[rig\]"),
        ({"method": {"name": "full"}, "skin": {"thickness": 1e-3}}, r'"full" does not know \[skin\].*"projective"'),
        ({"method": {"name": "reduced"}, "volume": {}}, r'"reduced" does not know \[volume\]'),
        ({"method": {"name": "full"}, "contact": {"restitution": 0.5}}, "does not know contact.restitution"),
        ({"shell": {"thickness": 1e-3}, "skin": {"thickness": 1e-3}}, r"\[skin\] needs tetrahedra"),
        ({"shell": {"thickness": 1e-3}, "volume": {}}, r"\[volume\] needs tetrahedra"),
        ({"shell": {"thickness": 1e-3}, "contact": {"self": True}}, "contact.self = true needs a body with an inside"),
        ({"shell": {"thickness": 1e-3}, "material": {"model": "stvk"}}, "material.model has no meaning"),
        ({"shell": {"thickness": 1e-3}, "mesh": {"render": "x.obj"}}, "mesh.render has nothing to follow"),
        ({"shell": {"thickness": 1e-3, "open": "all"}}, "shell.open leaves nothing"),
        ({"shell": {"thickness": 0.0}}, "shell.thickness"),
        ({"volume": {"keys": []}}, "empty list of keys"),
        ({"volume": {"keys": [{"t": 0.0, "factor": 0.0}]}}, "factor"),
        ({"skin": {"thickness": 1e-3, "limits": [1.1, 0.9]}}, "two numbers, the smaller first"),
        (
            {"method": {"name": "hyperreduced", "projection": "fit", "samples": 5}, "mesh": {"resolution": 10}},
            "samples .* too few: ask for",
        ),
    ],
)
def test_what_cannot_be_served_is_named(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(SuppleError, match=said):
        build_scene(parse_scene(changed(BLOCK, **tables)))


def test_more_handles_than_vertices_are_as_many_as_there_are() -> None:
    stage = set_stage(
        parse_scene(changed(BLOCK, method={"name": "hyperreduced", "handles": 5000}, contact={"stiffness": 1e6}))
    )
    notes = [finding.text for finding in diagnose(stage) if finding.check in ("spaces", "contact")]
    assert any("method.handles = 5000" in note for note in notes)
    assert any("contact.stiffness says nothing" in note for note in notes)
    assert len(list(simulate(build_scene(stage.scene)))) == 3


def test_loose_parts_all_get_handles() -> None:
    pair = {
        "mesh": {"shape": "box", "resolution": 12},
        "shell": {"thickness": 1e-2, "open": {"box": [[-0.03, -1, -1], [0.03, 1, 1]]}},
    }
    scene = parse_scene(changed(BLOCK, **pair, method={"name": "hyperreduced"}, pin=[{"select": "min y"}]))
    built = build_scene(scene)
    assert int(built.mesh.components().max()) == 1
    assert all(np.isfinite(built.solver.positions(now.state)).all() for now in simulate(built))


def test_tolerance_chooses_spaces_and_warns_where_it_is_missed() -> None:
    method = {"name": "hyperreduced", "handles": 8, "clusters": 20}
    scene = parse_scene(changed(BLOCK, mesh={"resolution": 8}, method={**method, "tolerance": 0.9}))
    built = build_scene(scene)
    assert "miss unreduced steps by" in built.said[0]
    with pytest.warns(SuppleWarning, match=r"where method\.tolerance = 1e-09 was asked for"):
        build_scene(scene.model_copy(update={"method": scene.method.model_copy(update={"tolerance": 1e-9})}))


@pytest.mark.parametrize("scene", [BLOCK, SHELL], ids=["solid", "shell"])
def test_comparison_says_what_it_compares_with(scene: dict[str, Any], tmp_path: Path) -> None:
    from supple.scene.toml import write_toml

    (tmp_path / "scene.toml").write_text(
        write_toml(parse_scene(changed(scene, method={"name": "hyperreduced"})).keys())
    )
    said: list[str] = []
    asked = Asked(tmp_path / "scene.toml", tmp_path / "page.html")
    facts = launch_comparison(asked, SilentListener(), said.append, said.append)
    assert (tmp_path / "page.html").exists()
    wanted = "projective (converged 10 times as far)" if scene is SHELL else "full ("
    assert facts["full"]["label"].startswith(wanted)


def test_reference_lists_the_tables() -> None:
    text = scene_reference()
    assert all(f"`[{table}]`" in text for table in ("shell", "skin", "volume"))


def test_keys_survive_a_round_trip() -> None:
    scene = parse_scene(
        changed(BLOCK, skin={"thickness": 1e-3, "limits": [0.9, 1.1]}, volume={"keys": [{"t": 0.0, "factor": 2.0}]})
    )
    assert parse_scene(scene.keys()) == scene
