"""Scenes with method.name = "condensation": what they refuse, and what their runs tell."""

import pytest

from supple.errors import SceneError
from supple.method import CondensationSolver
from supple.scene import parse_scene, prepare_scene, set_stage, simulate, start_scene

SCENE = {
    "gravity": False,
    "time": {"fps": 50, "frames": 4, "substeps": 1},
    "mesh": {"shape": "beam", "size": {"length": 0.5, "width": 0.1, "height": 0.1}, "resolution": 8},
    "material": {"young": 2e5},
    "pin": [{"select": "min x"}],
    "collider": [
        {
            "shape": "sphere", "size": {"radius": 0.05}, "at": [0.1, 0.13, 0.0],
            "move": {"keys": [{"t": 0.0, "by": [0, 0, 0]}, {"t": 0.08, "by": [0, -0.04, 0]}]},
        }
    ],
    "method": {"name": "condensation", "tolerance": 0.1, "radius": 0.2},
    "training": {"cases": 1, "heldout": 1, "max_cases": 1, "steps": 8},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"pin": [], "time": {"integrator": "static"}},
            "equilibria of bodies that nothing holds: add a \\[\\[pin\\]\\]",
        ),
        ({"pin": [{"select": "min x", "until": 0.1}]}, "that comes or goes: let it hold all the time"),
        ({"time": {"integrator": "newmark"}}, 'integrator = "newmark": use "implicit_euler"'),
        ({"rig": {}, "mesh": {"shape": "capsule"}, "pin": [{"select": "min x"}]}, "by rig.hold"),
        ({"contact": {"self": "rules"}}, "the scene has no \\[rig\\]: use"),
    ],
)
def test_what_it_does_not_know_is_refused_with_a_remedy(changes: dict, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        set_stage(parse_scene({**SCENE, **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"pin": []},
        {"pin": [], "rig": {}, "mesh": {"shape": "capsule", "resolution": 8}, "training": {"domains": "bones"}},
    ],
)
def test_free_bodies_and_domains_are_let_through(changes: dict) -> None:
    assert set_stage(parse_scene({**SCENE, **changes})).scene.method.name == "condensation"


def test_radius_of_handles_is_still_refused_below_one() -> None:
    with pytest.raises(SceneError, match="radius below 1"):
        parse_scene({**SCENE, "method": {"name": "hyperreduced", "radius": 0.5}})


@pytest.mark.parametrize("move", [None, {"velocity": [0, 0.1, 0]}])
def test_a_run_tells_how_much_was_full(move: dict | None, recwarn) -> None:
    built = prepare_scene(set_stage(parse_scene({**SCENE, "pin": [{"select": "min x", "move": move}]})))
    recwarn.clear()  # a model of one case may miss its tolerance
    assert isinstance(built.solver, CondensationSolver)
    assert built.solver.radius == pytest.approx(0.1)
    assert "full space within 0.1 m of what touches" in " ".join(built.solver.describe())
    rows = [now.row for now in simulate(built, start_scene(built)) if now.row is not None]
    assert rows[-1].kind == "hybrid"
    assert 0.0 < rows[-1].full_share < 1.0
    assert rows[-1].contacts > 0


def test_a_rigged_body_bends_against_a_ball(recwarn) -> None:
    """Trained without the ball, for contact is what full space is for."""
    ball = {"shape": "sphere", "size": {"radius": 0.1}, "at": [-0.0145, 0.297, 0.0]}
    scene = {
        "gravity": False, "time": {"frames": 3, "integrator": "static"},
        "mesh": {"shape": "capsule", "resolution": 10}, "material": {"young": 3e4}, "rig": {},
        "motion": {"keys": [{"t": 0.0, "pose": "rest"}, {"t": 0.25, "pose": "bent"}]},
        "collider": [ball], "contact": {"self": False},
        "method": {"name": "condensation", "tolerance": 0.2, "radius": 0.2},
        "training": {"cases": 1, "heldout": 1, "max_cases": 1, "steps": 4},
    }  # fmt: skip
    built = prepare_scene(set_stage(parse_scene(scene)))
    rows = [now.row for now in simulate(built, start_scene(built)) if now.row is not None]
    recwarn.clear()
    assert rows[-1].contacts > 0
    assert 0.0 < rows[-1].full_share < 1.0
