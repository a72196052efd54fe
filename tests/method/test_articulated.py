"""Skinned bodies in domains: limit cases that tie them to the undivided and to the full solver, and a trained one."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from articulated_helpers import all_coordinates, cut, every, exact_model
from reduced_helpers import FAR, modal_model
from rig_helpers import moment, shifted, skinned

from supple.cubature import Rule
from supple.elastic import Body, Damping
from supple.errors import SceneError, SuppleWarning
from supple.material import StableNeoHookean
from supple.mesh import TetMesh
from supple.method import ArticulatedSolver, FullSolver, SkinnedModel, SkinnedSolver, train_articulated
from supple.method.articulated.model import ArticulatedModel
from supple.method.skinned.particles import Particles
from supple.method.solver import Solver
from supple.rig import Held, SkinnedRig
from supple.solve import AddPin, Grab, Gravity, Inputs, NodalForce, SetStiffness
from supple.subspace import DomainBases, Domains, Interface

H = 0.02
PUSH = Gravity(np.array([1.0, -9.81, 2.0]))
ALL = ["static", "implicit_euler", "newmark"]


def rod(mode: str = "dual_quaternion", damping: Damping | None = None, resolution: int = 8):
    """A capsule of two bones: its character, rig, pins and body."""
    character, rig, held, body = skinned("capsule", resolution, mode)
    return character, rig, held, replace(body, damping=damping or Damping())


def bend(character, rig: SkinnedRig, steps: int) -> list[np.ndarray]:
    """Poses from rest to a bent one, with turns and shifts of all joints."""
    target = character.poses["bent"] + np.random.default_rng(1).normal(0.0, 0.1, len(rig.neutral))
    return [rig.neutral + (k / steps) ** 2 * target for k in range(steps + 1)]


def run(solver: Solver, held: Held, poses: list[np.ndarray], *forces, events=None) -> list:
    """States of a run through poses."""

    def inputs(k: int) -> Inputs:
        return Inputs(*(moment(H * j, held, poses[j], *forces) for j in (k, k + 1)), (events or {}).get(k, ()))

    states = [solver.start(inputs(0))]
    for k in range(len(poses) - 1):
        states.append(solver.step(states[-1], inputs(k))[0])
    return states


def modal_domains(body: Body, rig: SkinnedRig, rank: int = 8, **interface) -> ArticulatedModel:
    """Parts of the softest modes, with all elements and vertices."""
    domains = cut(body, rig)
    basis = modal_model(body, rank).basis
    tied = Interface.of(domains, **interface)
    return exact_model(DomainBases.cut(domains, basis, np.eye(rank)).diagonalised(tied), tied)


# Limit cases


@pytest.mark.parametrize("mode", ["dual_quaternion", "linear"])
@pytest.mark.parametrize("integrator", ALL)
def test_one_domain_is_the_undivided_body_and_has_no_springs(mode: str, integrator: str) -> None:
    character, rig, held, body = rod(mode, Damping(mass=1.0, stiffness=0.003))
    rng = np.random.default_rng(2)
    few = np.sort(rng.choice(len(body.mesh.tets), 60, replace=False))
    rule, particles = Rule(few, rng.uniform(5.0, 10.0, 60), 0.0), every(len(body.mass))
    whole = SkinnedModel(modal_model(body, 10).basis, rule, particles, FAR)
    one = Domains.of(body, np.zeros(len(body.mesh.tets), int))
    tied = Interface.of(one)
    assert tied.stiffness == len(tied.pairs) == 0
    model = ArticulatedModel(DomainBases(one, (whole.basis,)), tied, rule, particles, FAR)
    events = {2: (Grab("g", (9, 11), (0.5, 0.5), (0.2, 0.1, 0.3), 50.0),), 4: (SetStiffness(0.7),)}
    settings = {"integrator": integrator, "tolerance": 1e-10}
    touch = NodalForce(np.array([5, 7], np.int32), np.array([0.3, 0.7]), np.array([0.0, 1.0, 0.5]))
    solvers = ArticulatedSolver(body, rig, model, **settings), SkinnedSolver(body, rig, whole, **settings)
    found, expected = (run(one, held, bend(character, rig, 7), PUSH, touch, events=events)[-1] for one in solvers)
    sizes = np.abs(expected.shapes).max(axis=1, keepdims=True)
    assert (np.abs(found.shapes - expected.shapes) <= np.array([[1e-12], [1e-10], [1e-8]]) * sizes).all()
    np.testing.assert_allclose(solvers[0].positions(found), solvers[1].positions(expected), atol=1e-13)


def test_two_complete_domains_come_to_the_full_solver_by_one_over_the_stiffness_of_their_springs() -> None:
    character, rig, held, body = rod(damping=Damping(mass=1.0))
    full, poses = FullSolver(body, rig=rig, tolerance=1e-10), bend(character, rig, 7)
    exact, domains, off = run(full, held, poses, PUSH)[-1].x, cut(body, rig), []
    assert len(domains) == 2
    for factor in (10.0, 100.0, 1000.0):
        model = exact_model(all_coordinates(domains), Interface.of(domains, bond=10.0 * factor))
        solver = ArticulatedSolver(body, rig, model, tolerance=1e-10)
        off.append(np.abs(solver.positions(run(solver, held, poses, PUSH)[-1]) - exact).max())
    assert off[0] < 1e-3 * body.mesh.size()
    for soft, stiff in pairwise(off):
        assert soft / stiff == pytest.approx(10.0, rel=0.05)  # first order in 1/k


def test_parts_of_a_basis_come_to_it_by_stiff_springs_or_lie_nearer_to_the_full_solver() -> None:
    """They hold all that it holds, so nothing locks."""
    character, rig, held, body = rod()
    whole = SkinnedModel(modal_model(body, 8).basis, every(len(body.mesh.tets)), every(len(body.mass)), FAR)
    poses = bend(character, rig, 5)
    exact = run(FullSolver(body, rig=rig, integrator="static"), held, poses, PUSH)[-1].x
    solvers = [
        SkinnedSolver(body, rig, whole, integrator="static"),
        ArticulatedSolver(body, rig, modal_domains(body, rig, bond=1e5), integrator="static"),
    ]
    off = [np.linalg.norm(one.positions(run(one, held, poses, PUSH)[-1]) - exact) for one in solvers]
    assert off[1] < 1.001 * off[0]


@pytest.mark.parametrize("integrator", ALL)
def test_a_still_rig_without_loads_leaves_the_body_at_rest(integrator: str) -> None:
    _, rig, held, body = rod()
    solver = ArticulatedSolver(body, rig, modal_domains(body, rig), integrator=integrator)
    state = run(solver, held, [rig.neutral] * 4)[-1]
    np.testing.assert_allclose(solver.positions(state), rig.rest, rtol=0, atol=1e-13)


def test_a_rig_that_speeds_up_acts_like_gravity() -> None:
    _, rig, held, body = rod()
    solver = ArticulatedSolver(body, rig, modal_domains(body, rig), tolerance=1e-10)
    pull = np.array([2.0, -4.0, 3.0])
    # Second differences of these places are the acceleration, from the first step on
    moved = [shifted(rig, pull * H**2 * k * (k + 1) / 2) for k in range(13)]
    driven = run(solver, held, moved)[-1]
    hanging = run(solver, held, [rig.neutral] * 13, Gravity(-pull))[-1]
    np.testing.assert_allclose(driven.shapes[0], hanging.shapes[0], rtol=0, atol=1e-8 * np.abs(hanging.shapes[0]).max())


def test_a_body_carried_round_its_root_feels_the_centrifugal_force() -> None:
    """What a steady turn does to the coordinates is Uᵀ M ω² r of every copy, to first order in the step."""
    _, rig, _, body = rod()
    model, spin, off = modal_domains(body, rig), 0.5, []
    domains, still = model.basis.domains, np.zeros(model.basis.rank)
    particles = Particles.of_copies(rig, model.basis, model.particles)
    away = (domains.spread(rig.rest) - rig.skeleton.heads[0]) * [1.0, 1.0, 0.0]
    exact = np.concatenate([U.columns.T @ (U.metric * spin**2 * away[own].ravel()) for U, own, _ in model.basis.each()])
    size = spin**2 * np.sqrt(domains.body.mass @ (away**2).sum(axis=1))
    for h in (0.02, 0.01):
        placed = [particles.place(_turned(rig, spin * h * k)) for k in range(3)]
        x = [particles.positions(place, still) for place in placed]
        found = particles.lag(placed[2], 2.0 * x[1] - x[0], still) / h**2
        off.append(np.linalg.norm(found - exact) / size)
    assert off[0] < 2.0 * spin * 0.02
    assert off[1] == pytest.approx(off[0] / 2.0, rel=0.05)


def _turned(rig: SkinnedRig, angle: float) -> np.ndarray:
    pose = rig.neutral.copy()
    pose[5] = angle
    return pose


def test_mirrored_poses_give_mirrored_results() -> None:
    character, rig, _, body = rod()
    mirror = np.array([1.0, 1.0, -1.0])
    # The same body with z the other way round, so that not even its mesh is what was asked for
    flipped = TetMesh.clean(body.mesh.vertices * mirror, body.mesh.tets[:, [0, 1, 3, 2]])
    other = Body.build(flipped, StableNeoHookean(young=3e4, poisson=0.4), body.pins)
    skeleton = replace(rig.skeleton, heads=rig.skeleton.heads * mirror, tails=rig.skeleton.tails * mirror)
    image = replace(rig, rest=flipped.vertices, skeleton=skeleton)
    pose = character.poses["bent"] + 0.3 * character.poses["twisted"]
    reflected = (pose.reshape(-1, 3) * np.vstack([mirror, *[-mirror] * (len(pose) // 3 - 1)])).ravel()
    push = np.array([1.0, -9.81, 2.0])
    results = []
    for flesh, bones, target, force in ((body, rig, pose, push), (other, image, reflected, push * mirror)):
        solver = ArticulatedSolver(flesh, bones, modal_domains(flesh, bones), integrator="static", tolerance=1e-10)
        poses = [k / 4 * target for k in range(5)]
        ends = Held(bones, flesh.pins)
        results.append(solver.positions(run(solver, ends, poses, Gravity(force))[-1]))
    np.testing.assert_allclose(results[0], results[1] * mirror, rtol=0, atol=1e-8 * body.mesh.size())


def test_two_kinds_of_material_in_a_domain_are_both_counted() -> None:
    character, rig, held, body = rod()
    regions = (np.arange(len(body.mesh.tets)) % 3 == 0).astype(np.int32)
    mesh = TetMesh.clean(body.mesh.vertices, body.mesh.tets, regions)
    stiff, soft = StableNeoHookean(young=6e4, poisson=0.4), StableNeoHookean(young=3e4, poisson=0.3)
    mixed = Body.build(mesh, {0: soft, 1: stiff}, body.pins)
    poses, domains = bend(character, rig, 5), cut(mixed, rig)
    model = exact_model(all_coordinates(domains), Interface.of(domains, bond=1e5))
    solver = ArticulatedSolver(mixed, rig, model, integrator="static")
    full = FullSolver(mixed, rig=rig, integrator="static")
    found, exact = (one.positions(run(one, held, poses, PUSH)[-1]) for one in (solver, full))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4 * mixed.mesh.size())


# A trained one


@cache
def trained() -> tuple[SkinnedRig, Held, Body, ArticulatedModel, list[np.ndarray]]:
    """A model of three bends of a rod, and a bend between them that it has not seen."""
    character, rig, held, body = rod(damping=Damping(mass=1.0, stiffness=0.005), resolution=10)
    full, waves = FullSolver(body, rig=rig, tolerance=1e-5), np.sin(np.pi * np.arange(31) / 30) ** 2

    def swing(bent: float, twisted: float) -> list[np.ndarray]:
        return [0.6 * w * (bent * character.poses["bent"] + twisted * character.poses["twisted"]) for w in waves]

    poses, shapes = [], []
    for motion in (swing(1.0, 0.0), swing(0.6, 0.5), swing(0.3, 0.8)):
        poses += motion[1:]
        shapes += [state.x for state in run(full, held, motion, PUSH)[1:]]
    model = train_articulated(body, rig, np.array(poses), shapes, np.random.default_rng(3), rank=12, tolerance=0.03)
    return rig, held, body, model, swing(0.7, 0.4)


def test_a_trained_model_follows_the_full_solver_through_an_unseen_motion() -> None:
    rig, held, body, model, poses = trained()
    assert model.rule.size < len(body.mesh.tets) / 4
    assert model.particles.size < len(body.mass) / 3
    exact = [one.x for one in run(FullSolver(body, rig=rig, tolerance=1e-5), held, poses, PUSH)]
    solver = ArticulatedSolver(body, rig, model)
    states = run(solver, held, poses, PUSH)
    found = [solver.positions(state) for state in states]
    size = max(np.abs(rig.pull_back(pose, x) - rig.rest).max() for pose, x in zip(poses, exact, strict=True))
    assert np.abs(np.array(found) - exact).max() < 0.03 * size  # the tolerance that was asked for
    gaps = [model.interface.widest(model.basis.lift_copies(state.shapes[0])) for state in states]
    assert 0.0 < max(gaps) < 0.05 * size


def test_a_run_stays_bounded_for_a_thousand_frames() -> None:
    rig, held, body, model, poses = trained()
    solver = ArticulatedSolver(body, rig, model)
    states = run(solver, held, [*poses, *(poses[1:] * 33)], PUSH)
    assert len(states) > 1000
    first, last = (max(np.abs(state.shapes[0]).max() for state in part) for part in (states[:31], states[-31:]))
    assert last < 1.1 * first


@pytest.mark.parametrize("integrator", ALL)
def test_a_run_goes_on_from_a_packed_state_bit_for_bit(integrator: str) -> None:
    rig, held, body, model, poses = trained()
    solver, other = (ArticulatedSolver(body, rig, model, integrator=integrator) for _ in range(2))
    states = run(solver, held, poses[:9], PUSH)
    state = other.unpack(solver.pack(states[4]))
    for k in range(4, 8):
        step = Inputs(*(moment(H * j, held, poses[j], PUSH) for j in (k, k + 1)))
        state, report = other.step(state, step)
    assert (report.kind, report.full_share) == ("reduced", 0.0)
    for name, array in solver.pack(states[-1]).items():
        np.testing.assert_array_equal(other.pack(state)[name], array)


def test_motion_survives_the_way_to_full_space_and_back() -> None:
    rig, held, body, model, poses = trained()
    solver = ArticulatedSolver(body, rig, model)
    state = run(solver, held, poses[:12], PUSH)[-1]
    back = solver.from_full(*solver.to_full(state), state.time, pose=state.pose)
    size = np.abs(rig.pull_back(state.pose, solver.positions(state)) - rig.rest).max()
    # Copies that came apart come back at their mean
    np.testing.assert_allclose(solver.positions(back), solver.positions(state), rtol=0, atol=0.02 * size)
    chosen = np.array([40, 3, 17])
    np.testing.assert_allclose(solver.positions(state, chosen), solver.positions(state)[chosen], rtol=0, atol=1e-15)


def test_a_pin_of_the_user_holds_across_domains() -> None:
    rig, held, body, model, _ = trained()
    solver = ArticulatedSolver(body, rig, model, integrator="static", tolerance=1e-8)
    borders = np.setdiff1d(model.basis.domains.vertex_of[model.interface.pairs[:, 0]], body.pins.vertices)
    tips = (int(borders[0]), int(np.argmax(rig.rest[:, 0])))
    free, pinned = (
        solver.positions(run(solver, held, [rig.neutral] * 3, PUSH, events=events)[-1], np.array(tips))
        for events in ({}, {0: (AddPin(tips, "xyz"),)})
    )
    gone = [np.linalg.norm(x - rig.rest[list(tips)], axis=1) for x in (free, pinned)]
    assert (gone[1] < 0.1 * gone[0]).all()


def test_it_says_what_ties_its_domains_and_what_is_drawn() -> None:
    rig, _, body, model, _ = trained()
    line = ArticulatedSolver(body, rig, model).describe()[-1]
    assert f"{model.interface.stiffness:.3g} N/m" in line
    assert "mean of copies is drawn" in line
    assert model.facts["spring_stiffness"] == model.interface.stiffness
    assert model.facts["drawn_at_borders"] == "mean of the copies by mass"
    assert sum(model.facts["domain_ranks"]) == model.basis.rank
    softer = replace(model, interface=Interface.of(model.basis.domains))
    assert model.hash() != softer.hash()


def test_loads_unlike_the_trained_ones_are_named() -> None:
    rig, held, body, model, poses = trained()
    tip = NodalForce(np.array([int(np.argmax(rig.rest[:, 0]))], np.int32), np.ones(1), np.array([0.0, 0.0, 1e-3]))
    known = replace(model, facts={**model.facts, "loads": []}, reach=FAR)
    with pytest.warns(SuppleWarning, match="a force on 1 vertices .* not trained for"):
        run(ArticulatedSolver(body, rig, known), held, poses[:2], tip)
    run(ArticulatedSolver(body, rig, replace(model, reach=FAR)), held, poses[:2], tip)  # says nothing about loads


def test_misfits_are_refused() -> None:
    rig, _, body, model, _ = trained()
    _, small, _, other = rod()
    with pytest.raises(SceneError, match="train again"):
        ArticulatedSolver(other, small, model)
    far = replace(model.particles, members=model.particles.members + 100_000)
    with pytest.raises(SceneError, match="train again"):
        ArticulatedSolver(body, rig, replace(model, particles=far))
    with pytest.raises(SceneError, match="no elements"):
        ArticulatedSolver(body, rig, replace(model, rule=Rule(np.zeros(0, np.int64), np.zeros(0), 0.0)))
