"""Bodies cut into domains: nothing is lost by the cut, springs close it, one domain is the undivided body."""

from collections.abc import Callable

import numpy as np
import pytest

from supple.cubature import Rule
from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.tied_elements import TiedElements
from supple.elastic import Body, Pins
from supple.errors import MeshError, SceneError, SuppleWarning, TrainingError
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.rig import Influences, Skeleton, SkinnedRig
from supple.solve import Gravity, Inputs, Moment
from supple.subspace import Basis, diagonalise, linear_modes, principal_basis
from supple.subspace.bone_owners import bone_domains, bone_owners
from supple.subspace.domain_bases import DomainBases
from supple.subspace.domains import Domains
from supple.subspace.interface import BOND, Interface

DOWN = np.array([0.3, -9.81, 0.5])


def make_beam(cells: int = 8, young: float = 2e5) -> Body:
    """A beam 1 m long, held at its low x side, of a soft end and a stiffer one."""
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), cells)
    regions = (mesh.vertices[mesh.tets].mean(axis=1)[:, 0] > 0.3).astype(np.int32)
    mesh = type(mesh).clean(mesh.vertices, mesh.tets, regions)
    materials = {0: StableNeoHookean(young=young), 1: StableNeoHookean(young=2 * young, density=1500.0)}
    return Body.build(mesh, materials, Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)))


def slabs(body: Body, count: int) -> np.ndarray:
    """Labels of tets by equal slabs along x."""
    centres = body.mesh.vertices[body.mesh.tets].mean(axis=1)
    return np.minimum((centres[:, 0] * count).astype(int), count - 1)


@pytest.fixture(scope="module")
def beam() -> Body:
    return make_beam()


@pytest.fixture(scope="module")
def halves(beam: Body) -> Domains:
    return Domains.of(beam, slabs(beam, 2), ["upper", "lower"])


@pytest.fixture(scope="module")
def quarters(beam: Body) -> Domains:
    """Four domains about a line along x, where vertices have four copies."""
    centres = beam.mesh.vertices[beam.mesh.tets].mean(axis=1)
    return Domains.of(beam, 2 * (centres[:, 1] > 0.125) + (centres[:, 2] > 0.125))


@pytest.fixture(scope="module")
def shapes(beam: Body) -> np.ndarray:
    """Displacements of the whole beam, (k, n, 3) [m]."""
    modes = linear_modes(beam, 9)
    return 0.01 * modes.columns.T.reshape(9, -1, 3)


def complete(domains: Domains) -> DomainBases:
    """Every free coordinate of every copy is a column."""
    bases = []
    for domain in range(len(domains)):
        piece = domains.piece(domain)
        free = np.ones((len(piece.mass), 3), bool)
        free[piece.pins.vertices] = ~piece.pins.held
        columns = np.diag(np.repeat(1.0 / np.sqrt(piece.mass), 3))[:, free.ravel()]
        bases.append(Basis(columns, piece.mass, "all coordinates", np.ones(columns.shape[1])))
    return DomainBases(domains, tuple(bases))


def whole_rule(body: Body) -> Rule:
    return Rule(np.arange(len(body.mesh.tets)), np.ones(len(body.mesh.tets)), 0.0)


def minimise(tied: TiedElements, load: np.ndarray, inertia: float = 0.0, towards: np.ndarray | None = None):
    """q with force(q) + inertia (q - towards) = load, from a mass-orthonormal basis."""
    q = np.zeros(tied.rank) if towards is None else towards.copy()
    goal = q.copy()

    def height(q: np.ndarray) -> float:
        return tied.energy(q) - load @ q + 0.5 * inertia * (q - goal) @ (q - goal)

    for _ in range(60):
        residual = tied.force(q) - load + inertia * (q - goal)
        if np.linalg.norm(residual) < 1e-9 * np.linalg.norm(load):  # stiff springs leave no more digits
            return q
        step = np.linalg.solve(tied.stiffness(q) + inertia * np.eye(len(q)), -residual)
        length = 1.0
        while height(q + length * step) > height(q) + 1e-12 and length > 1e-4:
            length *= 0.5
        q = q + length * step
    raise AssertionError("no convergence")


