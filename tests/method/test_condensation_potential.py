"""The coupled potential of subspace condensation: its limits, and its derivatives by finite differences."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from condensation_helpers import make_step, pushes, sparse_model, tip
from reduced_helpers import beam, modal_model

from supple.contact.contacts import Contacts
from supple.contact.potential import ContactPotential
from supple.elastic import EXACT, PROJECTED, VISCOUS, Damping, StiffnessMap
from supple.elastic.pins import Pins
from supple.linalg import bordered_solver
from supple.linalg.bordered_coarse import coarsen, tie_springs
from supple.linalg.bordered_solver import BorderedSolver, to_sparse
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.inverses import factorise
from supple.linalg.rigid_clusters import RigidClusters
from supple.material import MATERIALS
from supple.method.condensation.region import Ground, Region


@pytest.fixture(scope="module")
def held():
    body = beam()
    return body, Ground(body, sparse_model(body).basis)


def spread(region: Region) -> np.ndarray:
    """[I, U]: from z to displacements of all vertices, (3 n, 3 f + r)."""
    ground, size = region.ground, region.size
    T = np.zeros((3 * len(ground.mass), size + ground.rank))
    T[:, size:] = ground.subspace.stance(None).rows().reshape(-1, ground.rank)
    rows = (3 * region.full[:, None] + np.arange(3)).ravel()
    T[rows] = 0.0
    T[rows, np.arange(size)] = 1.0
    return T


def dense_stiffness(body, x: np.ndarray) -> np.ndarray:
    map = StiffnessMap.build(len(x), body.parts, Pins.none())
    data = map.assemble(body.parts, x, np.empty(map.pattern.nonzeros), form=EXACT)
    return map.pattern.to_scipy(data).toarray()


@pytest.mark.parametrize("weights", ["subtract", "paper"])
@pytest.mark.parametrize("count", [1, 9, 25])
def test_with_every_tet_the_operator_is_the_dense_one(weights, count: int) -> None:
    """Eq. (11) of [TMDK15]: [I, U]ᵀ K [I, U], symmetric, for regions of any size."""
    body = beam()
    model = modal_model(body, 6)
    region = Ground(body, model.basis).cut(tip(Ground(body, model.basis), count))
    step, z = make_step(region, model, h=None, weights=weights)
    matrix = step.stiffen(z).to_dense()
    x = body.mesh.vertices + (spread(region) @ z).reshape(-1, 3)
    x[region.full] = z[: region.size].reshape(-1, 3)
    expected = spread(region).T @ dense_stiffness(body, x) @ spread(region)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    # The rule's products are in single precision
    assert np.abs(matrix - expected).max() < 2e-6 * scale.max()
    assert np.abs((matrix - expected) / scale).max() < 1e-4
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
    np.testing.assert_allclose(
        step.gradient(z) + pushes(step), -spread(region).T @ body.forces(x).ravel(), atol=1e-10 * scale.max()
    )


def test_forces_across_the_border_balance(held) -> None:
    """What the region does to the vertices around it, they do to the region: no net force from within."""
    body, ground = held
    region = ground.cut(tip(ground, 9))
    step, z = make_step(region, sparse_model(body), h=None)
    from supple.elastic import elastic_gradient

    forces = elastic_gradient(step.parts, step.footing.place(z))
    assert np.abs(forces.sum(axis=0)).max() < 1e-12 * np.abs(forces).sum()


@pytest.mark.parametrize("weights", ["subtract", "paper"])
@pytest.mark.parametrize("h", [None, 0.01])
def test_derivatives(held, weights, h) -> None:
    """Central differences of second order, with a rule that integrates nothing well."""
    body, ground = held
    step, z = make_step(ground.cut(tip(ground, 9)), sparse_model(body), h=h, weights=weights, damping=2.0)
    check_derivatives(step, z)


def test_derivatives_where_all_tets_are_exact(held) -> None:
    body, ground = held
    step, z = make_step(ground.cut(tip(ground, 25), whole=True), sparse_model(body))
    check_derivatives(step, z)


def test_derivatives_with_damping_by_stiffness() -> None:
    body = beam(damping=Damping(stiffness=0.01))
    ground, model = Ground(body, sparse_model(body).basis), sparse_model(body)
    step, z = make_step(ground.cut(tip(ground, 9)), model)
    q, rng = z[step.region.size :], np.random.default_rng(4)
    begin = step.footing.place(z) + 0.01 * rng.standard_normal((len(step.region.vertices), 3))
    M = np.diag(rng.uniform(0.5, 1.0, len(q)))
    ahead = SimpleNamespace(begin=q + 0.01, resist=lambda elements: (M, M @ q))
    slowed = step.slow(begin, ahead, 0.01)
    check_derivatives(slowed, z)
    # Whatever the stance of the end, exact tets resist the way from where their vertices were
    map = step.region.map
    K = map.pattern.to_scipy(map.assemble(step.parts, begin, np.empty(map.pattern.nonzeros), form=VISCOUS)).toarray()
    K = np.triu(K) + np.triu(K, 1).T
    way = (K @ (step.footing.place(z) - begin).ravel()).reshape(-1, 3)
    expected = 0.01 * step.motion.cv * step.footing.gather(way)
    np.testing.assert_allclose(slowed.drag.resist(z), expected, atol=1e-5 * np.abs(expected).max())


def make_touching_step(body, ground):
    """A step with contacts of full vertices, of others, and of both, and z to look at."""
    full = tip(ground, 9)
    others = np.flatnonzero(ground.movable)[:3]
    region = ground.cut(full, others)
    place = {int(v): k for k, v in enumerate(region.vertices)}
    touching = np.array([full[0], full[3], others[0], others[1]])
    pairs = np.array([[place[int(v)]] * 4 for v in touching] + [[place[int(v)] for v in (full[1], *others)]])
    weights = np.vstack([np.tile([1.0, 0.0, 0.0, 0.0], (4, 1)), [[1.0, -0.2, -0.3, -0.5]]])
    rng = np.random.default_rng(5)
    normal = rng.standard_normal((5, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    step, z = make_step(region, sparse_model(body))
    y = step.footing.place(z)
    offset = np.einsum("mk,mki->mi", weights, y[pairs]) + 0.05 * normal  # all of them penetrate
    contacts = Contacts(
        pairs.astype(np.int32), weights, offset, normal, np.ones(5), np.zeros((5, 3)),
        np.zeros(5, np.int32), np.zeros(5, np.int32),
    )  # fmt: skip
    potential = ContactPotential(contacts, y, 1e4, 0.5, np.ones(5, bool))
    return step.with_joints([potential]), z


def test_derivatives_with_contacts_on_full_and_on_other_vertices(held) -> None:
    check_derivatives(*make_touching_step(*held))


@pytest.mark.parametrize("name", ["stvk", "corotational"])
def test_derivatives_of_other_materials(name: str) -> None:
    body = beam(material=MATERIALS[name](young=2e5))
    ground = Ground(body, sparse_model(body).basis)
    step, z = make_step(ground.cut(tip(ground, 9)), sparse_model(body))
    check_derivatives(step, z)


def check_derivatives(step, z: np.ndarray) -> None:
    """Energy against gradient and gradient against matrix, along z's two halves and all of it."""
    rng, size = np.random.default_rng(1), step.region.size
    matrix = step.stiffen(z)
    for kept in (slice(None), slice(0, size), slice(size, None)):
        d = np.zeros_like(z)
        d[kept] = rng.standard_normal(len(d[kept]))
        t = 1e-5 / np.linalg.norm(d)
        ahead, behind = z + t * d, z - t * d
        slope = (step.energy(ahead)[0] - step.energy(behind)[0]) / (2 * t)
        assert slope == pytest.approx(step.gradient(z) @ d, rel=1e-5)
        bend = (step.gradient(ahead) - step.gradient(behind)) / (2 * t)
        np.testing.assert_allclose(matrix.multiply(d), bend, atol=2e-5 * np.abs(bend).max())


