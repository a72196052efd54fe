"""Rows tell what was measured, warnings what is wrong, and a reduced run touches no vertex that nobody asked for."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.__main__ import main
from supple.cubature import Rule
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.method import ReducedModel, ReducedSolver
from supple.scene import Built, build_scene, parse_scene, run_scene
from supple.scene.build import set_stage
from supple.scene.info import describe_file
from supple.scene.simulate import simulate
from supple.scene.solvers import add_solver
from supple.solve import SetGravity, SetStiffness
from supple.subspace import Basis, diagonalise, linear_modes

BEAM: dict[str, Any] = {
    "time": {"fps": 50, "substeps": 2, "frames": 100},
    "mesh": {"shape": "beam", "elements": 300},
    "material": {"young": 2e5},
    "pin": [{"select": "min x"}],
    "method": {"name": "reduced"},
}
SPIN: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 1, "frames": 24, "integrator": "newmark"},
    "gravity": False,
    "mesh": {"shape": "cylinder", "elements": 234},
    "material": {"young": 1e5},
    "start": {"spin": [0, 0, 20]},
}


def reduced(
    scene: dict[str, Any] = BEAM, error: float | None = 0.03, reach: float = 1e9, facts: dict[str, Any] | None = None
) -> Built:
    """The scene in the softest modes, with every tenth element."""
    stage = set_stage(parse_scene(scene))
    basis = diagonalise(linear_modes(stage.body, 6), stage.body)
    count = len(stage.mesh.tets)
    members = np.arange(0, count, 10)
    rule = Rule(members, np.full(len(members), count / len(members)), 0.0)
    model = ReducedModel(basis, rule, np.zeros((3 * len(stage.body.mass), 0)), reach, error, facts or {})
    return add_solver(stage, model)


def count_calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often all vertices are placed, or the whole body is summed over."""
    calls: dict[str, int] = {}

    def watch(owner: type, name: str) -> None:
        inner = getattr(owner, name)

        def counted(*given: Any, **named: Any) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return inner(*given, **named)

        monkeypatch.setattr(owner, name, counted)

    for name in ("positions", "to_full"):
        watch(ReducedSolver, name)
    for name in ("energy", "jacobians", "forces", "von_mises"):
        watch(Body, name)
    for name in ("lift",):
        watch(Basis, name)
    return calls


def test_a_reduced_run_without_outputs_touches_no_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    built = reduced()
    start = next(iter(simulate(built)))
    calls = count_calls(monkeypatch)
    frames = list(simulate(built, start))
    assert len(frames) == 99
    assert calls == {}
    assert all(now.row is not None and now.row.inverted is None for now in frames)


def test_a_written_frame_is_lifted_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built = reduced({**BEAM, "time": {**BEAM["time"], "frames": 10}, "output": {"every": 2}})
    calls = count_calls(monkeypatch)
    result = run_scene(built, [tmp_path / "beam.usdc"])
    assert calls["to_full"] == 6, "frames 0, 2, 4, ... 10"
    assert calls["positions"] == 6, "within these"
    assert [row.min_jacobian is not None for row in result.rows] == [False, True] * 5
    for row in result.rows:
        assert row.frame_ms is not None
        assert row.frame_ms >= row.ms


def test_rows_tell_energies_work_and_where_the_error_is_from(tmp_path: Path) -> None:
    row = list(simulate(reduced()))[20].row
    assert row is not None
    assert (row.trained_error, row.estimated_error) == (0.03, None)
    assert row.kinetic_energy is not None
    assert row.elastic_energy is not None
    assert row.work is not None
    rows = [now.row for now in simulate(build_scene(parse_scene({**BEAM, "method": {"name": "full"}})))]
    total = sum(row.work for row in rows if row is not None and row.work is not None)
    last = rows[-1]
    assert last is not None
    assert 0.0 < last.kinetic_energy + last.elastic_energy < total, "implicit Euler loses some of what gravity did"


def test_a_rise_that_nothing_fed_is_warned_of_with_frame_factor_and_remedy() -> None:
    built = build_scene(parse_scene(SPIN))
    with pytest.warns(SuppleWarning, match=r"frame \d+: the body has .* J of energy, .* times the .*generalized_alpha"):
        rows = [now.row for now in simulate(built)]
    assert rows[-1].kinetic_energy > 2.0 * rows[0].kinetic_energy


@pytest.mark.parametrize("integrator", ["generalized_alpha", "implicit_euler"])
def test_damped_integrators_feed_nothing_into_the_spinning_cylinder(integrator: str) -> None:
    scene = {**SPIN, "time": {**SPIN["time"], "integrator": integrator}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(simulate(build_scene(parse_scene(scene))))


FED: dict[str, dict[str, Any]] = {
    "gravity": {},
    "a moving pin": {
        "pin": [{"select": "min x", "move": [{"t": 0, "by": [0, 0, 0]}, {"t": 0.2, "by": [0, 0.5, 0]}]}],
    },
    "a force that comes and goes": {
        "force": [{"kind": "region", "select": "max x", "vector": [0, 100, 0], "until": 0.2}],
        "gravity": False,
    },
    "a floor": {
        "pin": [],
        "collider": [{"shape": "plane", "at": [0, -0.3, 0]}],
        "start": {"velocity": [0, -2, 0]},
    },
    "a pin that lets go": {"pin": [{"select": "min x"}, {"select": "max x", "until": 0.3}]},
}


@pytest.mark.parametrize("integrator", ["newmark", "implicit_euler"])
@pytest.mark.parametrize("name", list(FED))
def test_energy_that_something_fed_is_no_finding(name: str, integrator: str) -> None:
    time = {"fps": 50, "substeps": 2, "frames": 40, "integrator": integrator}
    scene = {**BEAM, "method": {"name": "full"}, **FED[name], "time": time}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(simulate(build_scene(parse_scene(scene))))


CRUSHED: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 1, "frames": 4},
    "gravity": False,
    "mesh": {"shape": "beam", "elements": 300},
    "material": {"young": 2e5},
    "pin": [
        {"select": "min x"},
        {"select": "max x", "move": [{"t": 0.0, "by": [0, 0, 0]}, {"t": 0.08, "by": [-1.6, 0, 0]}]},
    ],
}


