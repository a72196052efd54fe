import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.transform import Rotation

from supple.constraint import Bending, CorotationalTets, TriangleStrain, tet_stencils, triangle_stencils
from supple.constraint.constraint import Constraint
from supple.errors import SceneError
from supple.mesh import TriMesh, fill_box
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.subspace.position_space import PositionSpace
from supple.subspace.projection_fit import ProjectionFit, fit_projections, sample_elements
from supple.subspace.projection_space import complete_space, projection_space, recorded_space
from supple.subspace.reduced_stencils import reduced_stiffness
from supple.subspace.skinning_space import handle_weights, skinning_space

SOLID = fill_box((0, 0, 0), (4, 1, 1), resolution=12)
SHELL = TriMesh(SOLID.vertices, SOLID.surface_triangles())
TURN = Rotation.from_rotvec([0.3, -0.8, 1.1]).as_matrix()


def tets() -> Constraint:
    return CorotationalTets.build(tet_stencils(SOLID), 1e4, 2e4)


def triangles() -> Constraint:
    return TriangleStrain.build(triangle_stencils(SHELL), 1e4, 0.3, 0.01)


def bending() -> Constraint:
    return Bending.build(SHELL, 3.0)


KINDS = pytest.mark.parametrize("make", [tets, triangles, bending])


def positions(count: int = 9) -> PositionSpace:
    graph = Geodesics.along(SOLID.vertices, SOLID.tets)
    return skinning_space(graph, np.ones(len(SOLID.vertices)), spread_points(graph, count), count, multiplier=1.5)


def fitted(constraint: Constraint, functions: int = 8, samples: int = 150, rank: int | None = None) -> ProjectionFit:
    graph = Geodesics.along(SOLID.vertices, SOLID.tets)
    spread = spread_points(graph, samples, among=np.unique(constraint.stencils.vertices))
    weights = handle_weights(graph, spread, functions, 1.5).weights
    space = projection_space(constraint, SOLID.vertices, weights, rank)
    return fit_projections(constraint, space, positions(), sample_elements(spread.vertices, constraint, samples))


def coefficients(fit: ProjectionFit, x: np.ndarray) -> np.ndarray:
    """Of the projections at positions x, (M, 3)."""
    P = fit.constraint.project_at(x, fit.members).transpose(1, 0, 2)
    if fit.space.is_scalar:
        return np.concatenate([fit.fit @ row for row in P])
    return fit.fit @ P.reshape(-1, 3)


@KINDS
def test_rest_and_rigid_motion_are_fitted_exactly(make) -> None:
    constraint = make()
    fit = fitted(constraint)
    for x in (SOLID.vertices, SOLID.vertices @ TURN + [1.0, 2.0, 3.0]):
        pull = constraint.stencils.gather(constraint.weight, constraint.project_at(x), len(x))
        exact = positions().pull(pull)
        np.testing.assert_allclose(fit.pull @ coefficients(fit, x), exact, rtol=0, atol=1e-11 * np.abs(exact).max())


