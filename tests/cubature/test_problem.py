"""Training problems: columns add up to the forces of the full body, in the energy norm, for any basis."""

import numpy as np
import pytest

from supple.cubature import (
    DenseProblem,
    ElementMap,
    ElementProblem,
    Poses,
    Problem,
    Snapshots,
    StackedProblem,
    StiffnessProblem,
    draw_coordinates,
    mix_coordinates,
    rest_stiffness,
)
from supple.elastic import Body, Pins
from supple.errors import TrainingError
from supple.material import MATERIALS, ArrudaBoyce, Material, StableNeoHookean, StVK
from supple.mesh import TetMesh, fill_box
from supple.subspace import Basis, diagonalise, linear_modes


def reduced_forces(body: Body, basis: Basis, fields: np.ndarray) -> np.ndarray:
    """UᵀF of every displacement by the full body, (T, r)."""
    shapes = body.mesh.vertices[:, :, None] + fields.reshape(-1, 3, fields.shape[1])
    return np.stack([-basis.columns.T @ body.forces(x).ravel() for x in shapes.transpose(2, 0, 1)])


def make_material(name: str) -> Material:
    return ArrudaBoyce() if name == "arruda_boyce" else MATERIALS[name](young=1e5, poisson=0.35)  # type: ignore[call-arg]


def two_materials(name: str = "stable_neo_hookean") -> Body:
    """A bar held at one end, of the named material there and of StVK at the other end."""
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 8)
    centre = mesh.vertices[mesh.tets].mean(axis=1)
    mesh = TetMesh.clean(mesh.vertices, mesh.tets, (centre[:, 0] > 0.5).astype(np.int32))
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    return Body.build(mesh, {0: make_material(name), 1: StVK(young=4e5, poisson=0.3)}, pins)


