"""Bodies under methods of subspaces that touch others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.scene import build_scene, parse_scene, prepare_scene, set_stage, simulate, start_scene
from supple.scene.compare import Contestant, compare_methods, under_full
from supple.scene.toml import write_toml

BALL = {
    "name": "ball",
    "mesh": {"shape": "sphere", "size": {"radius": 0.06}, "resolution": 4},
    "material": {"young": 3e4},
}
CURLED = {
    "name": "tail",
    "mesh": {"shape": "beam", "resolution": 6},
    "material": {"young": 4e5, "damping_mass": 1.0},
    "rig": {
        "rest": "posed",
        "hold": "min x 5%",
        "bones": False,
        "deformer": [{"kind": "bend", "name": "curl", "start": [-0.3, 0, 0], "end": [0.4, 0, 0], "about": [0, 0, 1]}],
    },
    "motion": {"keys": [{"t": 0.0, "curl": 0.0}, {"t": 0.3, "curl": 30.0}]},
    "training": {"heldout": 1, "poses": [{"curl": 20.0}], "max_poses": 3},
    "method": {"name": "posespace", "rank": 8, "tolerance": 0.5},
}
ARM = {
    "name": "arm",
    "at": [0.1, 0.17, 0],
    "rotate": [0, 90, 0],
    "mesh": {"shape": "capsule", "size": {"length": 0.6, "radius": 0.07}, "resolution": 8},
    "rig": {"hold": "min x 15%"},
    "motion": {"keys": [{"t": 0.0, "pose": "rest"}, {"t": 0.3, "second": [0, 0, -40]}]},
    "training": {"cases": 1, "heldout": 1, "max_cases": 1, "steps": 6},
    "method": {"name": "reduced", "rank": 8, "tolerance": 0.5},
}


def tables(*bodies: dict[str, Any], frames: int, **time: Any) -> dict[str, Any]:
    return {
        "time": {"frames": frames, "fps": 30, "substeps": 1, **time},
        "material": {"young": 1e5},
        "contact": {"friction": 0.4},
        "body": list(bodies),
    }


@pytest.mark.filterwarnings("ignore:the subspace", "ignore:at .* the body is deformed")  # none was trained for it
def test_two_characters_with_methods_of_their_own_press_on_each_other():
    built = prepare_scene(set_stage(parse_scene(tables(CURLED, ARM, frames=7))))
    assert built.solver.name == "posespace + skinned"
    frames = list(simulate(built, start_scene(built)))
    assert all(now.row.contact_settled for now in frames)
    assert frames[-1].row.body_contacts["arm"] > 0
    assert frames[-1].row.contact_depth < 1e-3
    push = frames[-1].state.push
    assert push[built.spans()["tail"], 1].sum() < -1.0  # the arm leans on the tail [N]
    assert np.abs(push.sum(axis=0)).max() < 1e-12 * np.abs(push).sum()


@pytest.mark.filterwarnings("ignore:the subspace")
def test_a_ball_on_a_condensed_bar_goes_as_in_full_space():
    """In full space it comes to lie on a ridge, where contacts went to and fro between faces."""
    bar = {
        "name": "bar",
        "mesh": {"shape": "beam", "size": {"length": 0.5, "width": 0.1, "height": 0.1}, "resolution": 8},
        "material": {"young": 2e5},
        "pin": [{"select": "min x"}],
        "training": {"cases": 1, "heldout": 1, "max_cases": 1, "steps": 8},
        "method": {"name": "condensation", "tolerance": 0.1, "radius": 0.2},
    }
    stage = set_stage(parse_scene(tables(bar, {**BALL, "at": [0.1, 0.115, 0]}, frames=7)))
    built = prepare_scene(stage)
    result = compare_methods(Contestant("full", under_full(stage, "direct")), [Contestant(built.solver.name, built)])
    (entry,) = result.entries
    assert all(row.contact_settled for row in (*result.track.rows, *entry.track.rows))
    assert entry.track.rows[-1].body_contacts["bar"] > 0
    assert entry.errors.relative < 0.05


def pressed(integrator: str, frames: int, **box: Any) -> dict[str, Any]:
    """A box on a slab that is held."""
    slab = {"shape": "box", "size": {"length": 0.4, "width": 0.4, "height": 0.1}, "resolution": 4}
    small = {"shape": "box", "size": {"length": 0.2, "width": 0.2, "height": 0.1}, "resolution": 3}
    low = {"name": "slab", "mesh": slab, "material": {"young": 2e4}, "pin": [{"select": "min y"}]}
    up = {"name": "box", "mesh": small, "material": {"young": 5e4, "density": 800.0}, **box}
    return tables(low, up, frames=frames, integrator=integrator)


def test_statics_press_as_deep_as_springs_in_a_row_do():
    """Slab, box and contact share what a plate is lowered by: nothing is lost between them."""
    lowered = {"keys": [{"t": 0.0, "by": [0, 0, 0]}, {"t": 4 / 30, "by": [0, -0.012, 0]}]}
    scene = pressed("static", 4, at=[0, 0.1, 0], pin=[{"select": "max y", "move": lowered}])
    built = build_scene(parse_scene({**scene, "gravity": False}))
    frames = list(simulate(built, start_scene(built)))
    assert all(now.row.contact_settled for now in frames)
    force = [float(now.state.push[built.spans()["box"], 1].sum()) for now in frames]
    assert force[3] == pytest.approx(4 * force[0], rel=0.15)  # rubber grows a little stiffer
    row = 0.04 / (0.1 / 5e4 + 0.1 / 2e4)  # of columns that may spread, under a plate that holds them
    assert row < force[0] / 0.003 < 2.5 * row


def test_a_hard_hit_at_long_steps_is_taken_in_halves_and_does_not_go_through():
    """At 10 m/s, a third of a metre in a step."""
    built = build_scene(parse_scene(pressed("implicit_euler", 3, at=[0, 0.2, 0], start={"velocity": [0, -10.0, 0]})))
    frames = list(simulate(built, start_scene(built)))
    assert frames[0].row.halvings > 0
    assert all(now.row.contact_settled for now in frames)
    low = [built.solver.positions(now.state)[built.spans()["box"], 1].min() for now in frames]
    assert -0.05 < min(low) < 0.02  # squeezed, but not through
    assert low[-1] > 0.04


def test_compare_holds_the_methods_of_bodies_against_full_space(tmp_path: Path, capsys) -> None:
    scene = pressed(
        "implicit_euler", 1, at=[0, 0.101, 0], method={"name": "hyperreduced", "handles": 20, "clusters": 20}
    )
    source = tmp_path / "pile.toml"
    source.write_text(write_toml(parse_scene(scene).keys(), "a test"))
    facts = tmp_path / "facts.json"
    assert main(["compare", str(source), "--json", str(facts), "-o", str(tmp_path / "page.html")]) == 0
    assert "full + hyperreduced" in json.dumps(json.loads(facts.read_text()))
    assert main(["compare", str(source), "--pareto"]) != 0
    assert "--pareto is for one body, and the scene has 2" in capsys.readouterr().err