@pytest.mark.parametrize("method", ["full", "projective", "hyperreduced"])
def test_inverted_tets_are_counted_and_warned_of(method: str, tmp_path: Path) -> None:
    built = build_scene(parse_scene({**CRUSHED, "method": {"name": method}}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run_scene(built, [tmp_path / "crushed.npz"])
    told = [str(one.message) for one in caught if "inverted" in str(one.message)]
    assert len(told) == 1, "said once"
    assert re.match(r"frame \d: \d+ of \d+ tets are inverted, the worst is tet \d+ at rest near \(", told[0])
    bad = [row for row in result.rows if row.inverted]
    assert bad
    for row in bad:
        with np.load(tmp_path / "crushed.npz") as file:
            J = file[f"frame/{row.frame:04d}/cell/J"]
        assert row.inverted == np.count_nonzero(J <= 0.0)
        assert row.min_jacobian == pytest.approx(J.min(), rel=1e-4)
    facts = describe_file(tmp_path / "crushed.npz")
    assert facts["inverted"] == max(row.inverted for row in bad)
    assert facts["first_inverted_frame"] == bad[0].frame
    assert facts["min_jacobian"] == pytest.approx(min(row.min_jacobian for row in bad))


def test_inverted_elements_of_a_rule_are_warned_of_where_nothing_is_written() -> None:
    crush = {"kind": "region", "select": "max x", "vector": [-2e4, 0, 0]}
    scene = {**BEAM, "time": {**BEAM["time"], "frames": 4}, "force": [crush]}
    with pytest.warns(SuppleWarning, match="tets, all that forces are taken from here, are inverted"):
        rows = [now.row for now in simulate(reduced(scene))]
    assert all(row is not None and row.min_jacobian is None for row in rows)


def test_json_holds_what_rows_do(tmp_path: Path) -> None:
    (tmp_path / "spin.toml").write_text(
        '[time]\nframes = 2\nfps = 24\n[mesh]\nshape = "beam"\nelements = 100\n[[pin]]\nselect = "min x"\n'
    )
    told = tmp_path / "told.json"
    assert main(["run", str(tmp_path / "spin.toml"), "-o", str(tmp_path / "spin.usdc"), "--json", str(told), "-q"]) == 0
    row = json.loads(told.read_text())["rows"][-1]
    names = {"ms", "frame_ms", "inverted", "min_jacobian", "kinetic_energy", "elastic_energy", "work"}
    assert names | {"trained_error", "estimated_error", "residual"} <= row.keys()
    assert row["inverted"] == 0
    assert 0.5 < row["min_jacobian"] < 1.0


LIVE = {
    "twice as stiff": (SetStiffness(2.0), "the body is 2 times as stiff as its model was trained for"),
    "strong gravity": (SetGravity((0.0, -50.0, 0.0)), "gravity is 5.1 times as strong as any in training"),
}


@pytest.mark.parametrize("name", list(LIVE))
def test_events_outside_the_training_are_warned_of_and_end_the_trained_error(name: str) -> None:
    event, words = LIVE[name]
    scene = {**BEAM, "time": {**BEAM["time"], "frames": 6}}
    built = reduced(scene)
    facts = {"loads": built.drive.directions()}
    built = reduced(scene, facts=facts)
    assert facts["loads"] == [{"patch": "gravity", "direction": [0.0, -1.0, 0.0], "size": pytest.approx(9.81)}]
    with pytest.warns(SuppleWarning, match=f"frame 4: {words}"):
        rows = [now.row for now in simulate(built, events={3: (event,)})]
    assert [None if row is None else row.trained_error for row in rows] == [0.03] * 3 + [None] * 3


def test_a_run_past_the_judged_steps_is_warned_of_and_ends_the_trained_error() -> None:
    scene = {**BEAM, "time": {**BEAM["time"], "frames": 6}}
    built = reduced(scene, facts={"heldout_steps": 8, "step_s": 0.01})
    with pytest.warns(SuppleWarning, match=r"frame 5: the run goes on past the 8 steps \(0.08 s\)"):
        rows = [now.row for now in simulate(built)]
    assert [None if row is None else row.trained_error for row in rows] == [0.03] * 4 + [None] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(simulate(reduced(scene, facts={"heldout_steps": 12, "step_s": 0.01})))


def test_a_body_bent_beyond_its_training_has_no_trained_error_any_more() -> None:
    built = reduced({**BEAM, "time": {**BEAM["time"], "frames": 20}}, reach=1e-3)
    with pytest.warns(SuppleWarning, match="times as much as in any training sample"):
        *_, last = simulate(built)
    assert last.row is not None
    assert last.row.trained_error is None