def test_energy_and_force_are_continuous_where_a_region_grows(held) -> None:
    """The subtracting potential alone: a vertex that becomes full where the subspace has it changes nothing."""
    body, ground = held
    model = sparse_model(body)
    q = 0.05 * np.random.default_rng(2).standard_normal(ground.rank)
    found = {}
    for weights in ("subtract", "paper"):
        energies, pulls = [], []
        for count in (3, 15):
            region = ground.cut(tip(ground, count))
            step, z = make_step(region, model, h=None, weights=weights)
            footing, begin = step.footing, np.concatenate([step.motion.xa, step.share.begin])
            z = np.concatenate([footing.follow(q)[:count].ravel(), q])
            flat = np.concatenate([footing.U_full.ravel(), np.eye(ground.rank).ravel()]).reshape(-1, ground.rank)
            energies.append(step.energy(z)[0] + pushes(step) @ (z - begin))
            pulls.append(flat.T @ (step.gradient(z) + pushes(step)))
        found[weights] = abs(energies[1] / energies[0] - 1.0), np.abs(pulls[1] / pulls[0] - 1.0).max()
    assert max(found["subtract"]) < 1e-9
    assert min(found["paper"]) > 1e-3


def test_conjugate_gradients_solve_the_operator(held) -> None:
    body, ground = held
    step, z = make_step(ground.cut(tip(ground, 15)), sparse_model(body))
    matrix, b = step.stiffen(z), step.gradient(z)
    np.testing.assert_allclose(
        matrix.solve(b, 1e-10), np.linalg.solve(matrix.to_dense(), b), rtol=1e-6, atol=1e-9 * np.abs(b).max()
    )
    assert 0 < matrix.iterations < len(z)


