"""Skipping as [KJ09] prints it: its bases, its two integrators, and nothing skipped at throttle zero."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import DOWN

from supple.elastic import Body, Damping, Pins
from supple.errors import ArgumentError, SceneError
from supple.material import StVK
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.method.skipping.carried import Carrier
from supple.method.skipping.factor import OldFactor
from supple.method.skipping.paper import PaperSkippingSolver
from supple.method.skipping.paper_basis import Grower, Grown
from supple.method.skipping.paper_static import SampledForces
from supple.method.skipping.paper_steps import Step
from supple.solve import AddPin, Gravity, Inputs, Moment, SetThrottle
from supple.solve.stopwatch import Stopwatch

H = 0.01
NO_POSE = np.zeros(0)


def beam(cells: int = 12, pinned: bool = True) -> Body:
    mesh = fill_box((0.0, 0.0, 0.0), (float(cells), 2.0, 2.0), resolution=cells)
    mesh = replace(mesh, vertices=mesh.vertices * np.array([1.0 / cells, 0.06, 0.06]))
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)) if pinned else None
    return Body.build(mesh, StVK(young=2e5, poisson=0.1, density=100.0), pins, Damping(0.1, 2e-5))


def inputs(body: Body, k: int, force=lambda time: DOWN, events: tuple = ()) -> Inputs:
    targets = body.mesh.vertices[body.pins.vertices]
    return Inputs(*(Moment(H * j, targets, (force(H * j),)) for j in (k, k + 1)), events)


def run(solver, steps: int, *, state=None, first: int = 0, events=None, **options):
    """States, the first among them, and reports."""
    states = [solver.start(inputs(solver.body, first, **options)) if state is None else state]
    reports = []
    for k in range(first, first + steps):
        given = inputs(solver.body, k, events=(events or {}).get(k, ()), **options)
        new, report = solver.step(states[-1], given)
        states.append(new)
        reports.append(report)
    return states, reports


def grower(body: Body, max_rank: int = 6) -> Grower:
    return Grower(Carrier(body, None), body.pins, max_rank=max_rank, discard=1e-2)


def bends(body: Body, count: int, seed: int = 0) -> np.ndarray:
    """Random smooth displacements, zero at the pins."""
    rng, x = np.random.default_rng(seed), body.mesh.vertices[:, :1]
    return np.array([sum(0.1 * rng.standard_normal(3) * x**power for power in range(2, 6)) for _ in range(count)])


@pytest.fixture(scope="module")
def swing():
    """A Newmark run whose tolerances let the paper's estimator skip soon."""
    solver = PaperSkippingSolver(beam(), integrator="newmark", tolerance=0.05, discard=0.02, max_rank=8)
    return (solver, *run(solver, 120))


@pytest.fixture(scope="module")
def sway():
    """A static run under a load that goes to and fro."""

    def force(time: float) -> Gravity:
        angle = 2.0 * np.pi * time / 0.4
        return Gravity(np.array([0.0, -3.0 * np.cos(angle), 2.0 * np.sin(angle)]))

    solver = PaperSkippingSolver(beam(10), integrator="static")
    return (solver, force, *run(solver, 80, force=force))


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_error_column_is_what_a_step_with_the_last_stiffness_misses(share):
    body = beam(6)
    solver = PaperSkippingSolver(body, newton_tolerance=1e-10, linear_solver="direct")
    end = run(solver._full, 13)[0][-1]
    duration = share * H
    ahead = Inputs(inputs(body, 13).begin, replace(inputs(body, 13).end, time=13 * H + duration))
    column = solver._integrator._compute_error_vector(end, end, Step(ahead, grower(body), 1.0, Stopwatch()))
    increment, system = solver._full.formulate(end, ahead)
    matrix = np.empty(system.map.pattern.nonzeros)
    increment.stiffen(end.x, matrix, project=False)
    linear = np.zeros_like(end.x)
    linear[system.map.free] = -OldFactor(system, body.mass).solve(matrix, increment.gradient(end.x)).reshape(-1, 3)
    missed = solver._full.step(end, ahead)[0].x - (end.x + linear)
    cosine = np.vdot(missed, column) / np.linalg.norm(missed) / np.linalg.norm(column)
    assert cosine > 0.98  # a third-order term is left: 0.989 with the whole step, 0.997 with half of it
    assert np.linalg.norm(column) == pytest.approx(np.linalg.norm(missed), rel=0.03)


def test_columns_are_orthonormal_and_hold_what_was_added():
    body = beam(6)
    makes, grown = grower(body), Grown()
    for u in bends(body, 4):
        grown, beside = makes.modify(grown, u, NO_POSE)
        assert beside > 0.0
        basis = grown.learned.basis
        assert np.allclose(basis.columns.T @ (basis.metric[:, None] * basis.columns), np.eye(grown.rank), atol=1e-12)
        assert makes.rms(u - basis.lift(basis.project(u))) < 1e-12
    same, beside = makes.modify(grown, grown.learned.basis.lift(np.ones(4)), NO_POSE)
    assert same is grown
    assert beside < 1e-12