def weigh(bases: DomainBases, gravity: np.ndarray = DOWN) -> np.ndarray:
    """Reduced weight of the cut body."""
    mass = bases.domains.body.mass
    return bases.joined().columns.T @ (mass[:, None] * gravity).ravel()


def step_inputs(body: Body, begin: float, end: float) -> Inputs:
    targets = body.mesh.vertices[body.pins.vertices]
    return Inputs(Moment(begin, targets, (Gravity(DOWN),)), Moment(end, targets, (Gravity(DOWN),)))


# The cut


def test_cut_body_has_the_masses_energy_and_forces_of_the_whole(beam: Body, quarters: Domains) -> None:
    rng = np.random.default_rng(0)
    x = beam.mesh.vertices + 0.01 * rng.normal(size=beam.mesh.vertices.shape)
    cut = quarters.body
    assert len(cut.mesh.tets) == len(beam.mesh.tets)
    assert np.bincount(quarters.vertex_of).max() == 4
    assert np.allclose(np.bincount(quarters.vertex_of, cut.mass), beam.mass, rtol=1e-14)
    assert np.isclose(cut.energy(quarters.spread(x)), beam.energy(x), rtol=1e-13)
    forces = np.zeros_like(x)
    np.add.at(forces, quarters.vertex_of, cut.forces(quarters.spread(x)))
    assert np.allclose(forces, beam.forces(x), atol=1e-11 * np.abs(beam.forces(x)).max())


def test_copies_have_the_mass_of_their_own_tets(beam: Body) -> None:
    piece = Domains.of(beam, np.arange(len(beam.mesh.tets)) % 3).piece(2)
    materials = {int(piece.mesh.regions[part.ids[0]]): part.material for part in piece.parts}
    assert np.allclose(Body.build(piece.mesh, materials).mass, piece.mass, rtol=1e-13)


def test_pieces_are_the_cut_body_domain_by_domain(quarters: Domains) -> None:
    rng = np.random.default_rng(1)
    x = quarters.body.mesh.vertices + 0.01 * rng.normal(size=quarters.body.mesh.vertices.shape)
    forces = np.concatenate([quarters.piece(k).forces(x[quarters.vertices(k)]) for k in range(4)])
    assert np.allclose(forces, quarters.body.forces(x), atol=1e-11 * np.abs(forces).max())
    held = np.concatenate([quarters.piece(k).pins.vertices + quarters.start[k] for k in range(4)])
    assert np.array_equal(held, quarters.body.pins.vertices)
    assert np.array_equal(np.unique(quarters.vertex_of[held]), quarters.whole.pins.vertices)


def test_pins_are_copied_along_their_axes_and_follow_their_targets(beam: Body) -> None:
    pins = Pins.merge([Pins.of([0, 3], "x"), Pins.of([3, 40], "yz")])
    domains = Domains.of(beam.pinned(pins), np.arange(len(beam.mesh.tets)) % 3)
    copied = domains.body.pins
    for vertex, held in zip(pins.vertices, pins.held, strict=True):
        copies = np.flatnonzero(domains.vertex_of == vertex)
        assert np.isin(copies, copied.vertices).all()
        assert (copied.held[np.searchsorted(copied.vertices, copies)] == held).all()
    targets = domains.spread_targets(beam.mesh.vertices[pins.vertices])
    assert np.array_equal(targets, domains.body.mesh.vertices[copied.vertices])


def test_gathering_what_was_spread_gives_it_back_and_means_keep_momentum(beam: Body, quarters: Domains) -> None:
    rng = np.random.default_rng(2)
    field = rng.normal(size=(len(beam.mass), 3))
    assert np.allclose(quarters.gather(quarters.spread(field)), field, atol=1e-14)
    apart = rng.normal(size=(len(quarters.body.mass), 3))
    assert np.allclose(beam.mass @ quarters.gather(apart), quarters.body.mass @ apart)


# One domain


def test_one_domain_is_the_undivided_body_to_the_last_bit(beam: Body) -> None:
    domains = Domains.of(beam, np.zeros(len(beam.mesh.tets), int))
    x = beam.mesh.vertices * [1.1, 0.9, 1.05]
    for mine, theirs in ((domains.body, beam), (domains.piece(0), beam)):
        assert mine.hash() == theirs.hash()
        assert np.array_equal(mine.forces(x), theirs.forces(x))
    interface = Interface.of(domains, 1e5)
    assert not len(interface.pairs)
    assert np.array_equal(domains.gather(x), x)


