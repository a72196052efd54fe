from pathlib import Path

import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import SurfaceDistance, TriMesh, assess_quality, fill_box, stuff, tetrahedralise


@pytest.fixture(scope="module")
def ball() -> TriMesh:
    return stuff(lambda p: np.linalg.norm(p, axis=1) - 1.0, ([-1] * 3, [1] * 3), resolution=12).surface()


def volume_of(surface: TriMesh, **size: int) -> float:
    mesh = tetrahedralise(surface, **size)
    assert mesh.surface().is_closed()
    assert mesh.surface().is_manifold()
    return float(mesh.volumes().sum())


def test_distance_of_a_closed_surface_has_the_right_size_and_sign(ball: TriMesh) -> None:
    points = np.random.default_rng(0).uniform(-1.4, 1.4, (500, 3))
    exact = np.linalg.norm(points, axis=1) - 1.0
    np.testing.assert_allclose(SurfaceDistance(ball)(points), exact, atol=0.02)
    assert SurfaceDistance(ball)(np.empty((0, 3))).shape == (0,)


def test_a_surface_with_holes_is_filled_as_if_it_had_none(ball: TriMesh) -> None:
    keep = np.random.default_rng(0).random(len(ball.triangles)) > 0.15
    holes = TriMesh.clean(ball.vertices, ball.triangles[keep])
    assert not holes.is_closed()
    assert volume_of(holes, resolution=12) == pytest.approx(volume_of(ball, resolution=12), rel=0.02)


def test_a_missing_side_of_a_box_is_closed_by_a_flat_lid() -> None:
    box = fill_box((0, 0, 0), (2, 1, 1), resolution=8).surface()
    open_top = TriMesh.clean(box.vertices, box.triangles[box.face_normals()[:, 1] < 0.5])
    assert volume_of(open_top, resolution=16) == pytest.approx(2.0, rel=0.03)


def test_a_non_manifold_edge_does_no_harm(ball: TriMesh) -> None:
    a, b = ball.triangles[0, :2]
    fin = np.concatenate([ball.triangles, [[a, b, len(ball.vertices)]]])
    vertices = np.concatenate([ball.vertices, [1.3 * (ball.vertices[a] + ball.vertices[b]) / 2]])
    surface = TriMesh.clean(vertices, fin)
    assert not surface.is_manifold()
    assert volume_of(surface, elements=5_000) == pytest.approx(ball.volume(), rel=0.02)


def test_overlapping_parts_are_joined(ball: TriMesh) -> None:
    count = len(ball.vertices)
    two = np.concatenate([ball.vertices, ball.vertices + np.array([0.8, 0, 0])])
    surface = TriMesh.clean(two, np.concatenate([ball.triangles, ball.triangles + count]))
    lens = np.pi * (4 + 0.8) * (2 - 0.8) ** 2 / 12
    assert volume_of(surface, resolution=20) == pytest.approx(8 / 3 * np.pi - lens, rel=0.03)


def test_triangles_facing_the_wrong_way_are_turned_with_a_note(ball: TriMesh) -> None:
    mesh = tetrahedralise(TriMesh.clean(ball.vertices, ball.triangles[:, ::-1]), resolution=8)
    expected = tetrahedralise(ball, resolution=8)
    assert mesh.notes == (f"turned round {len(ball.triangles):,} triangles that faced the wrong way",)
    np.testing.assert_allclose(mesh.vertices, expected.vertices, atol=1e-12)


@pytest.mark.parametrize(
    ("vertices", "message"),
    [
        (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), "flat"),
        (np.array([[0.0, 0, 0], [np.inf, 0, 0], [0, 1, 1]]), "not finite"),
        (np.zeros((3, 3)), "flat"),
        (np.array([[0.0, 0, 0], [1, 0.3, 0], [0, 1, 0.6]]), "nothing lies inside"),
    ],
)
def test_a_surface_that_encloses_nothing_is_refused(vertices: np.ndarray, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        tetrahedralise(TriMesh(vertices, np.array([[0, 1, 2]], dtype=np.int32)), resolution=6)


def test_an_empty_surface_is_refused() -> None:
    with pytest.raises(MeshError, match="no triangles"):
        SurfaceDistance(TriMesh(np.eye(3), np.empty((0, 3), dtype=np.int32)))


def test_a_real_character_is_filled(shared_data: Path) -> None:
    lines = (shared_data / "cheb" / "cheburashka.off").read_text().split("\n")
    vertex_count, face_count = (int(word) for word in lines[1].split()[:2])
    vertices = np.array([line.split() for line in lines[2 : 2 + vertex_count]], dtype=float)
    faces = np.array([line.split()[1:4] for line in lines[2 + vertex_count :][:face_count]], dtype=int)
    surface = TriMesh.clean(vertices, faces)
    mesh = tetrahedralise(surface, elements=17_000)
    assert len(mesh.tets) == pytest.approx(17_000, rel=0.1)
    assert mesh.volumes().sum() == pytest.approx(surface.volume(), rel=0.02)
    assert mesh.surface().is_manifold()
    assert np.unique(mesh.components()).size == 1
    quality = assess_quality(mesh)
    assert quality.min_dihedral >= 10.78
    assert quality.max_dihedral <= 164.75
