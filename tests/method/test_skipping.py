"""Skipping steps: never worse than asked, nothing skipped at tolerance zero, full steps where something new happens."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from helpers import DOWN

from supple.cubature import Rule
from supple.elastic import Body, Damping, Pins, StiffnessMap
from supple.errors import ArgumentError, SceneError
from supple.linalg.direct import Pardiso
from supple.material import StVK
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.method.full.drag import mean_edge
from supple.method.skipping import learning, training
from supple.method.skipping.deciding import next_check
from supple.method.skipping.measure import Measure, rms
from supple.method.skipping.model import Learned, LearnedModel
from supple.method.skipping.solver import SkippingSolver
from supple.method.state import FullState
from supple.solve import AddPin, Force, Grab, Gravity, Inputs, Moment, SetThrottle
from supple.solve.increment import Increment
from supple.subspace.window import Window

H = 0.01
SIDEWAYS = Gravity(np.array([0.0, -9.81, 30.0]))


def thin_beam(cells: int = 16, pinned: bool = True) -> Body:
    """A soft beam of 5 tets a cell that swings for long."""
    mesh = fill_box((0.0, 0.0, 0.0), (float(cells), 2.0, 2.0), resolution=cells)
    mesh = replace(mesh, vertices=mesh.vertices * np.array([1.0 / cells, 0.06, 0.06]))
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)) if pinned else None
    return Body.build(mesh, StVK(young=2e5, poisson=0.1, density=100.0), pins, Damping(0.1, 2e-5))


def inputs(
    body: Body,
    k: int,
    force: Callable[[float], Force] = lambda time: DOWN,
    events: tuple = (),
    colliders: tuple = (),
) -> Inputs:
    targets = body.mesh.vertices[body.pins.vertices]
    begin, end = (Moment(H * j, targets, (force(H * j),), colliders) for j in (k, k + 1))
    return Inputs(begin, end, events)


def run(solver, steps: int, *, state=None, first: int = 0, events=None, **options):
    """States, the first among them, and reports."""
    body = solver.body
    states = [solver.start(inputs(body, first, **options)) if state is None else state]
    reports = []
    for k in range(first, first + steps):
        new, report = solver.step(states[-1], inputs(body, k, events=(events or {}).get(k, ()), **options))
        states.append(new)
        reports.append(report)
    return states, reports


def share_skipped(reports) -> float:
    return sum(report.kind == "reduced" for report in reports) / len(reports)


@pytest.fixture(scope="module")
def swing():
    """A Newmark run of a beam, by skipping with a rule and in full space."""
    body = thin_beam()
    solver = SkippingSolver(body, integrator="newmark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_EVERY", 0)
        states, reports = run(solver, 200)
    full, _ = run(FullSolver(body, integrator="newmark", tolerance=1e-8), 200)
    return body, solver, states, reports, full


def test_a_swinging_beam_is_skipped_and_stays_near_the_full_motion(swing):
    body, solver, states, reports, full = swing
    assert share_skipped(reports) > 0.6
    errors = [rms(solver.positions(a) - b.x, body.mass) for a, b in zip(states, full, strict=True)]
    assert max(errors) < 1e-3 * np.abs(full[60].x - body.mesh.vertices).max()


def test_estimates_are_within_a_factor_of_three_of_the_error_of_a_step(swing):
    body, solver, states, reports, _ = swing
    exact = FullSolver(body, integrator="newmark", tolerance=1e-9)
    ratios = []
    for k, report in enumerate(reports):
        if report.skip.checked and states[k].motion is not None:
            x, v, a = solver.to_full(states[k])
            true = exact.step(exact.from_full(x, v, a, H * k), inputs(body, k))[0]
            error = rms(solver.positions(states[k + 1]) - true.x, body.mass)
            ratios.append(report.estimated_error / Measure.of("newmark", H, states[k + 1].scale).step(error))
    assert len(ratios) > 5
    assert 1 / 3 < min(ratios) <= max(ratios) < 3


def test_damping_of_a_fast_reduced_step_is_that_of_the_full_one(swing):
    """It looks as far ahead: farther, a swing would be damped otherwise, which no check sees."""
    body, _, states, _, _ = swing
    k = next(k for k in range(60, 199) if states[k].motion is not None and states[k + 1].motion is not None)
    every = Rule(np.arange(len(body.mesh.tets)), np.ones(len(body.mesh.tets)), 0.0, trainer="all")
    model = LearnedModel(body, replace(states[k].memory.learned, rule=every), "newmark", 1e-6)
    q, v, a = states[k].motion
    fast = FullState(H * k, model.positions(q), model.lift(5.0 * v), model.lift(a))
    assert H * np.abs(fast.v).max() > 0.6 * mean_edge(body.parts)  # from where on full steps look less far
    M, b = model._drag(np.array([q, 5.0 * v, a]), H)
    end, force, full = q + 5.0 * H * v, np.zeros_like(fast.x), FullSolver(body, integrator="newmark")
    (with_drag, system), (without, _) = (full.formulate(fast, inputs(body, k), drags=drags) for drags in (True, False))
    x = model.positions(end)
    force[system.map.free] = (with_drag.gradient(x) - without.gradient(x)).reshape(-1, 3)
    pulled = model.pull(force)
    assert np.linalg.norm(M @ end - b - pulled) < 1e-3 * np.linalg.norm(pulled)


def test_a_switch_moves_nothing(swing):
    body, solver, states, _, _ = swing
    switches = [k for k in range(1, len(states)) if states[k].motion is not None and states[k - 1].motion is None]
    assert switches
    for k in switches:
        begin = states[k - 1]
        later = replace(begin.memory, progress=begin.memory.progress._replace(wait=9))
        reached, _ = solver.step(replace(begin, memory=later), inputs(body, k - 1))
        assert reached.full is not None
        assert np.abs(reached.full.x - solver.positions(states[k])).max() < 1e-12


@pytest.mark.parametrize("zero", ["tolerance", "throttle", "event"])
def test_without_tolerance_the_run_is_the_full_one_bit_for_bit(zero):
    body = thin_beam(8)
    options = {} if zero == "event" else {zero: 0.0}
    events = {0: (SetThrottle(0.0),)} if zero == "event" else {}
    skipping, reports = run(SkippingSolver(body, integrator="newmark", **options), 12, events=events)
    full, _ = run(FullSolver(body, integrator="newmark"), 12)
    assert share_skipped(reports) == 0.0
    assert all(
        np.array_equal(a.full.x, b.x) and np.array_equal(a.full.v, b.v) for a, b in zip(skipping, full, strict=True)
    )


def test_a_run_from_a_checkpoint_is_the_uninterrupted_one_bit_for_bit(swing, monkeypatch):
    monkeypatch.setattr(training, "_EVERY", 0)  # as it was run
    body, solver, states, reports, _ = swing
    in_full = next(k for k in range(15, 200) if states[k].full is not None)
    in_reduced = next(k for k in range(15, 200) if states[k].motion is not None)
    for k in (in_full, in_reduced):
        fresh = SkippingSolver(body, integrator="newmark")
        later, again = run(fresh, 25, state=fresh.unpack(solver.pack(states[k])), first=k)
        assert np.array_equal(fresh.positions(later[-1]), solver.positions(states[k + 25]))
        assert [r.kind for r in again] == [r.kind for r in reports[k : k + 25]]


def test_responses_to_pushes_are_found_on_the_way_and_kept_with_the_state():
    body = thin_beam(100)
    solver = SkippingSolver(body, integrator="newmark")
    states, _ = run(solver, 16)
    found = [len(state.memory.responses) for state in states]
    assert found[-1] == 2
    assert np.diff(found).max() == 1
    again = solver.unpack(solver.pack(states[-1])).memory.responses
    assert all(np.array_equal(*pair) for pair in zip(again, states[-1].memory.responses, strict=True))
    few = SkippingSolver(body, integrator="newmark", max_rank=20)
    assert not run(few, 10)[0][-1].memory.responses


def test_copies_of_a_state_go_on_alone(swing):
    _, solver, states, _, _ = swing
    k = next(k for k in range(100, 200) if states[k].motion is not None)
    before = solver.positions(states[k]).copy()
    run(solver, 3, state=states[k], first=k, force=lambda time: SIDEWAYS)
    assert np.array_equal(solver.positions(states[k]), before)
    assert np.array_equal(
        solver.positions(run(solver, 1, state=states[k], first=k)[0][1]), solver.positions(states[k + 1])
    )


def test_a_sudden_load_brings_a_full_step_at_once(swing):
    _, solver, states, _, _ = swing
    k = next(k for k in range(100, 200) if states[k].motion is not None)
    _, reports = run(solver, 1, state=states[k], first=k, force=lambda time: SIDEWAYS)
    assert reports[0].kind == "full"
    assert reports[0].skip.rejected


@pytest.mark.parametrize(
    "event", [AddPin((30,)), Grab("hand", (40,), (1.0,), (0.9, 0.0, 0.0), 10.0)], ids=["pin", "grab"]
)
def test_what_holds_the_body_anew_brings_a_full_step_at_once(swing, event):
    _, solver, states, _, _ = swing
    k = next(k for k in range(100, 200) if states[k].motion is not None)
    _, reports = run(solver, 1, state=states[k], first=k, events={k: (event,)})
    assert reports[0].kind == "full"


def test_implicit_euler_is_skipped_too():
    body = thin_beam(10)
    solver = SkippingSolver(body)
    states, reports = run(solver, 120)
    full, _ = run(FullSolver(body, tolerance=1e-8), 120)
    assert share_skipped(reports) > 0.6
    largest = np.abs(full[-1].x - body.mesh.vertices).max()
    assert max(rms(solver.positions(a) - b.x, body.mass) for a, b in zip(states, full, strict=True)) < 2e-3 * largest


def test_small_bodies_have_no_rule_but_all_their_elements(swing):
    body, _, states, reports, _ = swing
    assert 0 < reports[-1].skip.elements < len(body.mesh.tets)  # of the run that was not allowed it
    small = SkippingSolver(thin_beam(10))
    states, reports = run(small, 60)
    rule = states[-1].memory.learned.rule
    assert max(report.skip.elements for report in reports) == len(small.body.mesh.tets) == rule.size
    assert (rule.weights == 1.0).all()


def test_statics_is_skipped_while_a_load_goes_to_and_fro():
    body = thin_beam(10)

    def sway(time: float) -> Gravity:
        angle = 2.0 * np.pi * time / 0.5
        return Gravity(np.array([0.0, -3.0 * np.cos(angle), 2.0 * np.sin(angle)]))

    solver = SkippingSolver(body, integrator="static", tolerance=1e-3)
    states, reports = run(solver, 150, force=sway)
    full, _ = run(FullSolver(body, integrator="static", tolerance=1e-8), 150, force=sway)
    assert share_skipped(reports) > 0.6
    largest = max(rms(b.x - body.mesh.vertices, body.mass) for b in full)
    errors = [rms(solver.positions(a) - b.x, body.mass) for a, b in zip(states, full, strict=True)]
    assert max(errors) < 2 * 3e-3 * largest


def test_checks_teach_a_better_subspace_without_a_full_step(monkeypatch):
    monkeypatch.setattr(training, "_EVERY", 0)  # errors of a rule make it worth while
    body = thin_beam(10)

    def swell(time: float) -> Gravity:
        """Ever stronger, never the same way twice."""
        angle = 2.0 * np.pi * time / 0.5
        return Gravity(3.0 * time * np.array([0.0, -np.cos(angle), np.sin(1.7 * angle)]))

    solver, exact = SkippingSolver(body, integrator="static", tolerance=5e-3), FullSolver(body, integrator="static")
    states, reports = run(solver, 150, force=swell)
    renewed = [k for k, report in enumerate(reports) if report.kind == "reduced" and report.skip.learned]
    assert renewed
    assert sum(report.kind == "full" for report in reports) <= 15
    olds, news = [], []
    for k in renewed:
        later = states[k].memory.progress._replace(enough=999)
        begin, step = states[k], inputs(body, k, force=swell)
        kept, report = solver.step(replace(begin, memory=replace(begin.memory, progress=later)), step)
        assert not report.skip.learned
        entered, at = states[k + 1].memory.learned, solver.positions(states[k + 1]) - body.mesh.vertices
        assert rms(at - entered.offset - entered.basis.lift(entered.basis.project(at)), body.mass) < 1e-12  # no pop
        for state, errors in ((kept, olds), (states[k + 1], news)):
            ahead, _ = run(solver, 4, state=replace(state, interval=99), first=k + 1, force=swell)
            full, _ = run(exact, 4, state=exact.from_full(*solver.to_full(state)), first=k + 1, force=swell)
            errors.append(rms(solver.positions(ahead[-1]) - full[-1].x, body.mass))
    assert sum(news) < 0.5 * sum(olds)


@pytest.mark.parametrize("linear_solver", ["direct", "pcg"])
def test_a_matrix_that_knows_nothing_of_the_body_is_found_out(linear_solver):
    """By full steps, which it would call settled at once, and by checks, whose estimates it would make small."""
    body = thin_beam(40)

    def sway(time: float) -> Gravity:
        angle = 2.0 * np.pi * time / 0.5
        return Gravity(np.array([0.0, -3.0 * np.cos(angle), 2.0 * np.sin(angle)]))

    solver = SkippingSolver(body, integrator="static", linear_solver=linear_solver)
    exact = FullSolver(body, integrator="static", tolerance=1e-8)
    states, reports = run(solver, 30, force=sway)
    first = next(k for k, report in enumerate(reports) if report.kind == "reduced")
    for k in (first - 3, first):
        begin, step = states[k], inputs(body, k, force=sway)
        progress = begin.memory.progress._replace(avoid=0)
        memory = replace(begin.memory, matrix=1e5 * states[first].memory.matrix, progress=progress)
        new, report = solver.step(replace(begin, memory=memory, interval=1), step)
        assert report.kind == reports[k].kind
        assert report.kind == "full" or report.skip.checked
        true = exact.step(exact.from_full(*solver.to_full(begin)), step)[0].x
        error = rms(solver.positions(new) - true, body.mass) / new.scale
        assert error < 1e-2
        if report.kind == "reduced":
            assert report.skip.corrected == (linear_solver == "direct")  # gradients know by another matrix at once
            assert error < 0.2 * 1e-2 or not report.skip.corrected
            bare, unseen = solver.step(replace(begin, memory=memory, interval=99), step)
            assert not unseen.skip.checked
            before = rms(solver.positions(bare) - true, body.mass) / new.scale
            assert before / 3.0 < report.estimated_error < 3.0 * before


def test_the_tolerance_is_wider_where_errors_do_not_add_up():
    body = thin_beam(3)
    assert SkippingSolver(body, integrator="newmark").tolerance == 1e-3
    assert SkippingSolver(body, integrator="static").tolerance == 1e-2


def test_a_motion_too_rich_for_the_rank_costs_little_beside_its_full_steps(monkeypatch):
    body, work = thin_beam(10), Counter()

    def count(name: str) -> None:
        original = getattr(Window, name)

        def counted(*args):
            work[name] += 1
            return original(*args)

        monkeypatch.setattr(Window, name, counted)

    count("appended")
    count("principal")
    solver = SkippingSolver(body, integrator="newmark", max_rank=2, tolerance=1e-4)
    _, reports = run(solver, 240)
    assert share_skipped(reports) < 0.1
    assert sum(report.skip.learned for report in reports) <= 6
    assert sum(report.skip.checked for report in reports) <= 12
    assert work["appended"] <= 0.45 * len(reports)
    assert work["principal"] <= 0.15 * len(reports)


def test_a_subspace_that_does_not_hold_is_made_again_within_a_tenth_of_the_steps_that_failed(monkeypatch):
    """However few of them are looked at by then: one of long ago would never hold, whatever the motion has become."""
    made, original = [], Window.principal

    def principal(window, rank):
        made.append(len(reports))
        return original(window, rank)

    monkeypatch.setattr(Window, "principal", principal)
    body = thin_beam(10)
    solver, reports = SkippingSolver(body, integrator="newmark", max_rank=2, tolerance=1e-6), []
    state = solver.start(inputs(body, 0))
    for k in range(240):
        state, report = solver.step(state, inputs(body, k))
        reports.append(report)
    assert share_skipped(reports) == 0.0
    gaps = np.diff(made)
    assert all(gap <= max(3, step // 10) + 1 + step // 40 for gap, step in zip(gaps, made[1:], strict=True))
    assert made[-1] > 200


# What they take beside the forces of a body, on 300 to 2,000 tets
WORK = {
    (Increment, "terms"): 1.0, (StiffnessMap, "assemble"): 4.0, (Pardiso, "factor"): 7.0, (Pardiso, "solve"): 1.3,
    (Window, "appended"): 1.0, (Window, "principal"): 4.0, (training, "train_pool"): 150.0,
}  # fmt: skip


@pytest.mark.parametrize(("cells", "tolerance", "steps"), [(15, 1e-4, 400), (15, 1e-5, 400), (100, 3e-5, 60)])
def test_a_run_that_cannot_be_skipped_takes_at_most_a_tenth_more_work_than_the_full_one(
    monkeypatch, cells, tolerance, steps
):
    if steps < 100:
        monkeypatch.setattr(learning, "_FEWEST_RINGING", 10)  # so that a short run learns
    spent: list[float] = [0.0]

    def count(owner, name: str, weight: float) -> None:
        original = getattr(owner, name)

        def counted(*args, **options):
            spent[-1] += weight
            return original(*args, **options)

        monkeypatch.setattr(owner, name, counted)

    for (owner, name), weight in WORK.items():
        count(owner, name, weight)
    body = thin_beam(cells)
    options = {"force": lambda time: SIDEWAYS if 0.15 < time < 0.3 else DOWN}
    run(FullSolver(body, integrator="newmark", linear_solver="direct"), steps, **options)
    spent.append(0.0)
    solver = SkippingSolver(body, integrator="newmark", linear_solver="direct", tolerance=tolerance)
    _, reports = run(solver, steps, **options)
    assert share_skipped(reports) < 0.1
    assert reports[-1].skip.rank > 10
    assert spent[1] < 1.1 * spent[0]


def test_what_was_learned_is_used_again_when_the_motion_returns():
    body = thin_beam(10)

    def sway(time: float) -> Gravity:
        """To and fro along y, then along z, in turns of 60 steps; a load that moves none of the other."""
        turn, angle = int(time / H - 0.5) // 60 % 2, 2.0 * np.pi * time / 0.3
        strength = 4.0 * np.sin(angle)
        return Gravity(np.array([0.0, strength, 0.0] if turn else [0.0, 0.0, strength]))

    solver = SkippingSolver(body, integrator="static", max_rank=4, tolerance=1e-3)
    states, reports = run(solver, 300, force=sway)
    trained = [sum(report.skip.learned for report in reports[k : k + 60]) for k in range(0, 300, 60)]
    assert trained[0] >= 1
    assert trained[1] >= 1
    assert sum(trained[2:]) <= 1
    assert share_skipped(reports[120:]) > share_skipped(reports[:120])
    assert len(states[-1].memory.kept) <= 4


def test_the_rank_grows_while_a_motion_is_too_rich_and_no_further_than_asked(monkeypatch):
    monkeypatch.setattr(learning, "_FIRST", 4)
    body, ranks = thin_beam(10), []
    for most in (7, None):
        solver = SkippingSolver(body, integrator="newmark", max_rank=most, tolerance=1e-5)
        ranks.append({report.skip.rank for report in run(solver, 90)[1]} - {0})
    assert min(ranks[0]) == 4
    assert max(ranks[0]) == 7
    assert max(ranks[1]) > 7


def test_finer_meshes_are_skipped_as_often():
    def sway(time: float) -> Gravity:
        angle = 2.0 * np.pi * time / 0.5
        return Gravity(np.array([0.0, -3.0 * np.cos(angle), 2.0 * np.sin(angle)]))

    shares = [
        share_skipped(run(SkippingSolver(thin_beam(cells), integrator="static", tolerance=1e-3), 150, force=sway)[1])
        for cells in (10, 20)
    ]
    assert abs(shares[0] - shares[1]) <= 0.05


@pytest.mark.parametrize(
    ("static", "before", "estimate", "expected"),
    [
        (False, 0.1, 0.2, 8),
        (False, 0.7, 0.6, 2),  # near what is refused: half as many
        (True, 0.7, 0.6, 8),  # but errors that are forgotten and do not grow
        (True, 0.5, 0.6, 4),  # those that do: half of the way that is left
        (False, 0.0, 0.375, 6),  # before it would be refused
        (True, 0.05, 0.2, 4),  # as when it grows fourfold in four steps
        (True, 0.0125, 0.2, 2),  # or sixteenfold
    ],
)
def test_checks_come_before_an_error_that_grows_is_refused(static, before, estimate, expected):
    assert next_check(before, estimate, 4, 4 if estimate < 0.5 else 2, 1.0, static) == expected


def test_checks_are_at_most_ten_steps_apart():
    assert [next_check(0.1, 0.1, 10, 10, 1.0, static) for static in (False, True)] == [10, 10]
    assert next_check(0.1, 0.1, 10, 10, 1.0, True, longest=20) == 20


@pytest.mark.parametrize(("estimate", "expected"), [(0.2, 8), (0.6, 5), (0.9, 3), (2.0, 1)])
def test_an_error_that_was_taken_away_is_looked_at_before_it_is_back(estimate, expected):
    """It grew from a tenth of what is refused within four steps, and has that way before it again."""
    assert next_check(0.1, estimate, 4, 4, 1.0, True, left=0.1) == expected


def test_a_static_step_that_ends_in_full_space_is_in_balance_in_the_subspace(monkeypatch):
    """Steps under the same load go on from there and change nothing: no pop, and the forces of the rule are exact."""
    monkeypatch.setattr(training, "_EVERY", 0)  # a rule lacks something
    body = thin_beam(10)

    def rise(time: float) -> Gravity:
        return Gravity(np.array([0.0, -4.0 * min(time, 0.3), 3.0 * min(time, 0.3) ** 2]))

    solver = SkippingSolver(body, integrator="static", tolerance=1e-3)
    states, reports = run(solver, 60, force=rise)
    ends = [k for k, report in enumerate(reports) if report.skip.corrected and k < 29]
    assert ends
    for k in ends:
        new = states[k + 1]
        still = Inputs(inputs(body, k, force=rise).end, replace(inputs(body, k, force=rise).end, time=H * (k + 2)))
        assert np.abs(new.defect).max() > 0.0
        after, report = solver.step(replace(new, interval=99, load=None), still)
        assert report.kind == "reduced"
        assert rms(solver.positions(after) - solver.positions(new), body.mass) < 0.1 * 1e-3 * new.scale
        exact = FullSolver(body, integrator="static", tolerance=1e-9)
        true = exact.step(exact.from_full(*solver.to_full(new)), still)[0].x
        assert rms(solver.positions(new) - true, body.mass) < 0.2 * 1e-3 * new.scale


def test_a_sudden_load_on_a_static_body_is_met_at_once_by_a_full_step():
    body = thin_beam(10)

    def turn(time: float) -> Gravity:
        return Gravity(np.array([0.0, -3.0, 0.0]) if time < 0.405 else np.array([0.0, -3.0, 6.0]))

    def rise(time: float) -> Gravity:
        return Gravity(min(time / 0.2, 1.0) * turn(time).acceleration)

    solver = SkippingSolver(body, integrator="static", tolerance=1e-3)
    states, reports = run(solver, 45, force=rise)
    assert [report.kind for report in reports[38:40]] == ["reduced", "reduced"]
    assert reports[40].kind == "full"
    exact = FullSolver(body, integrator="static", tolerance=1e-9)
    full, _ = run(exact, 45, force=rise)
    assert rms(solver.positions(states[41]) - full[41].x, body.mass) < 1e-3 * states[41].scale


def test_statics_begins_a_step_where_the_last_two_lead():
    """Under loads so small that answers are in proportion, that is where it ends."""
    body = thin_beam(6)
    basis = Window(body.mass)
    rng = np.random.default_rng(0)
    for _ in range(3):
        u = rng.standard_normal(body.mesh.vertices.shape)
        u[body.pins.vertices] = 0.0
        basis = basis.appended(1e-3 * u)
    every = Rule(np.arange(len(body.mesh.tets)), np.ones(len(body.mesh.tets)), 0.0, trainer="all")
    learned = Learned(basis.principal(3), every, np.zeros_like(body.mesh.vertices), 1.0)
    model = LearnedModel(body, learned, "static", 1e-4)
    motion, elastic, iterations = np.zeros((3, 3)), 0.0, []
    for k in (1, 2, 3):
        end = model.step(motion, k * 1e-7 * body.mass[:, None] * np.array([0.0, -9.81, 3.0]), H, elastic)
        end.motion[1] = (end.motion[0] - motion[0]) / H
        motion, elastic = end.motion, end.elastic
        iterations.append(end.iterations)
    assert iterations[0] >= 1
    assert iterations[1:] == [0, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": -1e-3}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"throttle": -1.0}, "throttle"),
        ({"max_rank": 0}, "max_rank"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, words):
    with pytest.raises((ArgumentError, SceneError), match=words):
        SkippingSolver(thin_beam(3), **options)
