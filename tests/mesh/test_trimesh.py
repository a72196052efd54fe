import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import TriMesh, fill_box, orient

QUAD_CUBE = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
CUBE = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])


@pytest.fixture
def cube() -> TriMesh:
    return TriMesh.from_polygons(CUBE, [4] * 6, np.ravel(QUAD_CUBE))


def test_polygons_are_kept_and_cut_into_triangles(cube: TriMesh) -> None:
    assert cube.face_counts is not None
    assert cube.face_indices is not None
    assert cube.face_counts.tolist() == [4] * 6
    assert cube.face_indices.tolist() == np.ravel(QUAD_CUBE).tolist()
    assert len(cube.triangles) == 12
    assert cube.areas().sum() == pytest.approx(6.0)
    assert cube.volume() == pytest.approx(1.0)


def test_polygons_of_mixed_size_become_fans() -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [2, 1, 0], [1, 2, 0], [0, 1, 0], [5, 5, 5]])
    mesh = TriMesh.from_polygons(corners, [5, 3], [0, 1, 2, 3, 4, 0, 4, 3])
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 3]]
    assert mesh.notes == ("dropped 1 vertex that no face uses",)


def test_clean_drops_triangles_with_a_repeated_corner_and_their_texture() -> None:
    uv = np.arange(12.0).reshape(6, 2)
    mesh = TriMesh.clean(np.eye(3), [[0, 1, 1], [0, 1, 2]], uv)
    assert mesh.notes == ("dropped 1 triangle with a repeated corner",)
    assert mesh.uv is not None
    np.testing.assert_array_equal(mesh.uv, uv[3:])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TriMesh.clean(CUBE, [[0, 1, 8]]), "triangle 0 uses vertices"),
        (lambda: TriMesh.clean(CUBE * np.nan, [[0, 1, 2]]), "vertex 0 .* not finite"),
        (lambda: TriMesh.clean(CUBE, np.empty((0, 3), dtype=int)), "no triangles"),
        (lambda: TriMesh.clean(CUBE, [[1, 1, 1]]), "no triangles"),
        (lambda: TriMesh.clean(CUBE, [[0, 1, 2]], uv=np.zeros((2, 2))), "one pair for every corner"),
        (lambda: TriMesh.from_polygons(CUBE, [4], [0, 1, 2]), "do not fit"),
        (lambda: TriMesh.from_polygons(CUBE, [2, 3], [0, 1, 2, 3, 4]), "3 corners or more"),
        (lambda: TriMesh.from_polygons(CUBE, [3], [0, 1, 99]), "polygon corner 2"),
    ],
)
def test_a_bad_surface_is_refused_by_name(call: object, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        call()  # type: ignore[operator]


def test_normals_point_outward(cube: TriMesh) -> None:
    outward = cube.vertices - 0.5
    assert (np.einsum("ij,ij->i", cube.vertex_normals(), outward) > 0.5).all()
    np.testing.assert_allclose(np.abs(cube.face_normals()).max(axis=1), 1.0)


def test_edges_of_a_closed_surface_obey_euler() -> None:
    surface = fill_box((0, 0, 0), (3, 2, 1), resolution=6).surface()
    assert len(surface.vertices) - len(surface.edges()) + len(surface.triangles) == 2


def test_a_missing_triangle_opens_the_surface(cube: TriMesh) -> None:
    assert cube.is_closed()
    assert not TriMesh.clean(cube.vertices, cube.triangles[1:]).is_closed()


def test_pinched_vertices_and_edges_are_not_manifold(cube: TriMesh) -> None:
    assert cube.is_manifold()
    shared = 7  # two cubes that touch in the corner (1, 1, 1)
    second = np.where(cube.triangles == 0, shared, cube.triangles + 8)
    corner = TriMesh.clean(np.concatenate([cube.vertices, cube.vertices + 1]), np.concatenate([cube.triangles, second]))
    assert corner.is_closed()
    assert not corner.is_manifold()
    assert corner.pinched_vertices().tolist() == [7]
    fin = np.concatenate([cube.triangles, [[0, 1, 8]]])
    assert not TriMesh.clean(np.concatenate([cube.vertices, [[-1.0, -1, 0]]]), fin).is_manifold()


def test_moved_keeps_the_faces(cube: TriMesh) -> None:
    moved = cube.moved(cube.vertices * 2)
    assert moved.volume() == pytest.approx(8.0)
    assert moved.face_counts is cube.face_counts
    with pytest.raises(MeshError, match="one for every vertex"):
        cube.moved(cube.vertices[1:])


def test_orient_turns_the_minority_and_the_whole_outward(cube: TriMesh) -> None:
    mixed = cube.triangles.copy()
    mixed[[2, 5]] = mixed[[2, 5]][:, ::-1]
    turned = orient(TriMesh.clean(cube.vertices, mixed))
    assert turned.volume() == pytest.approx(1.0)
    assert turned.notes == ("turned round 2 triangles that faced the wrong way",)
    inside_out = orient(TriMesh.clean(cube.vertices, cube.triangles[:, ::-1]))
    assert inside_out.volume() == pytest.approx(1.0)
    assert orient(cube) is cube


def test_orient_leaves_a_hollow_hollow(cube: TriMesh) -> None:
    core = cube.triangles[:, ::-1] + 8
    vertices = np.concatenate([cube.vertices, 0.25 + 0.5 * cube.vertices])
    hollow = TriMesh.clean(vertices, np.concatenate([cube.triangles, core]))
    assert orient(hollow).volume() == pytest.approx(1 - 0.125)
