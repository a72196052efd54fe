"""Models trained to an accuracy: cases, their cache, what is chosen, what is refused, and runs with them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.cubature import Rule
from supple.errors import SceneError, SuppleWarning, TrainingError
from supple.io import load_model, save_tets
from supple.mesh import TetMesh
from supple.method import FullSolver, ReducedModel
from supple.scene import SilentListener, Stage, build_scene, parse_scene, prepare_scene, run_scene, set_stage
from supple.scene.cases import Case, case_steps, draw_cases, draw_judges, play_case
from supple.scene.interrupt import StopRequest
from supple.scene.load import override
from supple.scene.prepare import _unfit, bare_name, default_model, train_scene
from supple.scene.snapshot_cache import SnapshotCache, record_cases
from supple.scene.solvers import reduced_solver
from supple.scene.training import train_model
from supple.scene.training_basis import Span, soft_modes, span_motions
from supple.scene.training_motion import gather_snapshots, see_locally
from supple.scene.training_pins import follow_pins
from supple.scene.training_report import _find_remedy
from supple.scene.training_search import Attempt, Trainer, _has_stalled
from supple.subspace import Basis

TOLERANCE = 0.02
SCENE: dict[str, Any] = {
    "time": {"fps": 48, "substeps": 1, "frames": 20},
    "mesh": {"shape": "beam", "resolution": 10},
    "material": {"young": 1e6, "poisson": 0.4},
    "pin": [{"select": "min x"}],
    "force": [{"kind": "region", "select": "max x", "vector": [0.0, 0.0, 60.0], "until": 0.2}],
    "method": {"name": "reduced", "tolerance": TOLERANCE},
    "training": {"cases": 4, "max_cases": 4, "heldout": 1, "steps": 20},
}


class Heard(SilentListener):
    """Remembers what was said and how many steps were simulated."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.steps = 0

    def say(self, text: str) -> None:
        self.said.append(text)

    def frame(self, row: object) -> None:
        self.steps += 1

    @property
    def text(self) -> str:
        return "\n".join(self.said)


def stage_of(**changes: Any) -> Stage:
    return set_stage(parse_scene(override(SCENE, changes)))


def draw(stage: Stage, steps: int, heldout_steps: int) -> tuple[list[Case], list[Case]]:
    """The scene's first cases, and those that judge."""
    return draw_cases(stage, steps, range(stage.scene.training.cases)), draw_judges(stage, heldout_steps)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, ReducedModel, Path]:
    """A trained model with its cache."""
    stage, cache = stage_of(), tmp_path_factory.mktemp("training")
    return stage, train_model(stage, cache=cache), cache


def stamps(stage: Stage, steps: int = 20) -> list[str]:
    cases, heldout = draw(stage, steps, steps)
    return [case.stamp(stage.body.hash(), 1e-4) for case in (*cases, *heldout)]


def test_a_case_is_the_same_whatever_the_number_of_cases() -> None:
    few = stamps(stage_of(training={"cases": 2}))
    many = stamps(stage_of(training={"cases": 5}))
    assert few[:2] == many[:2]
    assert few[-1] == many[-1]
    assert len(set(many)) == 6
    assert set(many) & set(stamps(stage_of(training={"seed": 1}))) == {many[-1]}  # the scene itself


def test_the_scene_itself_is_the_first_judge_unless_it_deforms_nothing() -> None:
    stage = stage_of(training={"heldout": 2}, start={"spin": [0.0, 1.0, 0.0]})
    _, (first, second) = draw(stage, 3, 5)
    assert first.drive.gravity == stage.drive.gravity
    assert [load.force.vector for load in first.drive.loads] == [(0.0, 0.0, 60.0)]
    assert first.velocity.tobytes() == stage.velocity.tobytes()
    assert first.steps == 5
    assert second.drive.gravity != stage.drive.gravity
    push = {"kind": "region", "select": "max x", "vector": [0.0, 0.0, 60.0]}
    falling = stage_of(pin=[], force=[], training={"load": [push]})
    _, (drawn,) = draw(falling, 3, 3)
    assert len(drawn.drive.loads) == 1