def test_one_domain_gives_the_basis_and_forces_of_the_undivided_body(beam: Body, shapes: np.ndarray) -> None:
    domains = Domains.of(beam, np.zeros(len(beam.mesh.tets), int))
    bases, basis = DomainBases.principal(domains, shapes), principal_basis(shapes, beam.mass)
    assert np.array_equal(bases.joined().columns, basis.columns)
    tied = TiedElements.build(bases, whole_rule(beam), Interface.of(domains))
    plain = ReducedElements.build(beam, basis.columns, np.arange(len(beam.mesh.tets)), np.ones(len(beam.mesh.tets)))
    q = np.linspace(-0.1, 0.1, basis.rank)
    assert not tied.springs.any()
    assert tied.energy(q) == plain.energy(q)
    assert np.array_equal(tied.force(q), plain.force(q))
    assert np.array_equal(tied.stiffness(q), plain.stiffness(q))


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_one_domain_moves_as_the_reduced_solver_does(beam: Body, integrator: str) -> None:
    basis = diagonalise(linear_modes(beam, 10), beam)
    domains = Domains.of(beam, np.zeros(len(beam.mesh.tets), int))
    bases = DomainBases(domains, (basis,))
    tied = TiedElements.build(bases, whole_rule(beam), Interface.of(domains))
    model = ReducedModel(basis, whole_rule(beam), np.zeros((3 * len(beam.mass), 0)), 1e9)
    solver = ReducedSolver(beam, model, integrator=integrator, tolerance=1e-11)
    state, h = solver.start(), 0.02
    load, q, speed = weigh(bases), np.zeros(10), np.zeros(10)
    for k in range(1 if integrator == "static" else 5):
        state, _ = solver.step(state, step_inputs(beam, h * k, h * (k + 1)))
        if integrator == "static":
            q = minimise(tied, load)
        else:
            new = minimise(tied, load, h**-2, q + h * speed)
            q, speed = new, (new - q) / h
    moved = solver.positions(state) - beam.mesh.vertices
    assert np.abs(moved).max() > 0.005
    assert np.abs(bases.lift(q) - moved).max() < 1e-8 * np.abs(moved).max()


# Several domains


@pytest.mark.parametrize("cut", ["halves", "quarters"])
def test_tied_domains_approach_the_undivided_body_as_springs_grow(
    cut: str, beam: Body, request: pytest.FixtureRequest
) -> None:
    domains = request.getfixturevalue(cut)
    solver = FullSolver(beam, integrator="static", tolerance=1e-11)
    exact = solver.step(solver.start(), step_inputs(beam, 0.0, 1.0))[0].x - beam.mesh.vertices
    bases = complete(domains)
    stiffness = Interface.of(domains).stiffness
    errors, gaps = [], []
    for factor in (1.0, 10.0, 100.0):
        interface = Interface.of(domains, factor * stiffness)
        q = minimise(TiedElements.build(bases, whole_rule(beam), interface), weigh(bases))
        errors.append(np.linalg.norm(bases.lift(q) - exact) / np.linalg.norm(exact))
        gaps.append(interface.widest(bases.lift_copies(q)))
    assert errors[0] < 0.02
    for values in (errors, gaps):
        orders = -np.diff(np.log10(values))
        assert (np.abs(orders - 1.0) < 0.05).all()


def test_domains_in_bases_follow_the_full_solution_at_the_default_stiffness(beam: Body) -> None:
    solver = FullSolver(beam, integrator="static", tolerance=1e-9)
    rest, targets = beam.mesh.vertices, beam.mesh.vertices[beam.pins.vertices]

    def sag(gravity: np.ndarray) -> np.ndarray:
        moments = (Moment(time, targets, (Gravity(gravity),)) for time in (0.0, 1.0))
        return solver.step(solver.start(), Inputs(*moments))[0].x - rest

    rng = np.random.default_rng(0)
    snapshots = np.array([sag(12.0 * rng.normal(size=3)) for _ in range(12)])
    domains = Domains.of(beam, slabs(beam, 4))
    interface = Interface.of(domains)
    bases = DomainBases.principal(domains, snapshots, tolerance=1e-4)
    assert bases.rank < 60
    q = minimise(TiedElements.build(bases, whole_rule(beam), interface), weigh(bases))
    exact = sag(DOWN)
    assert np.linalg.norm(bases.lift(q) - exact) < 0.02 * np.linalg.norm(exact)


