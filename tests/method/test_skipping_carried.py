"""Skipping on bones: what is learned before skinning serves other poses, and what bones do anew is looked at."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import DOWN
from rig_helpers import moment, shifted, skinned

from supple.elastic import Damping
from supple.linalg.direct import Pardiso
from supple.method import FullSolver
from supple.method.skipping import training
from supple.method.skipping.measure import rms
from supple.method.skipping.solver import SkippingSolver
from supple.solve import Grab, Inputs

H = 0.02


def rod(mode: str = "dual_quaternion"):
    """A capsule of two bones, its rig and its pins."""
    character, rig, held, body = skinned("capsule", 8, mode)
    return character.poses["bent"], rig, held, replace(body, damping=Damping(0.5, 0.0))


def sway(held, bent, k: int, period: float = 50.0, events: tuple = ()) -> Inputs:
    """A step in which the bones bend to and fro."""

    def at(j: int):
        return moment(H * j, held, 0.5 * np.sin(2.0 * np.pi * j / period) * bent, DOWN)

    return Inputs(at(k), at(k + 1), events)


def run(solver, inputs, steps: int, state=None, first: int = 0):
    states, reports = [solver.start(inputs(first)) if state is None else state], []
    for k in range(first, first + steps):
        new, report = solver.step(states[-1], inputs(k))
        states.append(new)
        reports.append(report)
    return states, reports


@pytest.mark.parametrize(
    ("integrator", "mode", "share"),
    [("static", "dual_quaternion", 0.7), ("static", "linear", 0.7), ("implicit_euler", "dual_quaternion", 0.5)],
)
def test_bones_that_sway_are_followed_by_reduced_steps(monkeypatch, integrator, mode, share):
    monkeypatch.setattr(training, "_EVERY", 0)  # so that rules are trained
    check_sway(integrator, share, *rod(mode))


def test_conjugate_gradients_check_and_correct_static_flesh_without_a_factor(monkeypatch):
    """As full statics goes without one; what they estimate is within a factor of three of the error of a step."""
    monkeypatch.setattr(training, "_EVERY", 0)
    bent, rig, held, body = rod()
    solver = SkippingSolver(body, integrator="static", linear_solver="pcg", rig=rig, tolerance=1e-3)
    exact = FullSolver(body, integrator="static", tolerance=1e-9, rig=rig)

    def at(j: int):
        return moment(H * j, held, (0.3 + 0.003 * j) * np.sin(2.0 * np.pi * j / 50.0) * bent, DOWN)

    def inputs(k: int) -> Inputs:
        return Inputs(at(k), at(k + 1))

    with monkeypatch.context() as patch:
        patch.setattr(Pardiso, "factor", None)
        states, reports = run(solver, inputs, 100)
    assert sum(report.kind == "reduced" for report in reports) > 70
    checked = [k for k, report in enumerate(reports) if report.skip.checked]
    corrected = [k for k in checked if reports[k].skip.corrected]
    assert corrected
    assert len(checked) > len(corrected)
    for k in checked:
        true = exact.step(exact.from_full(*solver.to_full(states[k])), inputs(k))[0].x
        new, scale = states[k + 1], states[k + 1].scale
        if k in corrected:
            assert rms(solver.positions(new) - true, body.mass) < 0.2 * 1e-3 * scale
            new, report = solver.step(replace(states[k], interval=99), inputs(k))
            if report.skip.checked:  # bones do something new
                continue
        error = rms(solver.positions(new) - true, body.mass) / scale
        assert reports[k].estimated_error / 3.0 < error < 3.0 * reports[k].estimated_error


@pytest.mark.parametrize(
    ("integrator", "mode", "share"), [("implicit_euler", "linear", 0.6), ("newmark", "dual_quaternion", 0.1)]
)
def test_damping_knows_how_bones_move_the_body(integrator, mode, share):
    bent, rig, held, body = rod(mode)
    check_sway(integrator, share, bent, rig, held, replace(body, damping=Damping(0.5, 0.01)))


def check_sway(integrator, share, bent, rig, held, body):
    """Skipped by more than a share, and near the full motion; in statics as near as was estimated."""
    solver = SkippingSolver(body, integrator=integrator, tolerance=1e-3, rig=rig)
    states, reports = run(solver, lambda k: sway(held, bent, k), 120)
    full, _ = run(FullSolver(body, integrator=integrator, tolerance=1e-8, rig=rig), lambda k: sway(held, bent, k), 120)
    assert sum(report.kind == "reduced" for report in reports) > share * len(reports)
    scale = max(state.scale for state in states)
    errors = [rms(solver.positions(a) - b.x, body.mass) for a, b in zip(states, full, strict=True)]
    assert max(errors) < 2e-3 * scale
    for state, error, report in zip(states[1:], errors[1:], reports, strict=True):
        if integrator == "static" and report.kind == "reduced" and report.skip.checked:
            if report.skip.corrected:
                assert error < 0.2 * 1e-3 * state.scale
            else:
                assert error / 3.0 < report.estimated_error * state.scale < 3.0 * error


def test_shapes_learned_in_one_place_serve_another():
    _, rig, held, body = rod()
    solver = SkippingSolver(body, integrator="static", tolerance=1e-3, rig=rig)
    bent = rod()[0]
    states, _ = run(solver, lambda k: sway(held, bent, k), 80)
    assert states[-1].motion is not None
    pose = 0.5 * np.sin(2.0 * np.pi * 80 / 50.0) * bent

    def away(k: int) -> Inputs:
        shift = shifted(rig, np.array([0.3, 0.0, 0.0])) - rig.neutral
        return Inputs(moment(H * k, held, pose, DOWN), moment(H * (k + 1), held, pose + shift, DOWN))

    reached, report = solver.step(states[-1], away(80))
    assert report.kind == "reduced"
    assert report.skip.checked  # bones have started
    assert np.allclose(solver.positions(reached) - solver.positions(states[-1]), [0.3, 0.0, 0.0], atol=1e-5)


def test_what_bones_do_not_hold_alone_brings_full_steps_and_a_checkpoint_goes_on():
    bent, rig, held, body = rod()
    solver = SkippingSolver(body, integrator="static", tolerance=1e-3, rig=rig)
    states, reports = run(solver, lambda k: sway(held, bent, k), 60)
    k = next(k for k in range(30, 50) if states[k].motion is not None)
    grab = Grab("hand", (40,), (1.0,), (0.5, 0.0, 0.0), 10.0)
    _, report = solver.step(states[k], sway(held, bent, k, events=(grab,)))
    assert report.kind == "full"
    fresh = SkippingSolver(body, integrator="static", tolerance=1e-3, rig=rig)
    later, again = run(fresh, lambda k: sway(held, bent, k), 10, fresh.unpack(solver.pack(states[k])), k)
    assert np.array_equal(fresh.positions(later[-1]), solver.positions(states[k + 10]))
    assert [r.kind for r in again] == [r.kind for r in reports[k : k + 10]]