@pytest.mark.parametrize("motion", [{"move": {"velocity": [0.0, 0.1, 0.0]}}, {"turn": {"axis": "x", "speed": 90.0}}])
def test_pins_that_move_for_ever_are_trained_for_the_whole_scene(motion: dict[str, Any]) -> None:
    stage = stage_of(pin=[{"select": "min x", **motion}], force=[], training={"steps": None}, method={"tolerance": 0.4})
    assert case_steps(stage, period=0.01) == (20, 20)
    assert train_model(stage).error is not None


def test_a_scene_longer_than_its_judges_says_so(trained: tuple[Stage, ReducedModel, Path]) -> None:
    assert (trained[1].facts["heldout_steps"], trained[1].facts["scene_steps"]) == (20, 20)
    heard = Heard()
    stage = stage_of(time={"frames": 400}, training={"steps": 8, "cases": 2}, method={"tolerance": 0.1})
    model = train_model(stage, listener=heard)
    assert heard.text.count("judged on 8 of 400 steps of the scene") == 1
    assert (model.facts["heldout_steps"], model.facts["scene_steps"]) == (8, 400)


def test_loads_stay_within_the_range_and_the_turn() -> None:
    stage = stage_of(training={"cases": 40, "strength": [0.5, 2.0], "turn": 10.0}, start={"spin": [0.0, 1.0, 0.0]})
    cases, _ = draw(stage, 3, 3)
    for given, vectors in {
        (0.0, -9.81, 0.0): [case.drive.gravity for case in cases],
        (0.0, 0.0, 60.0): [case.drive.loads[0].force.vector for case in cases],
    }.items():
        sizes = np.linalg.norm(vectors, axis=1) / np.linalg.norm(given)
        assert 0.5 <= sizes.min() < 0.7
        assert 1.8 < sizes.max() <= 2.0
        cosine = np.asarray(vectors) @ given / np.linalg.norm(vectors, axis=1) / np.linalg.norm(given)
        assert cosine.min() >= np.cos(np.deg2rad(10.0)) - 1e-12
        assert cosine.max() < 1.0
    speeds = [np.abs(case.velocity).max() / np.abs(stage.velocity).max() for case in cases]
    assert len({round(speed, 6) for speed in speeds}) == 40


def test_training_loads_act_in_cases_and_not_in_the_scene_and_follow_the_units() -> None:
    load = {"kind": "point", "at": [50.0, 0.0, 0.0], "vector": [1.0, 0.0, 0.0]}
    stage = stage_of(
        units="cm",
        mesh={"size": {"length": 100.0, "width": 20.0, "height": 20.0}},
        training={"load": [load], "turn": 0.0, "strength": [1.0, 1.0]},
    )
    cases, _ = draw(stage, 3, 3)
    assert len(stage.drive.loads) == 1
    push = cases[0].drive.loads[1]
    place = push.weights @ stage.mesh.vertices[push.vertices]
    assert place == pytest.approx([0.5, 0.0, 0.0], abs=1e-9)
    assert push.force.vector == pytest.approx([1.0, 0.0, 0.0])


def test_pins_of_a_case_go_through_their_motion_at_another_speed() -> None:
    keys = [{"t": 0.0, "by": [0.0, 0.0, 0.0]}, {"t": 0.5, "by": [0.0, 0.2, 0.0]}]
    stage = stage_of(pin=[{"select": "min x", "move": keys}], training={"strength": [2.0, 2.0]})
    cases, _ = draw(stage, 3, 3)
    rest = stage.mesh.vertices[stage.body.pins.vertices]
    assert cases[0].drive.targets(0.125, 0.125) - rest == pytest.approx(np.tile([0.0, 0.1, 0.0], (len(rest), 1)))


def test_static_loads_grow_in_step() -> None:
    stage = stage_of(time={"integrator": "static"}, force=[], training={"turn": 0.0, "strength": [1.0, 1.0]})
    (case, *_), _ = draw(stage, 4, 4)
    pull = [case.inputs(number).end.forces[0].acceleration[1] for number in range(4)]  # type: ignore[attr-defined]
    assert pull == pytest.approx([-9.81 * share for share in (0.25, 0.5, 0.75, 1.0)])
    assert case.inputs(0).begin.forces[0].acceleration[1] == 0.0  # type: ignore[attr-defined]


