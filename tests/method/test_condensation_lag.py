"""What Newton's method spares: elements that have hardly strained keep their part of its matrix, and slack ends it."""

import numpy as np
import pytest
from condensation_helpers import make_step, tip
from reduced_helpers import beam, modal_model

from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.elastic import EXACT, PROJECTED
from supple.linalg.bordered_solver import BorderedSolver
from supple.method import CondensationSolver
from supple.method.condensation import newton, potential, strained
from supple.method.condensation.newton import measure, minimise
from supple.method.condensation.region import Ground
from supple.solve import Inputs, Moment, Placement
from supple.solve.stopwatch import Stopwatch

H, BALL = 0.01, 0.12


def pinch(integrator: str) -> tuple[list[int], np.ndarray, int]:
    """Newton iterations of every step of a bar that two balls close in on, where it ends, and matrices made."""
    body = beam(elements=600)
    rest, held = body.mesh.vertices, body.mesh.vertices[body.pins.vertices]
    low, high, middle = rest.min(axis=0), rest.max(axis=0), rest.mean(axis=0)
    contact = ContactSettings(friction=0.0, self_contact=False)
    solver = CondensationSolver(
        body, modal_model(body, 8), radius=0.2, integrator=integrator, colliders=(Sphere(BALL),) * 2, contact=contact
    )

    def at(k: int) -> Moment:
        into = 0.01 * k - 0.005
        places = (
            Placement(np.eye(3), np.array([0.3 * high[0], high[1] + BALL - into, middle[2]])),
            Placement(np.eye(3), np.array([0.3 * high[0], low[1] - BALL + into, middle[2]])),
        )
        return Moment(H * k, held, (), places)

    state, found = solver.start(Inputs(at(0), at(1))), []
    for k in range(6):
        state, report = solver.step(state, Inputs(at(k), at(k + 1)))
        found.append(report.newton_iterations)
    assert report.contacts > 0
    return found, solver.positions(state), len(state.full)


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_matrices_that_lag_take_no_more_iterations(integrator: str, monkeypatch) -> None:
    made = {"_stiffen": 0, "_take_away": 0}

    def count(name: str):
        own = getattr(potential.Condensed, name)

        def call(self, *args, **named):
            made[name] += 1
            return own(self, *args, **named)

        return call

    for name in made:
        monkeypatch.setattr(potential.Condensed, name, count(name))
    lagged, x, full = pinch(integrator)
    few = made["_stiffen"]
    assert made["_take_away"] < 0.8 * few  # what exact tets are at Uq changes less than what they are
    monkeypatch.setattr(strained, "ALIKE", 0.0)
    anew, exact, same = pinch(integrator)
    assert full == same > 0
    assert few < made["_stiffen"] - few or integrator == "static"  # it does lag
    assert sum(lagged) <= sum(anew) + 1, (lagged, anew)  # 42 and 63; 46 where elements lag by 0.02
    # sideways between two round balls without friction the bar may slip either way: round-off decides how far
    assert np.abs(x - exact)[:, :2].max() < 1e-4 * np.abs(exact - beam(elements=600).mesh.vertices).max()


def test_with_slack_a_hessian_that_was_not_definite_is_not_asked_for_again(monkeypatch) -> None:
    """A tip squeezed to a third of its length: its Hessian bends down, and does so again on the way back."""
    body = beam(elements=600)
    model = modal_model(body, 6)
    ground, asked = Ground(body, model.basis), []
    own = potential.Condensed.stiffen

    def stiffen(self, z, form, **named):
        asked.append(form)
        return own(self, z, form, **named)

    monkeypatch.setattr(potential.Condensed, "stiffen", stiffen)
    step, z = make_step(ground.cut(tip(ground, 40)), model, h=None, weights="paper")
    squeezed = z.copy()
    squeezed[: step.region.size : 3] *= 1.0 / 3.0
    begin, ends, counts = step.gradient(squeezed), [], []
    for slack in (0.0, 1e-12):
        asked.clear()
        found = minimise(
            step, squeezed, begin, reference=measure(step.region, begin), leaning=0.0, floor=0.0, tolerance=1e-8,
            still=1.0, max_iterations=200, linear_solver=BorderedSolver(), watch=Stopwatch(), slack=slack,
        )  # fmt: skip
        ends.append(found.z)
        counts.append((found.iterations, asked.count(EXACT), asked.count(PROJECTED)))
    assert counts[0][0] == counts[0][1] > counts[0][2] > 1
    assert counts[1][0] == counts[1][2]
    assert counts[1][1] == 1
    assert np.abs(ends[1] - ends[0]).max() < 1e-4 * np.abs(squeezed - ends[0]).max()


def test_a_stiffness_that_did_not_end_a_step_is_made_anew(monkeypatch) -> None:
    """Should every iterate look like the last but one, that of the first would serve for all."""
    body = beam(elements=600)
    model = modal_model(body, 6)
    ground, counts, ends = Ground(body, model.basis), [], []
    step, z = make_step(ground.cut(tip(ground, 40)), model, h=None, weights="paper")
    stretched = z.copy()
    stretched[: step.region.size : 3] *= 1.5
    begin = step.gradient(stretched)
    for last in (0.0, 1e12):
        monkeypatch.setattr(newton, "_LAST", last)
        step.memory.clear()
        found = minimise(
            step, stretched, begin, reference=measure(step.region, begin), leaning=0.0, floor=0.0, tolerance=1e-8,
            still=1.0, max_iterations=100, linear_solver=BorderedSolver(), watch=Stopwatch(),
        )  # fmt: skip
        counts.append(found.iterations)
        ends.append(found.z)
    assert counts[0] < counts[1] <= 3 * counts[0], counts
    assert np.abs(ends[1] - ends[0]).max() < 1e-5 * np.abs(stretched - ends[0]).max()


def test_slack_ends_where_no_step_lowers_the_energy_by_more() -> None:
    """Without any it converges; with a share of the energy it ends sooner, that share above the minimum at most."""
    body = beam(elements=600)
    ground, model = Ground(body, modal_model(body, 6).basis), modal_model(body, 6)
    step, z = make_step(ground.cut(tip(ground, 40)), model, h=None, weights="paper")
    begin, found = step.gradient(z), {}
    for slack in (0.0, 1e-3, 1e9):
        found[slack] = minimise(
            step, z, begin, reference=measure(step.region, begin), leaning=0.0, floor=0.0, tolerance=1e-8, still=1.0,
            max_iterations=100, linear_solver=BorderedSolver(), watch=Stopwatch(), slack=slack,
        )  # fmt: skip
    exact, some, one = (found[slack] for slack in (0.0, 1e-3, 1e9))
    assert exact.residual <= 1e-8
    assert 1 == one.iterations <= some.iterations < exact.iterations
    least = step.energy(exact.z)[0]
    assert step.energy(some.z)[0] - least <= 2e-3 * abs(least)
