"""Modes under constraints and inside regions."""

import numpy as np
import pytest
import scipy.linalg

from supple.elastic import Body, Pins
from supple.errors import MeshError
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import Restriction, RestStiffness, linear_modes, modal_derivatives, region_weights
from supple.subspace.null_space import independent_rows, null_space


@pytest.fixture(scope="module")
def body() -> Body:
    mesh = fill_box((0, 0, 0), (1.0, 0.375, 0.25), 8)  # no two modes alike
    return Body.build(mesh, StableNeoHookean(young=1e5), Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)))


def contact_rows(body: Body, seed: int = 0) -> np.ndarray:
    """Sliding along a slanted plane at some vertices, one vertex tied to another, one row said twice."""
    rng = np.random.default_rng(seed)
    rows, count = [], len(body.mass)
    moving = np.setdiff1d(np.arange(count), body.pins.vertices)
    for vertex in rng.choice(moving, 5, replace=False):
        row = np.zeros((count, 3))
        row[vertex] = rng.normal(size=3)
        rows.append(row.ravel())
    tie = np.zeros((count, 3))
    tie[moving[-1]], tie[moving[-9]] = [0, 1, 0], [0, -1, 0]
    return np.array([*rows, tie.ravel(), rows[0] + rows[1]])


def test_null_space_satisfies_the_constraints_and_loses_nothing() -> None:
    rng = np.random.default_rng(1)
    C = rng.normal(size=(6, 40)) * (rng.random((6, 40)) < 0.3)
    C = np.vstack([C, C[0] - 2 * C[3]])
    rows = independent_rows(C)
    assert len(rows) == 6
    Z = null_space(C[rows])
    assert Z.shape == (40, 34)
    assert np.abs(C @ Z.toarray()).max() < 1e-12
    assert np.linalg.matrix_rank(Z.toarray()) == 34


def test_constrained_modes_solve_the_saddle_point_problem(body: Body) -> None:
    C = contact_rows(body)
    modes = Restriction(body, constraints=C).modes(6)
    assert np.abs(C @ modes.columns).max() < 1e-9 * np.abs(modes.columns).max()
    assert np.allclose(modes.columns.T @ (modes.metric[:, None] * modes.columns), np.eye(6), atol=1e-8)
    stiffness = RestStiffness(body)
    K, M = stiffness.matrix.toarray(), np.diag(stiffness.mass)
    rows = stiffness.gather(C.T).T
    rows = rows[independent_rows(rows)]
    zero = np.zeros((len(rows), len(rows)))
    saddle = np.block([[K, rows.T], [rows, zero]])
    inertia = scipy.linalg.block_diag(M, zero)
    values = scipy.linalg.eigvals(inertia, saddle)  # 1/λ, and zeros for the multipliers
    exact = np.sort(1.0 / np.sort(values.real)[::-1][:6])
    assert np.allclose(modes.importance, exact, rtol=1e-7)


def test_without_restrictions_modes_and_derivatives_are_the_plain_ones(body: Body) -> None:
    plain, same = linear_modes(body, 3), Restriction(body).modes(3)
    assert np.allclose(plain.importance, same.importance, rtol=1e-6)
    overlap = plain.columns.T @ (plain.metric[:, None] * same.columns)
    assert np.allclose(np.linalg.svd(overlap)[1], 1.0, atol=1e-6)
    expected, found = modal_derivatives(body, plain), Restriction(body).derivatives(3)
    first = np.abs(expected[:, 0])
    assert np.allclose(np.abs(found[:, 0]), first, atol=1e-4 * first.max())


def test_localised_modes_vanish_outside_their_region_and_stay_sparse(body: Body) -> None:
    x = body.mesh.vertices[:, 0]
    weights = region_weights(np.clip(1.5 - 3.0 * np.abs(x - 0.7), 0.0, 1.0))
    outside = weights == 0.0
    assert outside.any()
    basis = Restriction(body, weights=weights).basis(4, 8)
    fields = basis.columns.reshape(-1, 3, basis.rank)
    assert not fields[outside].any()
    assert basis.to_sparse().nnz <= 3 * np.count_nonzero(~outside) * basis.rank
    assert np.allclose(basis.columns.T @ (basis.metric[:, None] * basis.columns), np.eye(8), atol=1e-8)


def test_localised_modes_solve_the_symmetric_problem(body: Body) -> None:
    # Eq. (32): K y = λ W M W y on the region, φ = W y
    x = body.mesh.vertices[:, 0]
    weights = region_weights(np.clip(1.2 - x, 0.0, 1.0))
    modes = Restriction(body, weights=weights).modes(5)
    stiffness = RestStiffness(body)
    scale = stiffness.gather(np.repeat(weights, 3))
    keep = scale > 0.0
    K = stiffness.matrix.toarray()[np.ix_(keep, keep)]
    exact = scipy.linalg.eigh(K, np.diag(scale[keep] ** 2 * stiffness.mass[keep]), eigvals_only=True)[:5]
    assert np.allclose(modes.importance, exact, rtol=1e-6)


def test_constraints_hold_inside_a_region_too(body: Body) -> None:
    weights = region_weights(np.clip(1.3 - body.mesh.vertices[:, 0], 0.0, 1.0))
    C = contact_rows(body, seed=3)
    restriction = Restriction(body, weights=weights, constraints=C)
    basis = restriction.basis(3, 6)
    assert np.abs(C @ basis.columns).max() < 1e-8 * np.abs(basis.columns).max()


def test_derivatives_are_symmetric_in_their_modes(body: Body) -> None:
    # The load of ψ_ij must not depend on the order of i and j; with the printed Eq. (35) it would
    from supple.subspace import force_curvature

    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, *body.mesh.vertices.shape))
    x = body.mesh.vertices
    assert np.allclose(force_curvature(body, x, a, b), force_curvature(body, x, b, a), rtol=1e-9, atol=1e-6)


def test_regions_and_constraints_that_leave_nothing_are_refused(body: Body) -> None:
    with pytest.raises(MeshError, match="weight"):
        Restriction(body, weights=np.zeros(len(body.mass)))
    with pytest.raises(MeshError, match="no motion"):
        Restriction(body, constraints=np.eye(3 * len(body.mass)))
