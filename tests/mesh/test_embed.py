import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import TetMesh, embed, fill_box, stuff

MATRIX = np.array([[1.2, 0.3, -0.5], [0.1, 0.7, 0.2], [-0.4, 0.6, 1.1]])
OFFSET = np.array([3.0, -2.0, 0.5])


@pytest.fixture(scope="module")
def ball() -> TetMesh:
    return stuff(lambda p: np.linalg.norm(p, axis=1) - 1.0, ([-1] * 3, [1] * 3), resolution=8)


def test_affine_maps_are_reproduced_inside_and_outside(ball: TetMesh) -> None:
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (2000, 3))
    embedding = embed(ball, points)
    moved = embedding.apply(ball.vertices @ MATRIX.T + OFFSET)
    np.testing.assert_allclose(moved, points @ MATRIX.T + OFFSET, atol=1e-12)
    np.testing.assert_allclose(embedding.weights.sum(axis=1), 1.0, atol=1e-13)
    assert 0.3 < embedding.outside().mean() < 0.95


def test_inside_points_get_the_tet_that_holds_them(ball: TetMesh) -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(4), len(ball.tets))
    points = np.einsum("mi,mij->mj", weights, ball.vertices[ball.tets])
    embedding = embed(ball, points)
    np.testing.assert_array_equal(embedding.tets, np.arange(len(ball.tets)))
    np.testing.assert_allclose(embedding.weights, weights, atol=1e-10)
    assert not embedding.outside().any()


def test_points_on_vertices_edges_and_faces_are_inside(ball: TetMesh) -> None:
    corners = ball.vertices[ball.tets]
    points = np.concatenate([ball.vertices, corners[:, :2].mean(axis=1), corners[:, 1:].mean(axis=1)])
    embedding = embed(ball, points)
    assert embedding.weights.min() > -1e-9
    np.testing.assert_allclose(embedding.apply(ball.vertices), points, atol=1e-12)


def test_outside_points_follow_the_nearest_tet() -> None:
    mesh = fill_box((0, 0, 0), (1, 1, 1), resolution=4)
    embedding = embed(mesh, [[0.1, 0.1, 1.3], [5.0, 0.6, 0.6]])
    centres = mesh.vertices[mesh.tets[embedding.tets]].mean(axis=1)
    assert np.abs(centres - [[0.1, 0.1, 0.9], [0.9, 0.6, 0.6]]).max() < 0.25
    assert embedding.outside().all()
    moved = mesh.vertices.copy()
    moved[mesh.vertices[:, 0] < 0.5] += 7  # far from the second point
    np.testing.assert_allclose(embedding.apply(moved)[1], [5.0, 0.6, 0.6], atol=1e-12)


def test_a_translation_moves_every_point_alike(ball: TetMesh) -> None:
    points = np.random.default_rng(2).normal(size=(50, 3))
    embedding = embed(ball, points)
    still, moved = embedding.apply(ball.vertices), embedding.apply(ball.vertices + 0.25)
    np.testing.assert_allclose(moved - still, 0.25, atol=1e-13)


def test_bad_points_are_refused(ball: TetMesh) -> None:
    with pytest.raises(MeshError, match="not finite"):
        embed(ball, [[0, 0, np.nan]])
    with pytest.raises(MeshError, match=r"shape \(n, 3\)"):
        embed(ball, [0.0, 0.0, 0.0])
