"""Condensed bodies that touch: a poke where no training was, and what happens when it is over."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from condensation_helpers import Fixed, tip
from helpers import DOWN
from reduced_helpers import beam, complete_model, end_of, modal_model, whole_rule

from supple.contact.places import Places
from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.method import FullSolver, ReducedModel
from supple.method.condensation.moment import StanceMoment
from supple.method.condensation.region import Ground
from supple.method.condensation.solver import CondensationSolver
from supple.method.condensation.state import fold_back
from supple.method.reduced.solver import ReducedSolver
from supple.shape import make_shape
from supple.solve import Inputs, Moment, NodalForce, Placement
from supple.subspace import diagonalise, linear_modes, modal_basis

RADIUS, END = 0.08, 0.06


@cache
def bar() -> tuple[Body, ReducedModel]:
    """A bar that knows how to bend, and nothing about being pinched."""
    mesh = make_shape("beam", elements=1500)
    body = Body.build(mesh, StableNeoHookean(young=1e6, poisson=0.4), end_of(mesh))
    basis = diagonalise(modal_basis(body, linear_modes(body, 9), 14), body)
    return body, ReducedModel(basis, whole_rule(body), np.zeros((3 * len(body.mass), 0)), 1e9)


def pinch(time: float) -> tuple[Placement, ...]:
    """Two balls that close in on the bar from above and below until END, and are gone then."""
    away = 50.0 if time > END + 1e-9 else -0.03 * time / END
    return tuple(Placement(np.eye(3), np.array([0.1, side * (0.1 + RADIUS + away), 0.0])) for side in (1.0, -1.0))


def run(solver, h: float, until: float) -> list:
    """States and reports from rest on."""
    held = solver.body.mesh.vertices[solver.body.pins.vertices]
    moments = [Moment(h * k, held, (), pinch(h * k)) for k in range(round(until / h) + 1)]
    states, reports = [solver.start(Inputs(*moments[:2]))], []
    for begin, end in pairwise(moments):
        state, report = solver.step(states[-1], Inputs(begin, end))
        states.append(state)
        reports.append(report)
    return [states, reports]


def condensed(**options) -> CondensationSolver:
    return CondensationSolver(*bar(), colliders=(Sphere(RADIUS),) * 2, **options)


def shape_of(solver, until: float = END) -> np.ndarray:
    return solver.to_full(run(solver, 0.01, until)[0][-1])[0]


@cache
def truth() -> np.ndarray:
    return shape_of(FullSolver(bar()[0], colliders=(Sphere(RADIUS),) * 2))


def error(x: np.ndarray) -> float:
    """In the metric of the masses, relative to the displacement."""
    body, exact = bar()[0], truth()
    squares = [body.mass @ ((field - exact) ** 2).sum(axis=1) for field in (x, body.mesh.vertices)]
    return float(np.sqrt(squares[0] / squares[1]))


def patch_error(x: np.ndarray) -> float:
    """The largest error near the balls, relative to the largest displacement."""
    rest, exact = bar()[0].mesh.vertices, truth()
    near = np.abs(rest[:, 0] - 0.1) < 2 * RADIUS
    return float(np.linalg.norm((x - exact)[near], axis=1).max() / np.linalg.norm(exact - rest, axis=1).max())


def test_a_poke_that_a_subspace_gets_wrong_is_right_with_a_patch_of_full_space() -> None:
    """Errors fall with the radius, Fig. 7 of [TMDK15]; the subspace alone locks, Fig. 2."""
    body, model = bar()
    alone = shape_of(ReducedSolver(body, model, colliders=(Sphere(RADIUS),) * 2))
    shapes = [shape_of(condensed(radius=radius)) for radius in (0.1, 0.2, 0.3, 0.4)]
    bodies, patches = np.transpose([(error(x), patch_error(x)) for x in shapes])
    assert (np.diff(bodies) < 0.0).all(), bodies
    assert (np.diff(patches) < 0.0).all(), patches
    assert error(alone) > 1.0
    assert patch_error(alone) > 10 * patches[1]
    assert bodies[-1] < 0.01


def test_growth_comes_before_the_step() -> None:
    """No vertex touches while it is left to the subspace."""
    solver = condensed(radius=0.2)
    states, reports = run(solver, 0.01, END)
    for state, report in zip(states[1:], reports, strict=True):
        if report.touching is not None:
            assert np.isin(report.touching.vertex, state.full).all()
    assert reports[-1].kind == "hybrid"
    assert 0.0 < reports[-1].full_share < 0.6
    assert reports[-1].contacts > 0
    assert reports[-1].linear_iterations > 0
    assert 0 < reports[-1].linear_systems <= reports[-1].newton_iterations * 2
    assert (
        reports[-1].linear_longest
        <= reports[-1].linear_iterations
        <= reports[-1].linear_longest * reports[-1].linear_systems
    )


@pytest.mark.parametrize("h", [0.01, 0.0025])
def test_a_patch_returns_without_a_pop(monkeypatch, h: float) -> None:
    """The balls vanish; what jumps as vertices return is L/5000 at most, energy 1 % of what was stored."""
    solver, body = condensed(radius=0.2), bar()[0]
    seen = []

    def energy(x: np.ndarray, v: np.ndarray) -> float:
        return body.energy(x) + 0.5 * float(body.mass @ (v**2).sum(axis=1))

    def watch(state, ground, keep):
        after = fold_back(state, ground, keep)
        (x, v), (y, w) = ([one.place(ground, level=k) for k in (0, 1)] for one in (state, after))
        seen.append(
            (len(state.full) - len(after.full), np.linalg.norm(x - y, axis=1).max(), energy(y, w) - energy(x, v))
        )
        return after

    monkeypatch.setattr("supple.method.condensation.solver.fold_back", watch)
    states, reports = run(solver, h, END + 0.1)
    stored = max(energy(*solver.to_full(state)[:2]) for state in states)
    assert sum(gone for gone, _, _ in seen) > 20, "vertices returned"
    assert max(jump for _, jump, _ in seen) < body.mesh.size() / 5000
    assert max(abs(change) for _, _, change in seen) < 0.01 * stored
    assert reports[-1].kind == "reduced"


def test_two_frames_as_the_paper_has_it_pop_at_small_steps() -> None:
    """What the default avoids: section 4.2 of [TMDK15] waits for two frames, however short they are."""
    solver = condensed(radius=0.2, release="frames")
    states = run(solver, 0.0025, END + 0.02)[0]
    counts = [len(state.full) for state in states]
    last = max(k for k, count in enumerate(counts) if count)
    before, after = states[last], fold_back(states[last], solver._ground, np.zeros(counts[last], bool))
    jump = np.linalg.norm(solver.positions(before) - solver.positions(after), axis=1).max()
    assert jump > bar()[0].mesh.size() / 5000


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_with_a_complete_basis_contact_is_that_of_the_full_solver(integrator: str) -> None:
    """Friction and all, with contacts on full vertices, on others, and a region that changes under them."""
    body = beam()
    ground = Ground(body, complete_model(body).basis)
    oracle = Fixed(*(tip(ground, count) for count in (3, 8, 5)))
    under = (Placement(np.eye(3), body.mesh.bounds()[1] * [0.8, 0.0, 0.0] - [0.0, 0.3, 0.0]),)
    settings = {"integrator": integrator, "colliders": (Sphere(0.19),), "contact": ContactSettings(friction=0.2)}
    full = FullSolver(body, tolerance=1e-7, **settings)
    solver = CondensationSolver(body, complete_model(body), tolerance=1e-7, oracle=oracle, **settings)
    held, steps = body.mesh.vertices[body.pins.vertices], 1 if integrator == "static" else 15
    found = []
    for one in (full, solver):
        state = one.start()
        for k in range(steps):
            moments = (Moment(0.01 * j, held, (DOWN,), under) for j in (k, k + 1))
            state, report = one.step(state, Inputs(*moments))
        assert report.contacts > 0
        found.append(one.positions(state))
    assert np.abs(found[0] - found[1]).max() < 1e-5 * np.abs(found[0] - body.mesh.vertices).max()


@cache
def jaw() -> tuple[Body, NodalForce]:
    """A C held at its back, and a pull that closes it."""
    mesh = fill_box((0, 0, 0), (0.8, 0.5, 0.1), 8)
    x, y, _ = mesh.vertices[mesh.tets].mean(axis=1).T
    mesh = TetMesh.clean(mesh.vertices, mesh.tets[~((x > 0.2) & (y > 0.19) & (y < 0.31))])
    x, y, z = mesh.vertices.T
    # No two ways out of the flesh are equally long
    mesh = replace(mesh, vertices=mesh.vertices + 0.004 * np.sin([5 * y + 9 * z, 7 * x + 8 * z, 6 * x + 11 * y]).T)
    body = Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.3), Pins.of(np.flatnonzero(x < 0.01)))
    ends = np.flatnonzero(x > 0.79).astype(np.int32)
    return body, NodalForce(ends, np.where(y[ends] > 0.25, -1.0, 1.0), np.array([0.0, 3.0, 0.0]))


def test_a_body_that_touches_itself_is_full_there() -> None:
    """Both lips become full; with a complete basis they stop at each other as in full space."""
    body, pull = jaw()
    contact = ContactSettings(self_contact=True)
    full = FullSolver(body, tolerance=1e-6, contact=contact)
    solver = CondensationSolver(body, complete_model(body), tolerance=1e-6, contact=contact, radius=0.15)
    held, found = body.mesh.vertices[body.pins.vertices], []
    for one in (full, solver):
        state = one.start()
        for k in range(5):
            state, report = one.step(state, Inputs(*(Moment(0.04 * j, held, (pull,)) for j in (k, k + 1))))
        assert report.contacts > 0
        found.append(one.positions(state))
    assert report.kind == "hybrid"
    assert np.isin(report.touching.bearing[report.touching.weights != 0.0], state.full).all()
    sides = np.sign(body.mesh.vertices[state.full, 1] - 0.25)
    assert set(sides) == {-1.0, 1.0}
    gap = np.abs(found[0] - found[1]).max() / np.abs(found[0] - body.mesh.vertices).max()
    assert gap < 1e-3


def test_in_an_equilibrium_all_that_touches_is_full() -> None:
    """However often the region has to grow on the way: no next step would make it so."""
    body, pull = jaw()
    hard = NodalForce(pull.vertices, pull.weights, np.array([0.0, 8.0, 0.0]))
    half = replace(hard, vector=0.5 * hard.vector)
    contact = ContactSettings(self_contact=True, friction=0.0)
    solver = CondensationSolver(body, modal_model(body, 6), integrator="static", contact=contact, radius=0.05)
    held, state, sizes = body.mesh.vertices[body.pins.vertices], solver.start(), []
    moments = [Moment(float(k), held, forces) for k, forces in enumerate(((), (half,), (hard,)))]
    cut = solver._tools.cut
    solver._tools.cut = lambda full, others: sizes.append(len(full)) or cut(full, others)
    for begin, end in pairwise(moments):
        state, report = solver.step(state, Inputs(begin, end))
        assert np.isin(report.touching.bearing[report.touching.weights != 0.0], state.full).all()
        sizes.append(0)
    assert len(set(sizes[: sizes.index(0)])) > 2  # it grew while the first step was solved


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_lazy_looks_lead_where_looks_at_everything_do(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, though few vertices are asked for while the lips are apart."""
    body, pull = jaw()
    contact, held, found, asked = ContactSettings(self_contact=True, friction=0.0), body.pins.vertices, [], []
    read = Places.read
    monkeypatch.setattr(
        Places, "read", lambda self, vertices: (read(self, vertices), asked.append(self.count_known))[0]
    )
    for lazy in (True, False):
        if not lazy:
            monkeypatch.setattr(StanceMoment, "of", lambda *_: None)
        solver = CondensationSolver(body, modal_model(body, 6), integrator=integrator, contact=contact, radius=0.08)
        state, states = solver.start(), []
        for k in range(5):
            moments = (Moment(0.04 * j, body.mesh.vertices[held], (pull,)) for j in (k, k + 1))
            state, report = solver.step(state, Inputs(*moments))
            states.append(solver.positions(state))
        assert report.contacts > 0
        found.append(np.array(states))
        if lazy:
            assert min(asked) < 0.7 * len(body.mass)
    assert np.array_equal(*found)