def test_a_step_within_the_discarded_share_adds_nothing():
    body = beam(6)
    makes = grower(body)
    u, other = bends(body, 2)
    grown, _ = makes.modify(Grown(), u, NO_POSE)
    aside = makes._beside(grown, other)
    aside *= makes.rms(u) / makes.rms(aside)
    kept, beside = makes.modify(grown, u + 0.009 * aside, NO_POSE)
    assert kept is grown
    assert beside == pytest.approx(0.009 * makes.rms(u), rel=1e-6)
    assert makes.modify(grown, u + 0.011 * aside, NO_POSE)[0].rank == 2


def test_an_update_keeps_the_states_of_before_and_a_downdate_those_of_late():
    body = beam(6)
    makes, grown = grower(body, max_rank=6), Grown()
    for u in bends(body, 6):
        before = None if grown.learned is None else grown.learned.basis.columns @ grown.recent
        grown, _ = makes.modify(grown, u, NO_POSE)
        if before is not None:
            assert np.abs(grown.learned.basis.columns @ grown.recent - before).max() < 1e-14
        grown = makes.remember(grown, grown.learned.basis.project(u), NO_POSE)
    late = grown.learned.basis.columns @ grown.recent
    assert late.shape[1] == 3
    down = makes.downdate(grown)
    basis = down.learned.basis
    assert (down.rank, down.recent.shape[1], down.answers.shape[2]) == (3, 0, 3)
    left = late - basis.columns @ (basis.columns.T @ (basis.metric[:, None] * late))
    assert np.abs(left).max() < 1e-12


def test_the_rank_stays_within_its_limit_and_full_bases_are_halved():
    body = beam(6)
    makes, grown, ranks = grower(body, max_rank=4), Grown(), []
    for u in np.concatenate([bends(body, 8), bends(body, 4, seed=1)]):
        grown, _ = makes.modify(grown, u, NO_POSE)
        grown = makes.remember(grown, grown.learned.basis.project(u), NO_POSE)
        ranks.append(grown.rank)
    assert max(ranks) == 4
    assert 3 in ranks[4:]  # halved, with one more
    assert len(grown.learned.rule.members) > 0


@pytest.mark.parametrize("seed", range(4))
def test_key_elements_carry_over_and_those_of_no_weight_are_gone(seed):
    body = beam(6)
    makes, grown = grower(body), Grown()
    rules = []
    for u in bends(body, 4, seed):
        grown, _ = makes.modify(grown, u, NO_POSE)
        rules.append(grown.learned.rule)
    assert all((rule.weights > 0.0).all() and rule.training_error <= 0.01 for rule in rules)
    assert np.isin(rules[-2].members, rules[-1].members).any()


@pytest.mark.parametrize("zero", ["throttle", "tolerance", "event"])
def test_without_throttle_the_run_is_the_full_one_bit_for_bit(zero):
    body = beam(6)
    events = {0: (SetThrottle(0.0),)} if zero == "event" else {}
    options = {} if zero == "event" else {zero: 0.0}
    found, reports = run(PaperSkippingSolver(body, integrator="newmark", **options), 10, events=events)
    full, _ = run(FullSolver(body, integrator="newmark"), 10)
    assert all(report.kind == "full" for report in reports)
    assert all(
        np.array_equal(a.full.x, b.x) and np.array_equal(a.full.v, b.v) for a, b in zip(found, full, strict=True)
    )


def test_full_steps_before_the_first_skip_are_those_of_the_full_solver(swing):
    solver, states, reports = swing
    first = next(k for k, report in enumerate(reports) if report.kind == "reduced")
    full, _ = run(FullSolver(solver.body, integrator="newmark"), first - 1)
    assert np.array_equal(states[first - 1].full.x, full[-1].x)


def test_steps_are_skipped_in_runs_no_longer_than_allowed(swing):
    _, states, reports = swing
    kinds = [report.kind for report in reports]
    begins = [k for k in range(1, len(kinds)) if kinds[k] == "reduced" and kinds[k - 1] == "full"]
    assert begins
    for k in begins:
        allowed = states[k].allowed
        length = next((j for j in range(k, len(kinds)) if kinds[j] == "full"), len(kinds)) - k
        assert length <= allowed
        assert states[k].learned.basis.rank == states[k].grown.rank + 1  # the error column


