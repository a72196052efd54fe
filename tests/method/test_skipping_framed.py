"""Skipping without pins and in contact: a frame of its own, and full steps at once where something new is touched."""

import numpy as np
import pytest
from test_skipping import H, share_skipped, thin_beam

from supple.contact.plane import Plane
from supple.elastic import Body, Pins
from supple.errors import SceneError
from supple.material import StableNeoHookean
from supple.method import FullSolver
from supple.method.skipping.measure import rms
from supple.method.skipping.solver import SkippingSolver
from supple.shape import make_shape
from supple.solve import AddPin, Gravity, Inputs, Moment, Placement

FLOOR = (Placement(np.eye(3), np.array([0.0, -0.15, 0.0])),)


def inputs(k: int, events: tuple = (), colliders: tuple = ()) -> Inputs:
    down = (Gravity(np.array([0.0, -9.81, 0.0])),)
    begin, end = (Moment(H * j, np.zeros((0, 3)), down, colliders) for j in (k, k + 1))
    return Inputs(begin, end, events)


def toss(solver, steps: int, spin: float = 4.0, state=None, first: int = 0, colliders: tuple = ()):
    """States and reports of a body that sets out turning and bending."""
    X, mass = solver.body.mesh.vertices, solver.body.mass
    v = np.cross([0.1 * spin, 0.2 * spin, spin], X - mass @ X / mass.sum())
    v[:, 1] += 0.25 * spin * np.cos(2.0 * np.pi * X[:, 0])
    states, reports = [solver.from_full(X, v, np.zeros_like(X)) if state is None else state], []
    for k in range(first, first + steps):
        new, report = solver.step(states[-1], inputs(k, colliders=colliders))
        states.append(new)
        reports.append(report)
    return states, reports


@pytest.fixture(scope="module")
def tossed():
    solver = SkippingSolver(thin_beam(10, pinned=False))
    return solver, *toss(solver, 120)


def test_a_body_that_nothing_holds_is_followed_in_its_frame(tossed):
    solver, states, reports = tossed
    full, _ = toss(FullSolver(solver.body, tolerance=1e-8), 120)
    assert share_skipped(reports) > 0.7
    x, start, mass = full[-1].x, solver.body.mesh.vertices, solver.body.mass
    assert np.linalg.norm(mass @ (x - start)) > 5.0 * mass.sum()  # it has fallen far, and turned by
    errors = [rms(solver.positions(a) - b.x, mass) for a, b in zip(states, full, strict=True)]
    assert max(errors) < 3e-3  # of a body a metre long


def test_estimates_know_a_frame_that_turns(tossed):
    solver, states, reports = tossed
    exact, ratios = FullSolver(solver.body, tolerance=1e-9), []
    for k, report in enumerate(reports):
        if report.skip.checked and states[k].motion is not None:
            true, _ = exact.step(exact.from_full(*solver.to_full(states[k]), H * k), inputs(k))
            error = rms(solver.positions(states[k + 1]) - true.x, solver.body.mass) / H / states[k + 1].scale
            ratios.append(report.estimated_error / error)
    assert len(ratios) > 5
    assert 1 / 3 < min(ratios) <= max(ratios) < 3


def test_a_free_body_goes_on_from_a_checkpoint_bit_for_bit(tossed):
    solver, states, reports = tossed
    k = next(k for k in range(30, 100) if states[k].motion is not None)
    fresh = SkippingSolver(solver.body)
    later, again = toss(fresh, 15, state=fresh.unpack(solver.pack(states[k])), first=k)
    assert np.array_equal(fresh.positions(later[-1]), solver.positions(states[k + 15]))
    assert [r.kind for r in again] == [r.kind for r in reports[k : k + 15]]


def test_a_pin_added_to_a_free_body_brings_full_steps(tossed):
    solver, states, _ = tossed
    k = next(k for k in range(30, 100) if states[k].motion is not None)
    reached, report = solver.step(states[k], inputs(k, (AddPin((3,)),)))
    assert report.kind == "full"
    assert solver.step(reached, inputs(k + 1))[1].kind == "full"


def test_a_new_contact_brings_a_full_step_at_once_and_one_that_lasts_is_skipped():
    body = thin_beam(8, pinned=False)
    solver = SkippingSolver(body, colliders=(Plane(),))
    states, reports = toss(solver, 100, 0.5, colliders=FLOOR)
    full, _ = toss(FullSolver(body, tolerance=1e-8, colliders=(Plane(),)), 100, 0.5, colliders=FLOOR)
    first = next(k for k, report in enumerate(reports) if report.contacts)
    assert reports[first - 1].kind == "reduced"
    assert reports[first].kind == "full"
    assert reports[first].skip.rejected
    assert all(
        set(b.touching.vertex) <= set(a.touching.vertex) | set(states[k].touched)
        for k, (a, b) in enumerate(zip(reports[first:], reports[first + 1 :], strict=False), first + 1)
        if b.kind == "reduced" and b.touching is not None
    )
    assert share_skipped(reports[first:]) > 0.5
    assert min(report.contacts for report in reports[-30:]) > 0
    errors = [rms(solver.positions(a) - b.x, body.mass) for a, b in zip(states, full, strict=True)]
    assert max(errors) < 1e-3


@pytest.mark.parametrize("pinned", ["one vertex", "none, static"])
def test_bodies_that_pins_hold_in_part_are_refused(pinned):
    body = thin_beam(3, pinned=False)
    if pinned == "one vertex":
        body = body.pinned(Pins.of(np.array([0])))
    with pytest.raises(SceneError, match="free to move"):
        SkippingSolver(body, integrator="static" if "static" in pinned else "implicit_euler")


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_a_body_that_falls_without_deforming_takes_full_steps_until_it_lands(integrator):
    mesh = make_shape("beam", elements=700)
    body = Body.build(mesh, StableNeoHookean(young=2e5))
    floor = (Placement(np.eye(3), np.array([0.0, mesh.bounds()[0][1] - 0.9, 0.0])),)  # touched after 43 of 50 steps
    solver = SkippingSolver(body, integrator=integrator, colliders=(Plane(),))
    state, reports = solver.start(inputs(0, colliders=floor)), []
    for k in range(50):
        state, report = solver.step(state, inputs(k, colliders=floor))
        reports.append(report)
    assert {report.kind for report in reports[:40]} == {"full"}
    assert not any(report.skip.learned and report.skip.elements for report in reports[:40])
    assert any(report.contacts for report in reports[40:])
    assert solver.positions(state)[:, 1].min() > mesh.bounds()[0][1] - 0.95
