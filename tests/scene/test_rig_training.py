"""Rigged scenes in a subspace: cases, trained models and their files, runs with them, what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.errors import SceneError, SuppleError, SuppleWarning, TrainingError
from supple.io import load_model, load_skinned, save_skinned
from supple.method import SkinnedModel
from supple.rig import SkinnedRig
from supple.scene import SilentListener, Stage, parse_scene, prepare_scene, set_stage, simulate, start_scene
from supple.scene.cases import case_steps, draw_cases, draw_judges
from supple.scene.info import describe_file
from supple.scene.launch import save_scene
from supple.scene.load import override
from supple.scene.prepare import default_model, load_named
from supple.scene.solvers import add_solver
from supple.scene.stage import Built

Tables = dict[str, Any]
TOLERANCE = 0.1
# Bones move from the first step on, so that runs begin with the velocity of the rig
BENT: Tables = {
    "time": {"fps": 24, "frames": 12, "substeps": 1},
    "mesh": {"shape": "capsule", "resolution": 10},
    "material": {"young": 2e4, "damping_stiffness": 0.003},
    "rig": {},
    "motion": {"between": "linear", "keys": [{"t": 0.4, "pose": "bent"}]},
    "method": {"name": "reduced", "tolerance": TOLERANCE},
    "training": {"cases": 3, "max_cases": 3, "heldout": 2, "steps": 12},
}


class Heard(SilentListener):
    def __init__(self) -> None:
        self.text = ""

    def say(self, text: str) -> None:
        self.text += text + "\n"


def stage_of(**changes: Any) -> Stage:
    return set_stage(parse_scene(override(BENT, changes)))


def rig_of(stage: Stage) -> SkinnedRig:
    assert stage.drive.rigging is not None
    return stage.drive.rigging.rig


def miss(built: Built, full: Built) -> float:
    """Error of a run against another, relative to what flesh moves beside its bones."""
    rig, course, squares = rig_of(built), built.drive.rigging.course, np.zeros(2)
    for one, other in zip(simulate(built), simulate(full), strict=True):
        x, wanted = built.solver.positions(one.state), full.solver.positions(other.state)
        beside = wanted - rig.positions(course.pose(one.frame / 24))
        squares += [built.body.mass @ (d**2).sum(axis=1) for d in (x - wanted, beside)]
    return float(np.sqrt(squares[0] / squares[1]))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene file whose model was trained by the command line."""
    file = tmp_path_factory.mktemp("bent") / "bent.toml"
    save_scene(file, parse_scene(BENT), "bent")
    assert main(["train", str(file), "--quiet"]) == 0
    return file


@pytest.fixture(scope="module")
def stage() -> Stage:
    return stage_of()


@pytest.fixture(scope="module")
def model(source: Path, stage: Stage) -> SkinnedModel:
    return load_skinned(default_model(source), stage.body, rig_of(stage))


def test_cases_go_through_the_motion_at_other_speeds_and_the_first_judge_is_the_scene(stage: Stage) -> None:
    cases, judges = draw_cases(stage, 12, range(3)), draw_judges(stage, 12)
    bends = [case.poses()[4, -1] for case in (*cases, *judges)]
    assert len(set(bends)) == len(bends)
    course = stage.drive.rigging.course
    assert judges[0].poses()[4] == pytest.approx(course.pose(4 / 24))
    assert len({case.stamp("", 1e-4) for case in (*cases, *judges)}) == 5
    assert all(np.abs(case.velocity).max() > 0.1 for case in cases)
    reached = [float(np.abs(case.poses()[-1] - course.pose(0.5)).max()) for case in draw_cases(stage, 10, range(8))]
    assert all(far < 1e-9 for far in reached[::2])  # every other case gets to the end
    fast = course.hastened(2.0, rig_of(stage).skeleton)
    assert fast.pose(0.1) == pytest.approx(course.pose(0.2))
    assert case_steps(stage_of(training={"steps": None}), 1e-3)[0] == 12  # a period at least, or till bones rest


def test_a_pre_roll_leads_into_the_motion_at_any_speed() -> None:
    course = stage_of(time={"preroll": 12}).drive.rigging.course
    fast = course.hastened(2.0, rig_of(stage_of()).skeleton)
    assert fast.lead.begin == course.lead.begin
    assert fast.pose(-0.5) == pytest.approx(course.pose(-0.5))
    speeds = [(one.pose(0.0) - one.pose(-1e-4))[-1] for one in (course, fast)]
    assert speeds[1] == pytest.approx(2.0 * speeds[0], rel=0.01)


@pytest.mark.filterwarnings("ignore:frame .* are inverted")  # beside the joint
def test_the_model_meets_its_tolerance_and_runs_as_the_full_solver_does(
    source: Path, stage: Stage, model: SkinnedModel
) -> None:
    assert model.error is not None
    assert model.error <= TOLERANCE
    assert model.facts["met"]
    assert model.facts["particles"] == model.particles.size > 0
    assert len(model.poses) == 3 * 13
    heard = Heard()
    reduced = prepare_scene(stage, heard, source)
    assert heard.text.startswith(f"using {default_model(source)}: rank {model.basis.rank}")
    full = add_solver(replace(stage, scene=stage.scene.under("full")))
    error = miss(reduced, full)
    assert error == pytest.approx(model.facts["error"], rel=1.0)
    assert error <= TOLERANCE