@pytest.mark.parametrize("name", MATERIALS)
def test_all_elements_with_weight_one_give_the_full_reduced_force(name: str) -> None:
    body = two_materials(name)
    basis = diagonalise(linear_modes(body, 6), body)
    field = basis.columns @ draw_coordinates(basis, 0.2, 1, np.random.default_rng(0))
    elements = ElementMap(body)
    G = elements.gradients(basis.columns, slice(None))
    F = elements.gradients(field, slice(None)).reshape(-1, 3, 3) + np.eye(3)
    total = np.zeros(6)
    for number, part in enumerate(body.parts):
        own = elements.part == number
        P = part.material.stress(F[own]).reshape(-1, 9) * elements.volume[own, None]
        total += np.einsum("eai,ea->i", G[own], P)
    exact = reduced_forces(body, basis, field)[0]
    assert np.allclose(total, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


def test_target_is_the_full_force_in_the_energy_norm_with_unit_samples(beam) -> None:
    exact = reduced_forces(beam.body, beam.basis, beam.snapshots.fields) / np.sqrt(beam.basis.importance)
    exact /= np.linalg.norm(exact, axis=1)[:, None]
    target = beam.problem.target()
    assert np.allclose(target, exact.ravel(), atol=2e-6)  # stresses are stored in single precision
    assert target @ target == pytest.approx(beam.problem.samples)


def test_poses_evaluated_when_asked_for_are_the_recorded_ones() -> None:
    body = two_materials()
    basis = diagonalise(linear_modes(body, 6), body)
    q = draw_coordinates(basis, 0.2, 30, np.random.default_rng(0))
    q[:, 4] = 0.0  # a still sample between the others
    lazy = ElementProblem(body, basis, Poses(body, basis, q))
    stored = ElementProblem(body, basis, Snapshots.record(body, basis.columns @ q))
    assert lazy.samples == stored.samples == 29
    assert np.allclose(lazy.target(), stored.target(), atol=1e-6)
    who, samples = np.array([3, 90, 7]), np.array([1, 20])
    columns = stored.columns(who)
    assert np.allclose(lazy.columns(who), columns, atol=1e-5 * np.abs(columns).max())
    assert np.allclose(lazy.norms(who, samples), np.linalg.norm(stored.columns(who, samples), axis=1), rtol=1e-4)


def test_stiffness_of_all_elements_is_the_diagonal_of_eigenvalues(beam) -> None:
    everyone = np.arange(beam.problem.candidates)
    K = rest_stiffness(beam.body, beam.basis, everyone, np.ones(len(everyone)))
    assert np.allclose(K, np.diag(beam.basis.importance), atol=1e-9 * beam.basis.importance.max())


def make_dense(seed: int = 0, candidates: int = 120) -> DenseProblem:
    rng = np.random.default_rng(seed)
    return DenseProblem(
        np.abs(rng.standard_normal((candidates, 1, 1))) * rng.standard_normal((candidates, 30, 4)) + 0.5
    )


@pytest.mark.parametrize("kind", ["elements", "stiffness", "stacked", "dense"])
def test_columns_norms_gradient_and_target_agree(beam, kind: str) -> None:
    stiffness = StiffnessProblem(beam.body, beam.basis)
    problem: Problem = {
        "elements": beam.problem,
        "stiffness": stiffness,
        "stacked": StackedProblem([beam.problem, stiffness], [1.0, 2.0]),
        "dense": make_dense(),
    }[kind]
    everyone = np.arange(problem.candidates)
    A, b = problem.columns(everyone), problem.target()
    assert A.shape == (problem.candidates, len(b))
    assert np.allclose(A.sum(axis=0), b, atol=1e-5)
    assert np.allclose(np.linalg.norm(A, axis=1), problem.norms(), rtol=1e-5, atol=1e-9)
    residual = np.random.default_rng(1).standard_normal(len(b))
    slope = A @ residual
    assert np.allclose(problem.gradient(residual), slope, atol=1e-5 * np.abs(slope).max())
    assert problem.columns(everyone[:0]).shape == (0, len(b))


@pytest.mark.parametrize("kind", ["elements", "stacked", "dense"])
def test_chosen_samples_are_the_rows_of_the_whole(beam, kind: str) -> None:
    problem: Problem = {
        "elements": beam.problem,
        "stacked": StackedProblem([beam.problem, beam.problem]),
        "dense": make_dense(),
    }[kind]
    who, samples = np.array([3, 50, 7]), np.array([0, 4, 20])
    width = len(problem.target()) // problem.samples
    rows = (samples[:, None] * width + np.arange(width)).ravel()
    assert np.allclose(problem.columns(who, samples), problem.columns(who)[:, rows])
    assert np.allclose(problem.norms(who, samples), np.linalg.norm(problem.columns(who, samples), axis=1), rtol=1e-5)
    assert np.allclose(problem.target(samples), problem.target()[rows])


def test_stored_forces_serve_another_basis_without_new_materials(beam, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = diagonalise(beam.basis.truncated(6), beam.body)
    fields = inner.columns @ draw_coordinates(inner, 0.2, 20, np.random.default_rng(2))  # in the span of both
    stored = Snapshots.record(beam.body, fields)
    fresh = ElementProblem(beam.body, beam.basis, Snapshots.record(beam.body, fields))
    monkeypatch.setattr(StableNeoHookean, "stress", None)
    again = ElementProblem(beam.body, beam.basis, stored)
    assert np.array_equal(again.target(), fresh.target())
    assert ElementProblem(beam.body, inner, stored).target().shape == (20 * 6,)


def test_samples_spread_over_amplitudes_up_to_the_reach(beam) -> None:
    q = draw_coordinates(beam.basis, 0.4, 400, np.random.default_rng(0))
    fields = beam.basis.columns @ q
    largest = np.linalg.norm(fields.reshape(-1, 3, 400), axis=1).max(axis=0)
    assert 0.2 < largest.max() < 0.8
    assert np.median(largest) < 0.1 < largest.max()
    assert np.array_equal(q, draw_coordinates(beam.basis, 0.4, 400, np.random.default_rng(0)))


def test_recorded_displacements_enter_as_the_subspace_sees_them(beam) -> None:
    rng = np.random.default_rng(0)
    recorded = 0.01 * rng.standard_normal((30, len(beam.body.mass), 3))
    seen = beam.basis.project_all(recorded)
    assert np.allclose(seen[:, 3], beam.basis.project(recorded[3]))
    mixed = mix_coordinates(beam.basis, 0.3, 40, rng, seen)
    assert mixed.shape == (beam.basis.rank, 40)
    nearest = np.abs(mixed[:, -20:, None] - seen[:, None]).max(axis=0).min(axis=1)
    assert nearest.max() < 1e-12


def test_still_samples_are_skipped(beam) -> None:
    fields = np.concatenate([beam.snapshots.fields[:, :5], np.zeros((3 * len(beam.body.mass), 3))], axis=1)
    problem = ElementProblem(beam.body, beam.basis, Snapshots.record(beam.body, fields))
    assert problem.samples == 5
    assert np.allclose(problem.target(), beam.problem.target(np.arange(5)))


def test_nothing_but_still_samples_is_refused(beam) -> None:
    still = Snapshots.record(beam.body, np.zeros((3 * len(beam.body.mass), 4)))
    with pytest.raises(TrainingError, match="none of the 4 training samples"):
        ElementProblem(beam.body, beam.basis, still)


def test_problems_of_different_candidates_do_not_stack() -> None:
    with pytest.raises(TrainingError, match="different candidates"):
        StackedProblem([make_dense(0, 20), make_dense(0, 21)])


def test_parts_without_a_chosen_sample_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make_dense(0, 20), make_dense(1, 20)
    wanted = one.norms(None, np.arange(one.samples))

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(other, "norms", refuse)
    np.testing.assert_allclose(StackedProblem([one, other]).norms(None, np.arange(one.samples)), wanted)