def test_cases_last_for_a_period_and_for_all_that_the_scene_does() -> None:
    quiet = {"training": {"steps": None}, "force": []}
    assert case_steps(stage_of(**quiet), period=0.01) == (12, 20)
    assert case_steps(stage_of(**quiet), period=0.5) == (24, 24)
    assert case_steps(stage_of(**quiet), period=50.0) == (60, 60)
    assert case_steps(stage_of(**quiet, time={"preroll": 3, "frames": 200}), period=0.5) == (27, 120)
    pushed = override(quiet, {"force": [{**SCENE["force"][0], "until": 2.0}], "time": {"frames": 90}})
    assert case_steps(stage_of(**pushed), period=0.5) == (90, 90)


def test_without_any_load_gravity_pulls_in_random_directions() -> None:
    stage, heard = stage_of(gravity=False, force=[], method={"tolerance": 0.5}, training={"steps": 6}), Heard()
    train_model(stage, listener=heard)
    cases, heldout = draw(stage, 3, 3)
    pulls = np.array([case.drive.gravity for case in (*cases, *heldout)])
    assert np.linalg.matrix_rank(pulls) == 3
    assert "trained for gravity in random directions" in heard.text


def test_the_tolerance_is_met_and_what_was_chosen_is_stored(trained: tuple[Stage, ReducedModel, Path]) -> None:
    stage, model, _ = trained
    facts = model.facts
    assert model.error is not None
    assert (facts["met"], facts["tolerance"], facts["error"]) == (True, TOLERANCE, model.error)
    assert model.error <= TOLERANCE
    assert (facts["rank"], facts["elements"]) == (model.basis.rank, model.rule.size)
    assert model.rule.size < len(stage.mesh.tets) / 4
    assert set(facts["seconds"]) == {"simulate", "basis", "rule", "check"}
    assert facts["error_by_rank"][facts["rank"] - 1] == pytest.approx(facts["projection_error"])
    assert np.all(np.diff(facts["singular_values"]) <= 0.0)
    assert len(facts["error_by_size"]["elements"]) == len(facts["error_by_size"]["error"])


def test_the_stored_error_is_that_of_a_run_of_the_held_out_case(trained: tuple[Stage, ReducedModel, Path]) -> None:
    stage, model, cache = trained
    _, (case,) = draw(stage, 20, 20)
    (full,) = record_cases(stage, [case], SnapshotCache(cache), SilentListener())
    reduced = np.stack([x for x, _ in play_case(case, reduced_solver(stage, model))])
    rest, mass = stage.mesh.vertices, stage.body.mass
    error, motion = (np.einsum("tij,tij,i->", e, e, mass) for e in (reduced - full.x, full.x - rest))
    assert np.sqrt(error / motion) == pytest.approx(model.error, rel=1e-6)  # displacements have single precision


def test_reach_is_the_largest_trained_size_in_the_energy_norm(trained: tuple[Stage, ReducedModel, Path]) -> None:
    stage, model, cache = trained
    cases, _ = draw(stage, 20, 20)
    recorded = record_cases(stage, cases, SnapshotCache(cache), SilentListener())
    u = np.concatenate([one.x - stage.mesh.vertices for one in recorded])
    sizes = [np.sqrt(model.basis.importance @ model.basis.project(field) ** 2) for field in u]
    assert max(sizes) == pytest.approx(model.reach)


