"""A scene asks for skipping as [KJ09] prints it, with the paper's parameters where none are given."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.method import PaperSkippingSolver
from supple.scene import Built, build_scene, parse_scene, run_scene
from supple.scene.simulate import start_motion, step_inputs

SCENE: dict[str, Any] = {
    "time": {"fps": 50, "frames": 12, "integrator": "newmark"},
    "mesh": {"shape": "beam", "size": {"length": 1.0, "width": 0.1, "height": 0.1}, "resolution": 8},
    "material": {"model": "stvk", "young": 2e5, "poisson": 0.1, "density": 100.0},
    "pin": [{"select": "min x"}],
}


def solver(integrator: str = "newmark", **method: Any) -> Any:
    time = {**SCENE["time"], "integrator": integrator}
    chosen = {"name": "skipping", "estimator": "paper", **method}
    return build_scene(parse_scene({**SCENE, "time": time, "method": chosen})).solver


def test_the_parameters_are_those_of_the_paper_or_of_the_scene():
    moving, still = solver(), solver("static")
    assert isinstance(moving, PaperSkippingSolver)
    for made, error, discard in ((moving, 1e-2, 1e-2), (still, 5e-3, 1e-3)):
        s = made.settings
        assert (s.error, s.discard, s.max_rank, s.throttle) == (error, discard, 20, 1.0)
    asked = solver(tolerance=2e-3, discard=4e-3, max_rank=7, throttle=2.0).settings
    assert (asked.error, asked.discard, asked.max_rank, asked.throttle) == (2e-3, 4e-3, 7, 2.0)


def test_discard_is_the_papers_alone():
    with pytest.raises(SceneError, match="discard"):
        solver(estimator="checks", discard=1e-3)


def test_a_run_tells_its_timeline(tmp_path: Path):
    method = {"name": "skipping", "estimator": "paper", "tolerance": 0.05, "discard": 0.03, "max_rank": 6}
    result = run_scene(build_scene(parse_scene({**SCENE, "method": method})), [tmp_path / "swing.npz"])
    steps = [step for row in result.rows for step in row.steps]
    assert len(steps) == 24
    assert {step.kind for step in steps} == {"full", "reduced"}
    assert steps[0].learned
    assert all(0 < step.rank <= 6 for step in steps)


BENT: dict[str, Any] = {
    "time": {"fps": 50, "substeps": 1, "frames": 40, "integrator": "static"},
    "mesh": {"shape": "capsule", "resolution": 10},
    "material": {"model": "arruda_boyce", "shear": 2e4, "segments": 5e3, "bulk": 1e5, "density": 500.0},
    "rig": {},
}


def bent(method: dict[str, Any]) -> Built:
    pose = {"second": [0.0, 0.0, 60.0]}
    keys = [{"t": 0.0, "pose": "rest"}, {"t": 0.5, **pose}, {"t": 0.8, "pose": "rest"}]
    return build_scene(parse_scene({**BENT, "motion": {"keys": keys}, "method": method}))


def play(built: Built, state: Any = None, first: int = 0) -> tuple[list[Any], list[Any]]:
    states, reports = [state or start_motion(built.solver, built.drive, built.velocity, 0.0)], []
    for k in range(first, 40):
        state, report = built.solver.step(states[-1], step_inputs(built.drive, k, 0, 50.0))
        states.append(state)
        reports.append(report)
    return states, reports


def test_a_skinned_body_is_skipped_before_skinning_and_goes_on_from_a_checkpoint():
    built, full = bent({"name": "skipping", "estimator": "paper"}), bent({"name": "full"})
    states, reports = play(built)
    exact, _ = play(full)
    assert sum(report.kind == "reduced" for report in reports) > 20
    errors = [np.sqrt(np.mean((built.solver.positions(a) - b.x) ** 2)) for a, b in zip(states, exact, strict=True)]
    assert max(errors) < 2 * built.solver.settings.error
    pins = built.body.pins.vertices
    assert all(
        np.abs(built.solver.positions(state, pins) - built.drive.moment(state.time).targets).max() < 1e-9
        for state in states
    )
    k = next(k for k in range(15, 40) if states[k].motion is not None)
    again, _ = play(built, built.solver.unpack(built.solver.pack(states[k])), k)
    assert np.array_equal(built.solver.positions(again[-1]), built.solver.positions(states[-1]))


def test_a_rig_moves_static_bodies_alone():
    with pytest.raises(SceneError, match="statics alone"):
        build_scene(
            parse_scene(
                {
                    **BENT,
                    "motion": {},
                    "time": {**BENT["time"], "integrator": "implicit_euler"},
                    "method": {"name": "skipping", "estimator": "paper"},
                }
            )
        )