def test_where_the_operator_is_not_definite_a_way_down_is_told(held) -> None:
    """A saddle: without being asked for bends, conjugate gradients refuse it."""
    body, ground = held
    step, z = make_step(ground.cut(tip(ground, 15)), sparse_model(body))
    matrix, b = step.stiffen(z), step.gradient(z)
    count = 3 * matrix.count
    softer = 1.5 * float(np.linalg.eigvalsh(matrix.to_dense()[:count, :count])[0])
    matrix = replace(
        matrix, extra=matrix.extra - softer, diagonal=matrix.diagonal - softer * np.eye(3).ravel(), memory={}
    )
    A = matrix.to_dense()
    assert np.linalg.eigvalsh(A)[0] < 0.0
    with pytest.raises(NotPositiveDefinite):
        matrix.solve(b, 1e-10)
    d = matrix.solve(b, 1e-10, bends=True)
    assert matrix.is_bent
    assert b @ d > 0.0
    assert 0.5 * d @ A @ d < b @ d  # lower than where it began


def test_the_second_level_is_the_matrix_among_rigid_motions(held) -> None:
    """ZᵀAZ with contacts and all; and it does in few iterations what diagonal blocks do in many."""
    step, z = make_touching_step(*held)
    matrix, rest = step.stiffen(z), held[1].rest[step.region.full]
    size, rank = step.region.size, len(matrix.B)
    for count in (0, 3):
        clusters = RigidClusters.build(rest, count)
        Z = np.zeros((size + rank, 6 * count + rank))
        Z[size:, 6 * count :] = np.eye(rank)
        for v, (owner, arm) in enumerate(zip(clusters.owner, clusters.arms, strict=True) if count else ()):
            Z[3 * v : 3 * v + 3, 6 * owner : 6 * owner + 3] = np.eye(3)
            Z[3 * v : 3 * v + 3, 6 * owner + 3 : 6 * owner + 6] = np.cross(np.eye(3), arm).T
        found = coarsen(matrix._operator, clusters.owner, clusters.arms, count)
        tie_springs(matrix._operator, clusters.owner, clusters.arms, count, found)
        expected = Z.T @ matrix.to_dense() @ Z
        np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
    model = modal_model(held[0], 6)
    ground = Ground(held[0], model.basis)
    still, z = make_step(ground.cut(tip(ground, 40)), model, h=None, weights="paper")
    counts = []
    for number in (0, 6):
        clusters = RigidClusters.build(ground.rest[still.region.full], number)
        matrix = replace(still.stiffen(z, PROJECTED, exact=False), clusters=clusters)
        b = still.gradient(z)
        np.testing.assert_allclose(matrix.multiply(matrix.solve(b, 1e-10)), b, atol=1e-7 * np.abs(b).max())
        counts.append(matrix.iterations)
    assert counts[1] < 0.6 * counts[0]