def test_a_second_training_reads_the_cache_and_gives_the_same_model(
    trained: tuple[Stage, ReducedModel, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, model, cache = trained
    monkeypatch.setattr(FullSolver, "step", lambda *_: pytest.fail("a case was simulated again"))
    heard = Heard()
    again = train_model(stage, cache=cache, listener=heard)
    assert again.hash() == model.hash()
    assert again.facts["seconds"]["simulate"] == model.facts["seconds"]["simulate"]
    assert "5 of 5 training cases are read" in heard.text
    assert heard.steps == 0


def test_a_stopped_training_goes_on_where_it_was(tmp_path: Path) -> None:
    class Stopped(Heard):
        def frame(self, row: object) -> None:
            super().frame(row)
            if self.steps == 15:
                raise KeyboardInterrupt

    stage = stage_of(training={"steps": 6})
    cases, heldout = draw(stage, 6, 6)
    with pytest.raises(KeyboardInterrupt):
        record_cases(stage, [*cases, *heldout], SnapshotCache(tmp_path), Stopped())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case-0000.npz", "case-0001.npz"]
    heard = Heard()
    recorded = record_cases(stage, [*cases, *heldout], SnapshotCache(tmp_path), heard)
    assert heard.steps == 3 * 6
    fresh = record_cases(stage, [*cases, *heldout], SnapshotCache(None), SilentListener())
    assert all(one.x.tobytes() == other.x.tobytes() for one, other in zip(recorded, fresh, strict=True))


def test_stale_and_damaged_cases_are_simulated_anew(tmp_path: Path) -> None:
    stage = stage_of(training={"steps": 3})
    (first, second, *_), _ = draw(stage, 3, 3)
    record_cases(stage, [first, second], SnapshotCache(tmp_path), SilentListener())
    (tmp_path / "case-0000.npz").write_bytes(b"PK\x03\x04 nothing")
    np.savez(tmp_path / "case-0001.npz", stamp=np.array("of another scene"), seconds=np.array(1.0), x=np.zeros(3))
    heard = Heard()
    record_cases(stage, [first, second], SnapshotCache(tmp_path), heard)
    assert heard.steps == 6
    assert "case-0000.npz is damaged: it is simulated anew" in heard.text
    assert "case-0001.npz holds another motion" in heard.text


def test_too_few_cases_warn_with_the_figure_and_leave_the_best() -> None:
    stage = stage_of(method={"tolerance": 1e-3}, training={"cases": 1, "steps": 6, "max_rank": 3})
    with pytest.warns(SuppleWarning, match=r"% where 0.1 % was asked for, and the subspace misses .* training.cases"):
        model = train_model(stage)
    assert model.error is not None
    assert model.error > 1e-3
    assert (model.facts["met"], model.basis.rank) == (False, 3)


def test_cases_are_added_until_they_teach_enough(tmp_path: Path) -> None:
    heard, push = Heard(), {"kind": "region", "select": "max x", "vector": [0.0, 0.0, 200.0], "until": 0.2}
    # The first case hardly moves: the eight directions that it leaves resist the bends of the scene
    few = {"cases": 1, "max_cases": 6, "heldout": 2, "strength": [0.0, 1.3], "seed": 7, "max_rank": 8}
    stage = stage_of(force=[push], training=few, method={"tolerance": 0.05})
    model = train_model(stage, cache=tmp_path, listener=heard)
    assert "1 training cases do not teach enough: more" in heard.text
    assert 1 < model.facts["cases"] <= 6
    assert model.error is not None
    assert model.error <= 0.05
    assert len(list(tmp_path.glob("case-*.npz"))) == model.facts["cases"]


def test_a_model_that_meets_the_tolerance_ends_the_training_whatever_was_tried_after_it(
    trained: tuple[Stage, ReducedModel, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Looser(Trainer):
        """Ends as a search does that tried a rule with too few elements last."""

        def search(self) -> list[Attempt]:
            attempts = super().search()
            return [*attempts, replace(attempts[-1], error=2.0 * TOLERANCE)]

    monkeypatch.setattr("supple.scene.training.Trainer", Looser)
    model = train_model(stage_of(training={"max_cases": 8}), cache=trained[2])
    assert (model.facts["cases"], model.facts["met"]) == (4, True)
    assert model.facts["attempts"]["error"][-1] > TOLERANCE


def test_a_training_whose_work_is_used_up_ends_with_the_best_model_and_says_so(
    trained: tuple[Stage, ReducedModel, Path],
) -> None:
    heard = Heard()
    stage = stage_of(training={"max_cases": 16, "budget": 1e-7}, method={"tolerance": 1e-5})
    with pytest.warns(
        SuppleWarning, match=r"work that rules may take was used up: raise training.budget \(now 1e-07\)"
    ):
        model = train_model(stage, cache=trained[2], listener=heard)
    assert "rules: at most 1e+05 products" in heard.text
    assert "100 full steps, at most 340 in 16 cases" in heard.text
    assert (model.facts["limited_by"], model.facts["met"]) == ("training.budget", False)
    assert (model.facts["cases"], len(model.facts["attempts"]["error"])) == (4, 1)
    assert model.rule.size > 0
    assert trained[1].facts["limited_by"] is None


def test_energy_that_a_subspace_adds_falls_with_its_rank(trained: tuple[Stage, ReducedModel, Path]) -> None:
    stage, _, cache = trained
    cases, judges = draw(stage, 20, 20)
    seen = [
        see_locally(one, follow_pins(stage))
        for one in record_cases(stage, [*cases, *judges], SnapshotCache(cache), Heard())
    ]
    train = gather_snapshots(iter(seen[:-1]), sum(len(motion.u) for motion in seen[:-1]))
    span = span_motions(stage.body, soft_modes(stage.body), train, seen[-1:], TOLERANCE, 60)
    excess = [span.excess(rank) for rank in (2, 8, 30)]
    assert excess[0] > 10 * excess[1] > 100 * abs(excess[2])
    assert span.rank_for(1.0, 1e-3) > span.rank_for(1.0, 1e-1) > span.rank_for(1.0, np.inf) == 1


def test_fixed_rank_and_elements_are_kept(trained: tuple[Stage, ReducedModel, Path]) -> None:
    _, _, cache = trained
    model = train_model(stage_of(method={"rank": 9, "elements": 40, "tolerance": 0.5}), cache=cache)
    assert model.basis.rank == 9
    assert model.rule.size <= 40


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"method": {"rank": 2000}}, TrainingError, "is more than the 270 coordinates the mesh moves in"),
        ({"method": {"rank": 200}, "training": {"cases": 1}}, TrainingError, "directions that the training cases hold"),
        ({"pin": [], "force": []}, TrainingError, "nothing deforms in training case-0000"),
        ({"pin": [{"select": "min x", "axes": "x"}]}, TrainingError, "free to move as a whole in 3 ways"),
        ({"pin": [{"select": "min x", "until": 0.1}]}, SceneError, "lets go at 0.1 s"),
        ({"pin": [{"select": "all"}], "force": []}, TrainingError, "the pins hold the whole body"),
    ],
    ids=["more than the mesh", "more than the cases", "only falls", "slides", "lets go", "all held"],
)
def test_what_cannot_be_trained_says_why(changes: dict[str, Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        train_model(stage_of(**override({"training": {"steps": 2}}, changes)))


def test_a_part_that_nothing_holds_is_refused(tmp_path: Path) -> None:
    beam = stage_of().mesh
    two = TetMesh.clean(
        np.concatenate([beam.vertices, beam.vertices + [0.0, 1.0, 0.0]]),
        np.concatenate([beam.tets, beam.tets + len(beam.vertices)]),
    )
    save_tets(tmp_path / "two.npz", two)
    tables = {**SCENE, "mesh": {"file": str(tmp_path / "two.npz")}, "force": []}
    held = {**tables, "pin": [{"select": {"sphere": {"centre": [-0.5, 0.0, 0.0], "radius": 0.2}}}]}
    with pytest.raises(TrainingError, match="1 of the 2 pieces of the body are held by no pin"):
        train_model(set_stage(parse_scene(held)))


def test_a_turned_end_is_carried_and_its_rule_knows_it() -> None:
    keys = [{"t": 0.0, "degrees": 0.0}, {"t": 0.3, "degrees": 60.0}]
    pins = [{"select": "min x"}, {"select": "max x", "turn": {"axis": "x", "keys": keys}}]
    stage = stage_of(pin=pins, force=[])
    frame = follow_pins(stage)
    assert frame.carried.shape[1] >= 1
    (case, *_), _ = draw(stage, 20, 20)
    (recorded,) = record_cases(stage, [case], SnapshotCache(None), SilentListener())
    motion = see_locally(recorded, frame)
    assert np.abs(motion.u[:, stage.body.pins.vertices]).max() < 1e-9
    model = train_model(stage)
    assert model.error is not None
    assert model.error <= TOLERANCE
    assert model.carried.shape[1] == frame.carried.shape[1]


def test_a_model_is_found_beside_the_scene_and_trained_anew_when_loads_change(tmp_path: Path) -> None:
    source, quick = tmp_path / "beam.toml", {"training": {"cases": 2, "steps": 6}, "method": {"tolerance": 0.2}}
    first, second, third = Heard(), Heard(), Heard()
    made = prepare_scene(stage_of(**quick), first, source)
    assert default_model(source).is_file()
    assert (tmp_path / "beam.training" / "case-0000.npz").is_file()
    found = prepare_scene(stage_of(**quick), second, source)
    assert made.model is not None
    assert found.model is not None
    assert found.model.hash() == made.model.hash()
    assert (first.steps, second.steps) == (18, 0)
    assert "using" in second.text
    prepare_scene(stage_of(**override(quick, {"gravity": [0.0, 0.0, -5.0]})), third, source)
    assert third.steps == 18
    assert "was trained for other loads, pins, motions or time steps: training again" in third.text


QUICK: dict[str, Any] = {"training": {"cases": 2, "steps": 6}, "method": {"tolerance": 0.2}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"training": {"cases": 3}}, "was trained with training.cases = 2 instead of 3"),
        ({"training": {"seed": 4}}, "was trained with training.seed = 0 instead of 4"),
        ({"training": {"strength": [1.0, 1.0]}}, r"training.strength = [0.4, 1.3] instead of [1.0, 1.0]"),
        ({"training": {"heldout": 2}}, "training.heldout = 1 instead of 2"),
        ({"method": {"rank": 5}}, "instead of 5"),
        ({"method": {"tolerance": 1e-6}}, "was trained to 20 % where 0.0001 % is asked for"),
        ({"training": {"seed": 0, "max_rank": 150}}, None),
        ({"method": {"elements": 10_000}}, None),
        ({"method": {"tolerance": None}}, None),
    ],
)
def test_a_stored_model_serves_until_the_scene_asks_for_another(
    stored: Path, changes: dict[str, Any], said: str | None
) -> None:
    stage = stage_of(**override(QUICK, changes))
    reason = _unfit(stage, load_model(stored, stage.body))
    assert reason is None if said is None else reason is not None and said in reason


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quick model beside its scene."""
    source = tmp_path_factory.mktemp("stored") / "beam.v1.toml"
    prepare_scene(stage_of(**QUICK), None, source)
    return default_model(source)


def test_files_are_named_after_the_whole_name_of_the_scene(stored: Path, tmp_path: Path) -> None:
    assert stored.name == "beam.v1.model.npz"
    assert (stored.with_name("beam.v1.training") / "case-0000.npz").is_file()
    assert [bare_name(Path(name)) for name in ("beam.v2.toml", "a.msh", "a.b.msh.gz")] == ["beam.v2", "a", "a.b"]
    heard = Heard()
    train_scene(stage_of(**QUICK), tmp_path / "other.model.npz", heard, stored.with_name("beam.v1.toml"))
    assert heard.steps == 0, "another model of the scene is made from the same runs"
    assert [path.name for path in tmp_path.iterdir() if path.name[0] != "."] == ["other.model.npz"]


def test_a_named_model_for_other_loads_warns(stored: Path) -> None:
    named = override(QUICK, {"method": {"model": str(stored)}, "gravity": [0.0, 0.0, -5.0]})
    with pytest.warns(SuppleWarning, match="other loads, pins, motions or time steps, so its error here is not"):
        prepare_scene(stage_of(**named))


def test_a_default_tolerance_does_not_overrule_the_models(stored: Path) -> None:
    model = load_model(stored)
    assert model.error is not None
    assert model.error > 0.01, "worse than the default"
    prepare_scene(stage_of(**override(QUICK, {"method": {"model": str(stored), "tolerance": None}})))


def attempt(error: float, aim: float, projection: float = 0.0, rank: int = 2) -> Attempt:
    basis = Basis(np.zeros((3, rank)), np.ones(1), "", np.ones(rank))
    model = ReducedModel(basis, Rule(np.arange(1), np.ones(1), 0.0), np.zeros((3, 0)), 1.0)
    return Attempt(model, rank, projection, aim, error)


def test_the_search_is_given_up_only_after_real_refinements() -> None:
    assert not _has_stalled([attempt(0.25, 0.2), attempt(0.24, 0.14), attempt(0.235, 0.1)])
    assert not _has_stalled([attempt(0.25, 0.2), attempt(0.24, 0.05), attempt(0.1, 0.01)])
    assert _has_stalled([attempt(0.25, 0.2), attempt(0.24, 0.05), attempt(0.235, 0.0125)])


def test_a_loose_tolerance_is_met_where_a_tight_one_is() -> None:
    stage = stage_of(method={"tolerance": 0.2})
    model = train_model(stage)
    assert model.error is not None
    assert model.error <= 0.2


@pytest.mark.parametrize(
    ("method", "projection", "said", "unsaid"),
    [
        ({"rank": 2}, 0.3, r"raise method\.rank \(now 2\) or training\.cases", "max_rank"),
        ({}, 0.3, r"raise training\.cases \(now 4\) or training\.max_rank", r"method\.rank"),
        ({}, 0.0, r"the rule or the steps limit it: raise training\.cases \(now 4\), or use", "elements"),
        ({"elements": 7}, 0.0, r"method\.elements \(now 7\)", "max_rank"),
    ],
)
def test_remedies_name_what_limits(method: dict[str, Any], projection: float, said: str, unsaid: str) -> None:
    stage = stage_of(method=method, training={"max_rank": 2})
    known = np.array([0.5, projection]) if "rank" not in method else np.array([0.5, projection, 0.01])
    span = Span(stage.body, np.zeros((3, 2)), np.ones(len(known)), known, np.zeros((1, 2)), "", ())
    words = _find_remedy(attempt(0.4, 0.1, projection), None, stage.scene, span)
    assert re.search(said, words)
    assert not re.search(unsaid, words)


def test_a_seed_of_zero_overrules_the_scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("supple.scene.launch.launch", lambda given, *_: asked.append(given.changes) or {})
    for words in ([], ["--seed", "0"]):
        main(["run", str(tmp_path / "beam.toml"), *words, "--quiet"])
    assert asked == [{}, {"training": {"seed": 0}}]


def test_a_named_model_is_used_as_it_is_or_refused(tmp_path: Path) -> None:
    quick = {"training": {"cases": 2, "steps": 6}, "method": {"tolerance": 0.2}}
    prepare_scene(stage_of(**quick), None, tmp_path / "beam.toml")
    named = {"method": {"model": str(tmp_path / "beam.model.npz"), "tolerance": 1e-9}}
    with pytest.warns(SuppleWarning, match="on held-out cases where 1e-07 % is asked for"):
        built = prepare_scene(stage_of(**named))
    assert built.solver.name == "reduced"
    with pytest.raises(TrainingError, match="made of other materials"):
        prepare_scene(stage_of(**named, material={"young": 5e5}))
    with pytest.raises(SceneError, match="needs a trained model"):
        build_scene(stage_of().scene)


def test_another_method_takes_only_newtons_tolerance_along() -> None:
    scene = stage_of(method={"newton_tolerance": 1e-5}).scene
    assert (scene.method.accuracy, scene.method.residual) == (TOLERANCE, 1e-5)
    full = scene.under("full")
    assert (full.method.name, full.method.residual) == ("full", 1e-5)
    assert full.under("reduced").method.accuracy == 0.01
    tight = parse_scene(override(SCENE, {"method": {"name": "full", "tolerance": 1e-7}})).under("reduced")
    assert (tight.method.residual, tight.method.accuracy) == (1e-7, 0.01)


def test_a_resumed_reduced_run_equals_an_uninterrupted_one(
    trained: tuple[Stage, ReducedModel, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, model, _ = trained
    built = build_scene(stage.scene, model)
    run_scene(built, [tmp_path / "whole.npz"])

    @contextmanager
    def at_once(announce: object) -> Iterator[StopRequest]:
        request = StopRequest()
        request.asked = True
        yield request

    with monkeypatch.context() as patch:
        patch.setattr("supple.scene.run.stop_on_interrupt", at_once)
        stopped = run_scene(built, [tmp_path / "parts.npz"])
    assert stopped.stopped
    assert run_scene(built, [tmp_path / "parts.npz"], resume=True).frame == 20
    assert (tmp_path / "parts.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