def test_joined_basis_is_block_diagonal_orthonormal_and_zero_at_pins(quarters: Domains, shapes: np.ndarray) -> None:
    bases = DomainBases.principal(quarters, shapes, rank=5)
    joined = bases.joined()
    assert joined.rank == bases.rank == 20
    assert np.allclose(joined.columns.T @ (joined.metric[:, None] * joined.columns), np.eye(20), atol=1e-10)
    owner = np.repeat(np.repeat(np.arange(4), np.diff(quarters.start)), 3)
    assert not joined.columns[owner[:, None] != np.repeat(np.arange(4), 5)].any()
    pins = quarters.body.pins
    assert not joined.columns.reshape(-1, 3, 20)[pins.vertices].any()


def test_held_axes_do_not_enter_bases_made_from_snapshots_that_move_there(beam: Body, shapes: np.ndarray) -> None:
    domains = Domains.of(beam, slabs(beam, 2))
    bases = DomainBases.principal(domains, shapes + 0.01)
    assert not bases.lift(np.ones(bases.rank))[beam.pins.vertices].any()


def test_snapshots_are_reproduced_without_gaps(quarters: Domains, shapes: np.ndarray) -> None:
    bases, interface = DomainBases.principal(quarters, shapes), Interface.of(quarters)
    for u in shapes[:3]:
        q = bases.project(u)
        assert np.allclose(bases.lift(q), u, atol=1e-10 * np.abs(u).max())
        assert interface.widest(bases.lift_copies(q)) < 1e-10 * np.abs(u).max()
        assert np.abs(interface.reduce(bases.bases) @ q).max() < 1e-8 * np.abs(interface.reduce(bases.bases)).max()


def test_chosen_vertices_lift_as_all_do(quarters: Domains, shapes: np.ndarray) -> None:
    bases = DomainBases.principal(quarters, shapes, rank=4)
    q = np.random.default_rng(3).normal(size=bases.rank)
    chosen = np.array([40, 2, 77, 2])
    assert np.allclose(bases.lift(q, chosen), bases.lift(q)[chosen], atol=1e-15)


def test_rows_say_what_every_coordinate_moves(quarters: Domains, shapes: np.ndarray) -> None:
    bases = DomainBases.principal(quarters, shapes, rank=3)
    joined, chosen = bases.joined(), np.array([40, 7, 80, 7])
    lifted = np.stack([bases.lift(q, chosen) for q in np.eye(bases.rank)], axis=2)
    np.testing.assert_allclose(bases.rows(chosen), lifted, rtol=0, atol=1e-14 * np.abs(lifted).max())
    np.testing.assert_array_equal(bases.copy_rows(chosen), joined.rows(chosen))
    np.testing.assert_allclose(bases.even(), joined.even(), rtol=0, atol=1e-14)
    one_by_one = np.stack([bases.project(u) for u in shapes], axis=1)
    np.testing.assert_allclose(bases.project_all(shapes), one_by_one, rtol=0, atol=1e-13 * np.abs(one_by_one).max())


def test_parts_of_a_basis_hold_all_of_it_without_gaps(quarters: Domains, shapes: np.ndarray) -> None:
    whole = principal_basis(shapes, quarters.whole.mass, rank=5)
    bases = DomainBases.cut(quarters, whole, whole.project_all(shapes))
    q = np.random.default_rng(4).normal(size=5)
    u = whole.lift(q)
    copies = bases.lift_copies(bases.project(u))
    np.testing.assert_allclose(copies, quarters.spread(u), rtol=0, atol=1e-10 * np.abs(u).max())
    assert "parts of" in bases.source