def test_the_second_level_is_factorised_by_the_sizes_of_its_eigenvalues() -> None:
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((7, 7)))[0]
    values = np.array([-3.0, -1e-3, 0.5, 1.0, 2.0, 4.0, 9.0])

    def make(sizes) -> np.ndarray:
        return (vectors * sizes) @ vectors.T

    for bends, given in ((False, np.abs(values)), (True, np.abs(values)), (True, values)):
        factor = np.tril(factorise(make(given), bends=bends))
        assert np.allclose(factor @ factor.T, make(np.abs(values)), atol=1e-12)
    with pytest.raises(NotPositiveDefinite):
        factorise(make(values), bends=False)
    assert factorise(np.zeros((0, 0)), bends=True).shape == (0, 0)


def test_elements_are_asked_again_once_they_have_strained(held) -> None:
    """A hundredth changes nothing, and a tenth what it does to any other matrix."""
    body, ground = held
    step, z = make_step(ground.cut(tip(ground, 9)), sparse_model(body))
    first = step.stiffen(z, lagged=True).to_dense()
    little, much = (z * (1.0 + share * (np.arange(len(z)) < step.region.size)) for share in (1e-3, 0.1))
    np.testing.assert_array_equal(step.stiffen(little, lagged=True).to_dense(), first)
    again = step.stiffen(much, lagged=True).to_dense()
    assert np.abs(again - first).max() > 1e-3 * np.abs(first).max()
    anew = step.stiffen(much).to_single().to_dense()  # as what lags is kept
    np.testing.assert_array_equal(again[: step.region.size], anew[: step.region.size])


def test_a_direct_solver_follows_where_conjugate_gradients_take_long(held, monkeypatch) -> None:
    step, z = make_touching_step(*held)
    matrix, b = step.stiffen(z), step.gradient(z)
    dense = matrix.to_dense()
    np.testing.assert_allclose(to_sparse(matrix).toarray(), dense, atol=1e-12 * np.abs(dense).max())
    expected = np.linalg.solve(dense, b)
    patient, hasty = BorderedSolver(), BorderedSolver()
    for solver, long in ((patient, 1e3), (hasty, 0.0)):
        monkeypatch.setattr(bordered_solver, "LONG", long)
        counts = []
        for _ in range(3):
            x = solver.solve(matrix, b, 1e-10)
            np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
            counts.append(matrix.iterations)
        # Then none for the factor's own matrix, and one where it stands for another
        assert counts[0] > 1
        assert counts[1:] == ([counts[0]] * 2 if solver is patient else [0, 1])
    further = step.stiffen(z + 1e-3 * np.random.default_rng(0).standard_normal(len(z)))
    x = hasty.solve(further, b, 1e-10)
    expected = np.linalg.solve(further.to_dense(), b)
    np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


def test_a_matrix_without_a_factor_is_left_to_conjugate_gradients(held, monkeypatch) -> None:
    monkeypatch.setattr(bordered_solver, "LONG", 0.0)
    body, ground = held
    step, z = make_step(ground.cut(tip(ground, 15)), sparse_model(body))
    matrix, solver = step.stiffen(z), BorderedSolver()
    solver.solve(matrix, step.gradient(z), 1e-2)
    matrix.extra = matrix.extra - 1e9
    with pytest.raises(NotPositiveDefinite):
        solver.solve(matrix, step.gradient(z), 1e-2)