@KINDS
def test_precomputed_maps_are_the_products_they_stand_for(make) -> None:
    constraint = make()
    fit, U = fitted(constraint), positions().matrix()
    S, rows = constraint.stencils.matrix(len(SOLID.vertices)), constraint.stencils.rows
    V = fit.space.rows(np.arange(len(constraint.stencils)))
    if fit.space.is_scalar:
        V = np.concatenate([np.kron(V, np.eye(rows)[:, [row]]) for row in range(rows)], axis=1)
    weight = np.repeat(constraint.weight, rows)[:, None]
    exact = (S @ U).T @ (weight * V)
    np.testing.assert_allclose(fit.pull, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    seen = fit.seen.matrix(U.shape[1]).toarray().reshape(len(fit.members), -1, U.shape[1])[:, :rows]
    every = (S @ U).toarray().reshape(-1, rows, U.shape[1])
    np.testing.assert_allclose(seen, every[fit.members], rtol=0, atol=1e-10)
    stiffness = reduced_stiffness(constraint.stencils, constraint.weight, positions()).toarray()
    exact = ((S @ U).T @ (S @ U * weight)).toarray()
    np.testing.assert_allclose(stiffness, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


def test_tets_share_scalar_functions_and_others_transform_their_rest() -> None:
    assert fitted(tets()).space.is_scalar
    assert fitted(tets()).space.rank == 6  # two thirds of 8, which is half of Eq. (16)'s columns
    assert not fitted(triangles()).space.is_scalar
    assert fitted(triangles()).space.rank == 16


def test_columns_are_orthonormal_and_sorted_by_what_they_hold() -> None:
    constraint = tets()
    space = fitted(constraint, rank=8).space
    W, measure = space.rows(np.arange(len(constraint.stencils))), constraint.stencils.measure
    np.testing.assert_allclose(W.T @ (measure[:, None] * W), np.eye(space.rank), rtol=0, atol=1e-9)
    np.testing.assert_allclose(W[:, 0], W[0, 0], rtol=1e-12)
    raw = space.functions.toarray() - (measure @ space.functions.toarray()) / measure.sum()
    shares = [np.linalg.norm((measure * W[:, k]) @ raw) for k in range(1, space.rank)]
    assert (np.diff(shares) <= 1e-12).all()


def test_smooth_fields_of_rotations_are_fitted_well() -> None:
    constraint = tets()
    x = SOLID.vertices.copy()
    angle = 0.4 * x[:, 0]
    x[:, 1], x[:, 2] = (
        np.cos(angle) * x[:, 1] - np.sin(angle) * x[:, 2],
        np.sin(angle) * x[:, 1] + np.cos(angle) * x[:, 2],
    )
    exact = positions().pull(constraint.stencils.gather(constraint.weight, constraint.project_at(x), len(x)))
    errors = []
    for functions in (2, 6, 20):
        fit = fitted(constraint, functions, 400, functions)
        errors.append(np.linalg.norm(fit.pull @ coefficients(fit, x) - exact) / np.linalg.norm(exact))
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2]
    assert errors[2] < 0.02


def test_all_projections_need_no_fit() -> None:
    constraint = tets()
    fit = fit_projections(constraint, complete_space(constraint), positions(), np.arange(len(constraint.stencils)))
    x = SOLID.vertices + 0.1 * np.random.default_rng(0).normal(size=SOLID.vertices.shape)
    exact = positions().pull(constraint.stencils.gather(constraint.weight, constraint.project_at(x), len(x)))
    assert fit.is_complete
    np.testing.assert_allclose(fit.pull @ coefficients(fit, x), exact, rtol=0, atol=1e-11 * np.abs(exact).max())


def test_recorded_projections_are_reproduced() -> None:
    constraint = tets()
    recorded = SOLID.vertices + 0.05 * np.random.default_rng(1).normal(size=(2, *SOLID.vertices.shape))
    space = recorded_space(constraint, recorded, 50)
    fit = fit_projections(constraint, space, positions(), np.arange(0, len(constraint.stencils), 2))
    assert space.rank == 19
    pull = constraint.stencils.gather(constraint.weight, constraint.project_at(recorded[1]), len(SOLID.vertices))
    exact = positions().pull(pull)
    np.testing.assert_allclose(
        fit.pull @ coefficients(fit, recorded[1]), exact, rtol=0, atol=1e-7 * np.abs(exact).max()
    )


def test_few_samples_cut_the_space_and_too_few_are_refused() -> None:
    constraint = tets()
    assert fitted(constraint, 40, 400).space.rank == 27
    assert fitted(constraint, 40, 100).space.rank == 10
    assert np.linalg.cond(fitted(constraint, 40, 100).fit) < 100
    with pytest.raises(SceneError, match="ask for at least 21"):
        fitted(constraint, 8, 15)


def test_one_element_is_taken_at_each_sampled_vertex() -> None:
    constraint = triangles()
    vertices = np.array([5, 0, 33])
    members = sample_elements(vertices, constraint, 3)
    assert len(members) == 3
    assert len(sample_elements(vertices, constraint, 7)) == 7
    assert all(any(vertex in constraint.stencils.vertices[e] for e in members) for vertex in vertices)


def test_weights_of_elements_add_up_to_one() -> None:
    for constraint in (tets(), triangles(), bending()):
        functions = fitted(constraint).space.functions
        assert isinstance(functions, sp.csr_array)
        np.testing.assert_allclose(functions.sum(axis=1), 1.0, rtol=0, atol=1e-13)
