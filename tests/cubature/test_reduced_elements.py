"""Reduced elements: energy, force and stiffness agree with each other and with the body they stand for."""

import numpy as np
import pytest

from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import EXACT, PROJECTED, VISCOUS, Body, Pins, StiffnessMap
from supple.material import MATERIALS, Material, StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.subspace import Basis, diagonalise, linear_modes

RANK = 9
MIXED = {
    "two kinds": ("stable_neo_hookean", "stvk"),
    "three kinds": ("corotational", "linear", "neo_hookean"),
    "four parts of two kinds": ("stvk", "arruda_boyce", "stvk", "arruda_boyce"),
}
BODIES = [*((name,) for name in sorted(MATERIALS)), *MIXED.values()]


def make(name: str, number: int) -> Material:
    return MATERIALS[name](density=1000.0 + 10.0 * number)  # parts of one kind differ


def make_body(kinds: tuple[str, ...]) -> Body:
    """A beam of 160 tets in slices of the given materials, held at one end."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), 8)
    along = mesh.vertices[mesh.tets].mean(axis=1)[:, 0]
    mesh = TetMesh.clean(mesh.vertices, mesh.tets, np.minimum(along * len(kinds), len(kinds) - 1).astype(np.int32))
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    return Body.build(mesh, {k: make(name, k) for k, name in enumerate(kinds)}, pins)


class Case:
    """A body, its modes, some of its elements and coordinates that bend it well."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.body = make_body(kinds)
        self.basis: Basis = diagonalise(linear_modes(self.body, RANK), self.body)
        rng = np.random.default_rng(4)
        members = np.sort(rng.choice(160, 50, replace=False))
        self.some = ReducedElements.build(self.body, self.basis.columns, members, rng.uniform(0.5, 5.0, 50))
        self.all = ReducedElements.build(self.body, self.basis.columns, np.arange(160), np.ones(160))
        q = rng.normal(size=RANK) / np.sqrt(self.basis.importance)
        self.q = q * 0.15 / np.abs(self.basis.lift(q)).max()
        self.x = self.body.mesh.vertices + self.basis.lift(self.q)

    def full_stiffness(self, form: int) -> np.ndarray:
        """UᵀKU of the body."""
        body, U = self.body, self.basis.columns
        whole = StiffnessMap.build(len(body.mass), body.parts, Pins.none())
        data = whole.assemble(body.parts, self.x, np.empty(whole.pattern.nonzeros), form=form)
        return U.T @ (whole.pattern.to_scipy(data) @ U)


@pytest.fixture(scope="module", params=BODIES, ids=" + ".join)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_force_is_the_derivative_of_the_energy_to_second_order(case: Case) -> None:
    force = case.some.force(case.q)
    size = np.linalg.norm(case.q)
    for direction in (force, np.random.default_rng(0).normal(size=RANK)):
        d = size * direction / np.linalg.norm(direction)
        errors = []
        for step in (0.08, 0.04, 0.02):
            slope = (case.some.energy(case.q + step * d) - case.some.energy(case.q - step * d)) / (2.0 * step)
            errors.append(abs(slope - force @ d) / (np.linalg.norm(force) * size))
        if errors[0] < 1e-10:
            continue  # a quadratic energy: differences are exact
        orders = np.log2(np.divide(errors[:-1], errors[1:]))
        assert np.abs(orders - 2.0).max() < 0.15, f"orders {orders}, errors {errors}"
        assert errors[-1] < 1e-2


def test_stiffness_is_the_derivative_of_the_force(case: Case) -> None:
    K = case.some.stiffness(case.q)
    d = case.q * np.random.default_rng(1).uniform(0.5, 1.5, RANK)
    differences = []
    for step in (1e-2, 5e-3):
        differences.append((case.some.force(case.q + step * d) - case.some.force(case.q - step * d)) / (2.0 * step))
    limit = (4.0 * differences[1] - differences[0]) / 3.0  # Richardson: what is left is round-off and fourth order
    assert np.linalg.norm(K @ d - limit) < 2e-5 * np.linalg.norm(K, 2) * np.linalg.norm(d)


def test_all_elements_with_weight_one_are_the_body_to_round_off(case: Case) -> None:
    body, U = case.body, case.basis.columns
    exact = -U.T @ body.forces(case.x).ravel()
    parts = np.abs(U).T @ np.abs(body.forces(case.x)).ravel()
    assert np.abs(case.all.force(case.q) - exact).max() < 1e-13 * parts.max()
    assert case.all.energy(case.q) == pytest.approx(body.energy(case.x), rel=1e-12)