def test_parts_leave_out_what_hardly_moves_a_domain(beam: Body, halves: Domains) -> None:
    far = beam.mesh.vertices[:, 0] > 0.6  # beyond the border between the domains
    moved = np.zeros((2, len(beam.mass), 3))
    moved[:, far] = np.random.default_rng(5).normal(size=(2, int(far.sum()), 3))
    moved[1] *= 0.5
    moved[1, ~far] = 1e-4 * (beam.mesh.vertices[~far, :1] > 1e-9)
    whole = principal_basis(moved, beam.mass)
    bases = DomainBases.cut(halves, whole, whole.project_all(moved))
    assert [basis.rank for basis in bases.bases] == [0, 2]


def test_parts_leave_out_what_shapes_were_not_solved_to_but_keep_what_is_asked_for(beam: Body, halves: Domains) -> None:
    rng, far = np.random.default_rng(5), beam.mesh.vertices[:, 0] > 0.6
    moved = rng.normal(size=(3, len(beam.mass), 3)) * (beam.mesh.vertices[:, :1] > 1e-9)
    moved[2] *= 1e-9  # as much as digits that a solver has not found
    dent = np.zeros((1, len(beam.mass), 3))
    dent[:, far] = rng.normal(size=(1, int(far.sum()), 3))
    whole = principal_basis(np.concatenate([moved, dent]), beam.mass)
    recorded = whole.project_all(moved)
    assert [basis.rank for basis in DomainBases.cut(halves, whole, recorded).bases] == [2, 2]
    also = whole.project_all(dent)
    bases = DomainBases.cut(halves, whole, recorded, also / np.linalg.norm(also))
    assert [basis.rank for basis in bases.bases] == [2, 3]
    held = bases.lift(bases.project(dent[0]))
    np.testing.assert_allclose(held, dent[0], rtol=0, atol=1e-9 * np.abs(dent).max())


def test_domains_tied_firmly_vibrate_as_the_whole_basis_does(quarters: Domains) -> None:
    whole = diagonalise(linear_modes(quarters.whole, 6), quarters.whole)
    cut = DomainBases.cut(quarters, whole, np.eye(6))
    # More freedom is softer, by a share that falls as the inverse of the bond. Round-off is as large a share as springs
    # are stiffer than the softest vibration, times the unit round-off: 1e-9 here, and 1e-6 for bonds of 1e6
    softest = [cut.tied(Interface.of(quarters, bond=bond)).importance[0] for bond in (1e2, 1e3)]
    softer = 1.0 - np.array(softest) / whole.importance[0]
    assert softer[0] == pytest.approx(10.0 * softer[1], rel=0.05)
    assert softer[1] > 1e-7
    tied = cut.tied(Interface.of(quarters, bond=1e6))
    assert (np.diff(tied.importance) >= 0.0).all()
    assert tied.importance[0] == pytest.approx(whole.importance[0], rel=1e-3)
    first = tied.columns[:, 0]
    assert first @ (tied.metric * first) == pytest.approx(1.0, rel=1e-3)


def test_domain_that_stands_still_gets_no_coordinates(beam: Body, shapes: np.ndarray) -> None:
    near = np.flatnonzero(beam.mesh.vertices[:, 0] < 0.251)
    body = beam.pinned(Pins.of(near))
    domains = Domains.of(body, slabs(body, 4), list("abcd"))
    bases = DomainBases.principal(domains, shapes)
    assert bases.bases[0].rank == 0
    assert bases.bases[1].rank > 0
    interface = Interface.of(domains)
    assert np.array_equal(bases.diagonalised(interface).ends, bases.ends)
    assert np.isfinite(minimise(TiedElements.build(bases, whole_rule(body), interface), weigh(bases))).all()


def test_diagonalised_bases_span_the_same_and_have_an_energy_norm_though_a_domain_floats(
    halves: Domains, shapes: np.ndarray
) -> None:
    interface = Interface.of(halves)
    plain = DomainBases.principal(halves, np.concatenate([shapes, np.ones((1, *shapes.shape[1:]))]))
    turned = plain.diagonalised(interface)
    for before, after in zip(plain.bases, turned.bases, strict=True):
        mixed = before.columns.T @ (before.metric[:, None] * after.columns)
        assert np.allclose(mixed @ mixed.T, np.eye(before.rank), atol=1e-8)
        assert (after.importance > 0.0).all()
    tied = TiedElements.build(turned, whole_rule(halves.whole), interface)
    softest = np.linalg.eigvalsh(tied.stiffness(np.zeros(tied.rank)))[0]
    assert min(basis.importance.min() for basis in turned.bases) == pytest.approx(softest, rel=1e-3)