@pytest.mark.filterwarnings("ignore:frame .* are inverted")  # beside the joint
def test_newmark_runs_with_it_too(model: SkinnedModel) -> None:
    stage = stage_of(time={"integrator": "newmark", "substeps": 4})
    full = add_solver(replace(stage, scene=stage.scene.under("full")))
    assert miss(add_solver(stage, model), full) < 2 * TOLERANCE  # it was trained for another integrator


@pytest.mark.filterwarnings("ignore::supple.errors.SuppleWarning")  # what was not trained does not always settle
def test_a_ball_in_the_way_is_met(model: SkinnedModel) -> None:
    place = [0.2, 0.5, 0.0]
    ball = {"shape": "sphere", "size": {"radius": 0.15}, "at": place}
    near = []
    for changes in ({"collider": [ball]}, {}):
        built = add_solver(stage_of(**changes), model)
        *_, last = simulate(built)
        near.append(np.linalg.norm(built.solver.positions(last.state) - place, axis=1).min())
    assert near[0] > near[1] + 0.01  # few coordinates, trained without the ball, give way as far as they can


def test_a_run_starts_with_the_velocity_of_the_rig(stage: Stage, model: SkinnedModel) -> None:
    built = add_solver(stage, model)
    state = start_scene(built).state
    x, v, _ = built.solver.to_full(state)
    assert x == pytest.approx(rig_of(stage).positions(stage.drive.rigging.course.pose(0.0)))
    assert state.particles[1] == pytest.approx(stage.velocity[model.particles.members])
    assert np.isfinite(v).all()


def test_compare_and_info_speak_of_it(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(source), "-o", str(source.with_suffix(".html")), "--json", "-", "--quiet"]) == 0
    method = json.loads(capsys.readouterr().out)["methods"][0]
    assert method["method"] == "skinned"
    assert method["judged_by"] == "relative_to_skinning"
    assert method["within_tolerance"]
    assert method["error"]["relative"] < method["error"]["relative_to_skinning"] <= TOLERANCE
    facts = describe_file(default_model(source))
    assert facts["serves"] == "a body with a rig"
    assert facts["elements"] > facts["rank"] > 3


def test_a_file_holds_a_model_bit_for_bit(source: Path, stage: Stage, model: SkinnedModel, tmp_path: Path) -> None:
    again = save_skinned(tmp_path / "again.npz", model, stage.body, rig_of(stage))
    assert again.read_bytes() == default_model(source).read_bytes()
    assert model.hash() == load_skinned(again).hash()
    with np.load(again) as members:
        arrays = {**members, "vertices": members["vertices"] + 100_000}
    np.savez(again, **arrays)
    with pytest.raises(SuppleError, match=r"its rule has vertices outside the \d+ of its mesh; train it again"):
        load_skinned(again)


def test_another_rig_is_refused_with_what_differs(source: Path, stage: Stage) -> None:
    rig, path = rig_of(stage), default_model(source)
    skeleton = replace(rig.skeleton, heads=rig.skeleton.heads + 0.01)
    flipped = replace(rig.influences, weights=rig.influences.weights[:, ::-1].copy())
    for other, said in [
        (replace(rig, mode="linear"), "is skinned by dual quaternion where this one is by linear"),
        (replace(rig, skeleton=skeleton), "has other bones"),
        (replace(rig, influences=flipped), "moves its vertices by other weights"),
    ]:
        with pytest.raises(TrainingError, match=f"was trained for another rig, which {said}: train again"):
            load_skinned(path, stage.body, other)
    stiffer = stage_of(material={"young": 3e4}).body
    with pytest.raises(TrainingError, match="another body, which is made of other materials"):
        load_skinned(path, stiffer, rig)
    with pytest.raises(TrainingError, match="trained for a body with a rig and not for a body without a rig"):
        load_model(path, stage.body)


def test_a_model_for_another_motion_is_warned_of(source: Path) -> None:
    other = stage_of(motion={"keys": [{"t": 0.4, "pose": "folded"}]})
    with pytest.warns(SuppleWarning, match="was trained for other loads, pins, motions or time steps"):
        load_named(other, default_model(source), SilentListener())


@pytest.mark.parametrize("changes", [{"time": {"integrator": "static"}}, {"rig": {"skinning": "linear"}}])
def test_statics_and_linear_blends_are_trained_too(changes: Tables) -> None:
    short = {"motion": {"keys": [{"t": 0.4, "second": [0, 0, 40]}]}, "training": {"cases": 2, "max_cases": 2}}
    built = prepare_scene(stage_of(**override(short, changes)))
    assert built.model is not None
    assert built.model.error is not None
    assert built.model.error <= TOLERANCE


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rig": {"rest": "posed"}}, 'rig.rest = "posed", where flesh springs back'),
        ({"rig": {"hold": "none"}}, 'rig.hold = "none", for nothing'),
        ({"pin": [{"select": "min x"}]}, r"a pin\[0\] that holds what bones do not"),
    ],
)
def test_what_is_not_built_is_refused(changes: Tables, said: str) -> None:
    with pytest.raises(SceneError, match=rf'^method.name = "reduced" does not know {said}.*, or use .*"full"\.$'):
        stage_of(**changes)
