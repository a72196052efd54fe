"""Condensation on bodies in domains: a full vertex is one, whatever copies of it domains have."""

from dataclasses import replace

import numpy as np
import pytest
from articulated_helpers import all_coordinates, cut, exact_model
from condensation_helpers import Fixed
from test_articulated import bend, modal_domains, rod, run

from supple.elastic import Damping
from supple.method import ArticulatedSolver, CondensationSolver, FullSolver
from supple.method.condensation.region import WHOLE
from supple.solve import Gravity
from supple.subspace import Interface

PUSH = Gravity(np.array([1.0, -9.81, 2.0]))


def border(model) -> np.ndarray:
    """Movable vertices that more than one domain has, ascending."""
    domains = model.basis.domains
    shared = np.unique(domains.vertex_of[model.interface.pairs])
    return np.setdiff1d(shared, domains.whole.pins.vertices).astype(np.int32)


def test_nothing_full_is_the_solver_of_domains_bit_for_bit() -> None:
    character, rig, held, body = rod(damping=Damping(mass=1.0))
    model, poses = modal_domains(body, rig), bend(character, rig, 4)
    condensed = run(CondensationSolver(body, model, rig=rig, oracle=Fixed([])), held, poses, PUSH)[-1]
    alone = run(ArticulatedSolver(body, rig, model), held, poses, PUSH)[-1]
    assert len(condensed.full) == 0
    assert np.array_equal(condensed.q, alone.shapes)


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_copies_that_are_full_are_tied_whatever_springs_hold(integrator: str) -> None:
    """Domains of all motions, without any springs: full vertices at the border make them the full body again."""
    character, rig, held, body = rod()
    domains = cut(body, rig)
    loose = Interface.of(domains, 0.0)
    model, poses = exact_model(all_coordinates(domains), loose), bend(character, rig, 3)
    settings = {"integrator": integrator, "tolerance": 1e-8}
    solver = CondensationSolver(body, model, rig=rig, oracle=Fixed(border(model)), **settings)
    states = run(solver, held, poses, PUSH)
    assert 0.0 < len(states[-1].full) < 0.5 * len(body.mass)
    full = FullSolver(body, rig=rig, **settings)
    exact = full.to_full(run(full, held, poses, PUSH)[-1])[0]
    moved = np.abs(exact - rig.positions(poses[-1])).max()
    assert np.abs(solver.positions(states[-1]) - exact).max() < 2e-4 * moved


def test_springs_between_full_copies_no_longer_count() -> None:
    """However stiff they are: with the border full, it moves as it does with none."""
    character, rig, held, body = rod()
    model, poses = modal_domains(body, rig), bend(character, rig, 3)
    ends = []
    for factor in (1.0, 1e3):
        tied = replace(model, interface=replace(model.interface, stiffness=factor * model.interface.stiffness))
        solver = CondensationSolver(body, tied, rig=rig, oracle=Fixed(border(model)), integrator="static")
        ends.append(solver.positions(run(solver, held, poses, PUSH)[-1]))
    moved = np.abs(ends[0] - rig.positions(poses[-1])).max()
    assert np.abs(ends[1] - ends[0]).max() < 1e-3 * moved


def test_coordinates_of_a_domain_that_is_full_do_not_run_away() -> None:
    """Nothing resists them, and what a rule misses pushes them."""
    character, rig, held, body = rod()
    model, poses = modal_domains(body, rig), bend(character, rig, 6)
    rng = np.random.default_rng(0)
    rough = [replace(rule, weights=rng.uniform(0.5, 1.5, rule.size)) for rule in (model.rule, model.particles)]
    model = replace(model, rule=rough[0], particles=rough[1])
    domains = model.basis.domains
    own = np.setdiff1d(domains.vertex_of[domains.vertices(1)], body.pins.vertices)
    states = run(CondensationSolver(body, model, rig=rig, oracle=Fixed(own)), held, poses, PUSH)
    alone = run(ArticulatedSolver(body, rig, model), held, poses, PUSH)
    assert len(states[-1].full) == len(own)
    assert np.abs(states[-1].q[0]).max() < 3.0 * max(np.abs(state.shapes[0]).max() for state in alone)


def test_where_most_of_a_domain_is_full_no_rule_speaks_for_the_rest() -> None:
    """Less what exact tets take from it a rule might push instead of resisting."""
    character, rig, held, body = rod()
    model, poses = modal_domains(body, rig), bend(character, rig, 3)
    domains = model.basis.domains
    own = np.setdiff1d(domains.vertex_of[domains.vertices(1)], body.pins.vertices)
    some, most = (np.sort(own[np.argsort(body.mesh.vertices[own, 0])[: int(share * len(own))]]) for share in (0.1, 0.7))
    ground = CondensationSolver(body, model, rig=rig)._ground
    assert not len(ground.cut(some).filled)
    np.testing.assert_array_equal(ground.cut(most).filled, domains.tets(1))
    rng = np.random.default_rng(0)
    rough = replace(model, rule=replace(model.rule, weights=rng.uniform(0.2, 1.0, model.rule.size)))
    ends = []
    for one in (model, rough):
        solver = CondensationSolver(body, one, rig=rig, oracle=Fixed(most), integrator="static")
        ends.append(solver.positions(run(solver, held, poses, PUSH)[-1])[own])
    moved = np.abs(ends[0] - rig.positions(poses[-1])[own]).max()
    assert np.abs(ends[1] - ends[0]).max() < 0.1 * moved


def test_domains_that_nothing_touches_keep_their_rules_however_much_of_the_body_is_full() -> None:
    character, rig, held, body = rod()
    model, poses = modal_domains(body, rig), bend(character, rig, 2)
    domains = model.basis.domains
    alone = np.setdiff1d(domains.vertex_of[domains.vertices(0)], domains.vertex_of[domains.vertices(1)])
    own = np.setdiff1d(np.arange(len(body.mass)), np.union1d(alone, body.pins.vertices))
    assert len(own) > WHOLE * (len(body.mass) - len(body.pins.vertices))
    solver = CondensationSolver(body, model, rig=rig, oracle=Fixed(own))
    run(solver, held, poses, PUSH)
    region = solver._tools.cut(own.astype(np.int32), np.zeros(0, np.int32))
    assert not region.whole
    away = np.setdiff1d(domains.tets(0), np.flatnonzero(np.isin(body.mesh.tets, own).any(axis=1)))
    assert len(away) > 0.8 * len(domains.tets(0))
    assert not np.isin(away, region.tets).any()