@pytest.mark.parametrize("form", [EXACT, PROJECTED, VISCOUS], ids=["exact", "projected", "viscous"])
def test_stiffness_of_all_elements_is_the_body_in_single_precision(case: Case, form: int) -> None:
    exact = case.full_stiffness(form)
    found = case.all.stiffness(case.q, form=form)
    assert np.array_equal(found, found.T)
    assert np.linalg.norm(found - exact, 2) < 2e-6 * np.linalg.norm(exact, 2)


def test_projected_stiffness_is_positive_semidefinite_where_the_exact_one_is_not(case: Case) -> None:
    x, lowest = case.body.mesh.vertices, []
    for pressed in (0.2, 0.4, 0.8):
        q = -case.basis.project(x * [pressed, 0.0, 0.0])
        exact, projected, viscous = (
            np.linalg.eigvalsh(case.some.stiffness(q, form=form)) for form in (EXACT, PROJECTED, VISCOUS)
        )
        lowest.append(exact[0] / exact[-1])
        assert projected[0] > -2e-6 * projected[-1]
        assert viscous[0] > -2e-6 * viscous[-1]
    if any(response.name != "linear" for response in case.some.responses):
        assert min(lowest) < -1e-4, "nothing to project"


def test_stiffness_factor_multiplies_energy_force_and_stiffness(case: Case) -> None:
    stiffer = case.some.with_stiffness(3.5)
    assert stiffer.energy(case.q) == pytest.approx(3.5 * case.some.energy(case.q), rel=1e-13)
    assert np.allclose(stiffer.force(case.q), 3.5 * case.some.force(case.q), rtol=1e-12)
    K = case.some.stiffness(case.q)
    assert np.linalg.norm(stiffer.stiffness(case.q) - 3.5 * K, 2) < 1e-5 * np.linalg.norm(K, 2)


def test_body_at_rest_has_neither_energy_nor_force_and_its_frequencies(case: Case) -> None:
    zero = np.zeros(RANK)
    scale = case.basis.importance.max() * np.linalg.norm(case.q)
    assert abs(case.all.energy(zero)) < 1e-12 * scale * np.linalg.norm(case.q)
    assert np.abs(case.all.force(zero)).max() < 1e-12 * scale
    assert np.allclose(np.diag(case.all.stiffness(zero)), case.basis.importance, rtol=1e-4)


def test_order_of_members_does_not_matter_but_for_round_off() -> None:
    case = Case(MIXED["three kinds"])
    rng = np.random.default_rng(7)
    members, weights = rng.choice(160, 40, replace=False), rng.uniform(0.5, 5.0, 40)
    order = rng.permutation(40)
    U = case.basis.columns
    one, other = (ReducedElements.build(case.body, U, members[o], weights[o]) for o in (np.arange(40), order))
    assert np.allclose(one.force(case.q), other.force(case.q), rtol=1e-10)
    assert other.count == 40
    assert other.rank == RANK


def test_rule_that_leaves_a_material_out_does_without_it() -> None:
    case = Case(MIXED["three kinds"])
    first = case.body.parts[0].ids
    chosen = ReducedElements.build(case.body, case.basis.columns, first, np.ones(len(first)))
    assert [response.name for response in chosen.responses] == [case.body.parts[0].material.response.name]
    whole = Body.build(case.body.mesh, case.body.parts[0].material)
    alone = ReducedElements.build(whole, case.basis.columns, first, np.ones(len(first)))
    assert np.array_equal(chosen.force(case.q), alone.force(case.q))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 17])
def test_any_number_of_elements_fills_the_lanes(count: int) -> None:
    case = Case(("stable_neo_hookean",))
    members = np.arange(count) * 9
    one_by_one = [
        ReducedElements.build(case.body, case.basis.columns, members[k : k + 1], np.array([2.0])) for k in range(count)
    ]
    together = ReducedElements.build(case.body, case.basis.columns, members, np.full(count, 2.0))
    force = sum(one.force(case.q) for one in one_by_one)
    assert np.allclose(together.force(case.q), force, rtol=0, atol=1e-13 * np.abs(force).max())
    K = sum(one.stiffness(case.q) for one in one_by_one)
    assert np.linalg.norm(together.stiffness(case.q) - K, 2) < 1e-6 * np.linalg.norm(K, 2)


def test_inverted_elements_push_back_towards_their_shape() -> None:
    case = Case(("stable_neo_hookean",))
    assert isinstance(case.body.parts[0].material, StableNeoHookean)
    q = case.basis.project(case.body.mesh.vertices * [-1.4, 0.0, 0.0])
    x = case.body.mesh.vertices + case.basis.lift(q)
    assert case.body.jacobians(x).min() < 0.0
    assert np.isfinite(case.all.stiffness(q)).all()
    assert case.all.force(q) @ q > 0.0