# Springs


def test_every_two_copies_are_tied_once(quarters: Domains) -> None:
    interface = Interface.of(quarters)
    copies = np.bincount(quarters.vertex_of)
    assert len(interface.pairs) == (copies * (copies - 1) // 2).sum()
    assert len(np.unique(interface.pairs, axis=0)) == len(interface.pairs)
    assert (quarters.vertex_of[interface.pairs[:, 0]] == quarters.vertex_of[interface.pairs[:, 1]]).all()
    assert (interface.pairs[:, 0] < interface.pairs[:, 1]).all()


def test_springs_neither_push_where_copies_coincide_nor_add_momentum(quarters: Domains) -> None:
    interface, rng = Interface.of(quarters), np.random.default_rng(4)
    together = quarters.spread(rng.normal(size=quarters.whole.mesh.vertices.shape))
    assert interface.energy(together) == 0.0
    assert not interface.forces(together).any()
    apart = rng.normal(size=(len(quarters.body.mass), 3))
    assert np.abs(interface.forces(apart).sum(axis=0)).max() < 1e-10 * np.abs(interface.forces(apart)).sum()


def test_reduced_springs_are_half_q_k_q_with_a_constant_hessian(quarters: Domains, shapes: np.ndarray) -> None:
    bases = DomainBases.principal(quarters, shapes, rank=4)
    interface = Interface.of(quarters, 1e5)
    K, rng = interface.reduce(bases.bases), np.random.default_rng(5)
    assert np.allclose(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.abs(K).max()

    def energy(q: np.ndarray) -> float:
        return interface.energy(bases.lift_copies(q))

    for size in (1.0, 100.0):
        q, a, b = (size * rng.normal(size=bases.rank) for _ in range(3))
        assert energy(q) == pytest.approx(0.5 * q @ K @ q, rel=1e-12)
        force = bases.joined().columns.T @ interface.forces(bases.lift_copies(q)).ravel()
        assert np.allclose(-force, K @ q, atol=1e-10 * np.abs(K @ q).max())
        assert (energy(q + a) - energy(q - a)) / 2.0 == pytest.approx(a @ K @ q, rel=1e-9, abs=1e-9 * energy(a))
        mixed = energy(q + a + b) - energy(q + a) - energy(q + b) + energy(q)
        assert mixed == pytest.approx(a @ K @ b, rel=1e-8, abs=1e-10 * energy(q + a + b))


def two_bones(body: Body) -> tuple[Skeleton, Influences]:
    skeleton = Skeleton(
        ("upper", "lower"), np.array([-1, 0]), np.array([[0.0, 0.1, 0.1], [0.5, 0.1, 0.1]]),
        np.array([[0.5, 0.1, 0.1], [1.0, 0.1, 0.1]]),
    )  # fmt: skip
    lower = 1.0 / (1.0 + np.exp(-12.0 * (body.mesh.vertices[:, 0] - 0.5)))
    return skeleton, Influences.from_dense(np.column_stack([1.0 - lower, lower]))


@pytest.mark.parametrize(("mode", "keeps"), [("dual_quaternion", True), ("linear", False)])
def test_skinning_by_rotations_leaves_the_springs_energy_as_it_is(
    mode: str, keeps: bool, beam: Body, shapes: np.ndarray
) -> None:
    skeleton, influences = two_bones(beam)
    domains = bone_domains(beam, skeleton, influences)
    bases, interface = DomainBases.principal(domains, shapes, rank=4), Interface.of(domains)
    rig = SkinnedRig(skeleton, influences.pick(domains.vertex_of), domains.body.mesh.vertices, mode)  # type: ignore[arg-type]
    rng = np.random.default_rng(6)
    q, pose = rng.normal(size=bases.rank), np.concatenate([rng.normal(size=6), [0.3, -1.2, 1.5]])
    x = rig.push_forward(pose, domains.body.mesh.vertices + bases.lift_copies(q))
    energy = 0.5 * q @ interface.reduce(bases.bases) @ q
    assert (abs(interface.energy(x) - energy) < 1e-10 * energy) == keeps


def test_default_stiffness_goes_with_the_material_and_the_edges() -> None:
    def default(cells: int, young: float) -> float:
        body = make_beam(cells, young)
        return Interface.of(Domains.of(body, slabs(body, 2))).stiffness

    assert default(8, 4e5) == pytest.approx(2.0 * default(8, 2e5))
    assert default(16, 2e5) == pytest.approx(default(8, 2e5) / 2.0)
    assert 0.5 < default(8, 2e5) / (BOND * 4e5 * 0.125) < 2.0


# Bones


def test_tets_belong_to_the_bone_with_most_weight_and_ties_to_the_lower(beam: Body) -> None:
    skeleton, influences = two_bones(beam)
    owners = bone_owners(influences, beam.mesh.tets)
    dense = influences.dense(2)[beam.mesh.tets].mean(axis=1)
    assert np.array_equal(owners, dense.argmax(axis=1))
    even = Influences.from_dense(np.full((len(beam.mass), 3), 1.0 / 3.0))
    assert not bone_owners(even, beam.mesh.tets).any()
    assert bone_domains(beam, skeleton, influences).names == ("upper", "lower")


def test_bones_without_flesh_are_left_out_by_name_and_a_single_tet_goes_to_a_neighbour(beam: Body) -> None:
    skeleton, influences = two_bones(beam)
    skeleton = Skeleton(
        ("upper", "lower", "tip", "nail"), np.array([-1, 0, 1, 2]), skeleton.heads[[0, 1, 1, 1]],
        skeleton.tails[[0, 1, 1, 1]],
    )  # fmt: skip
    table = influences.dense(4)
    table[beam.mesh.tets[-1]] *= 0.4
    table[beam.mesh.tets[-1], 2] = 0.6  # the last tet is the tip's, those that share three corners are not
    owners = bone_owners(Influences.from_dense(table), beam.mesh.tets)
    assert np.flatnonzero(owners == 2).tolist() == [len(owners) - 1]
    with pytest.warns(SuppleWarning, match="no flesh belongs to 'tip', 'nail' of 4 bones"):
        domains = bone_domains(beam, skeleton, Influences.from_dense(table))
    assert domains.names == ("upper", "lower")
    owners[-1] = 1
    assert np.array_equal(domains.owners, owners)


# Bad input


def labels(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Body], np.ndarray]:
    return lambda body: change(slabs(body, 2))


def set_one(owners: np.ndarray) -> np.ndarray:
    owners[7] = 2
    return owners


@pytest.mark.parametrize(
    ("owners", "names", "words"),
    [
        (labels(lambda owners: owners[:-1]), None, "one integer for every tet"),
        (labels(lambda owners: owners.astype(float)), None, "one integer for every tet"),
        (labels(lambda owners: owners - 1), ["upper", "lower"], "label -1 names none of 2 domains"),
        (labels(lambda owners: owners + 1), ["upper", "lower"], "label 2 names none of 2 domains"),
        (labels(lambda owners: owners), ["upper", "lower", "thumb"], "'thumb' has no tet"),
        (labels(set_one), ["upper", "lower", "thumb"], "'thumb' has one tet only"),
        (labels(set_one), None, "'domain 2' has one tet only"),
    ],
)
def test_labels_that_make_no_domains_are_named(beam: Body, owners, names, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        Domains.of(beam, owners(beam), names)


def test_other_bad_input_is_named(beam: Body, halves: Domains, shapes: np.ndarray) -> None:
    with pytest.raises(SceneError, match="-1 N/m"):
        Interface.of(halves, -1.0)
    with pytest.raises(TrainingError, match="1 bases do not serve 2 domains"):
        DomainBases(halves, (principal_basis(shapes, beam.mass),))
    with pytest.raises(TrainingError, match="make one from this mesh"):
        DomainBases(halves, 2 * (principal_basis(shapes, beam.mass),))
    with pytest.raises(TrainingError, match="give displacements of this mesh"):
        DomainBases.principal(halves, shapes[:, :-1])
    with pytest.raises(TrainingError, match="rank 0"):
        DomainBases.principal(halves, shapes, rank=0)
    with pytest.raises(MeshError, match="give weights of this mesh"):
        bone_owners(Influences.from_dense(np.ones((5, 1))), beam.mesh.tets)