def test_a_switch_moves_the_body_by_what_lies_beside_the_basis_alone(swing):
    solver, states, _ = swing
    full, rms = FullSolver(solver.body, integrator="newmark"), grower(solver.body).rms
    switches = [k for k in range(1, 121) if states[k].motion is not None and states[k - 1].motion is None]
    assert switches
    for k in switches:
        end, _ = full.step(states[k - 1].full, inputs(solver.body, k - 1))
        moved = rms(solver.positions(states[k]) - end.x)
        assert 0.0 < moved * states[k].allowed <= solver.settings.discard


def test_a_growing_error_column_ends_a_run_early(swing):
    solver, states, reports = swing
    k = next(k for k in range(1, 120) if states[k].motion is not None)
    estimates = [report.estimated_error or 0.0 for report in reports[k : k + states[k].allowed - 3]]
    bound = 1.05 * estimates[0]  # passed later on, which the solver above did not mind
    late = k + next(j for j, estimate in enumerate(estimates) if estimate > bound)
    strict = PaperSkippingSolver(solver.body, integrator="newmark", tolerance=bound, discard=0.02, max_rank=8)
    reached, again = run(strict, late + 2 - k, state=states[k], first=k)
    assert k < late < k + states[k].allowed - 2
    assert [report.kind for report in again] == ["reduced"] * (late + 1 - k) + ["full"]
    assert again[-1].skip.rejected
    assert np.array_equal(reached[-2].full.x, solver.positions(states[late + 1]))  # nothing of the column is lost


def test_the_throttle_multiplies_the_steps_in_a_row(swing):
    solver, states, _ = swing
    k = next(k for k in range(1, 120) if states[k].motion is not None and states[k - 1].motion is None)
    twice = PaperSkippingSolver(
        solver.body, integrator="newmark", tolerance=0.05, discard=0.02, max_rank=8, throttle=2.0
    )
    again, _ = run(twice, 1, state=states[k - 1], first=k - 1)
    assert again[1].allowed == 2 * states[k].allowed


def test_sampled_forces_are_those_of_the_whole_body():
    body = beam(6)
    x = body.mesh.vertices + bends(body, 1)[0]
    sampled = SampledForces(body, body.pins, 10)
    exact = body.forces(x)[sampled.vertices]
    assert len(sampled.vertices) == 10
    assert sampled.residual(x[sampled.needed], -exact, 1.0) < 1e-12 * np.abs(exact).max()
    assert sampled.residual(x[sampled.needed], 0 * exact, 2.0) == pytest.approx(2 * np.sqrt(np.mean(exact**2)))


def test_statics_is_skipped_near_the_full_shapes(sway):
    solver, force, states, reports = sway
    full, _ = run(FullSolver(solver.body, integrator="static"), 80, force=force)
    errors = [np.sqrt(np.mean((solver.positions(a) - b.x) ** 2)) for a, b in zip(states, full, strict=True)]
    assert sum(report.kind == "reduced" for report in reports) > 40
    assert max(errors) < 2 * solver.settings.error
    assert all(report.skip.checked for report in reports if report.kind == "reduced")


def test_the_bound_on_residuals_only_grows_and_holds_in_every_skipped_step(sway):
    solver, _, states, reports = sway
    uppers = [state.upper for state in states]
    assert uppers == sorted(uppers)
    assert uppers[-1] > 0.0
    assert reports[0].kind == "full"  # as printed, zero would not be above zero
    assert all(report.estimated_error <= solver.settings.error for report in reports if report.kind == "reduced")


@pytest.mark.parametrize("which", ["swing", "sway"])
def test_a_run_from_a_checkpoint_is_the_uninterrupted_one(which, request):
    solver, *given, states, reports = request.getfixturevalue(which)
    options = {"force": given[0]} if given else {}
    for motion in (False, True):
        k = next(k for k in range(5, 60) if (states[k].motion is not None) == motion)
        fresh = PaperSkippingSolver(
            solver.body,
            integrator="newmark" if which == "swing" else "static",
            tolerance=solver.settings.error,
            discard=solver.settings.discard,
            max_rank=solver.settings.max_rank,
        )
        later, again = run(fresh, 15, state=fresh.unpack(solver.pack(states[k])), first=k, **options)
        assert [r.kind for r in again] == [r.kind for r in reports[k : k + 15]]
        assert np.array_equal(fresh.positions(later[-1]), solver.positions(states[k + 15]))


def test_new_pins_forget_the_basis(swing):
    solver, states, _ = swing
    k = next(k for k in range(60, 120) if states[k].grown.rank > 3)
    reached, reports = run(solver, 1, state=states[k], first=k, events={k: (AddPin((30,)),)})
    assert reports[0].kind == "full"
    assert reached[1].grown.rank == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": -1.0}, "tolerance"),
        ({"discard": 0.0}, "discard"),
        ({"throttle": float("nan")}, "throttle"),
        ({"max_rank": 1}, "max_rank"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, words):
    with pytest.raises((ArgumentError, SceneError), match=words):
        PaperSkippingSolver(beam(3), **options)
