import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supple.errors import MeshError
from supple.mesh import TetMesh, fill_box

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
ONE = np.array([[0, 1, 2, 3]])


@pytest.fixture(scope="module")
def block() -> TetMesh:
    return fill_box((0, 0, 0), (2, 1, 1), resolution=4)


def test_inverted_tets_are_turned_round_with_a_note() -> None:
    mesh = TetMesh.clean(CORNERS, [[0, 1, 3, 2]])
    assert mesh.volumes() == pytest.approx([1 / 6])
    assert mesh.notes == ("turned round 1 inverted tet",)


def test_unused_vertices_are_dropped_with_a_note() -> None:
    vertices = np.insert(CORNERS, 1, [9.0, 9, 9], axis=0)
    mesh = TetMesh.clean(vertices, [[0, 2, 3, 4]])
    np.testing.assert_array_equal(mesh.vertices, CORNERS)
    np.testing.assert_array_equal(mesh.tets, ONE)
    assert mesh.notes == ("dropped 1 vertex that no tet uses",)


def test_a_clean_mesh_has_no_notes_and_copies_its_input() -> None:
    vertices = CORNERS.copy()
    mesh = TetMesh.clean(vertices, ONE)
    vertices[:] = 7
    assert mesh.notes == ()
    np.testing.assert_array_equal(mesh.vertices, CORNERS)


def test_regions_and_names_are_kept() -> None:
    mesh = TetMesh.clean(CORNERS, ONE, regions=[5], region_names={"fat": 5})
    assert mesh.regions.tolist() == [5]
    assert mesh.region_names == {"fat": 5}


@pytest.mark.parametrize(
    ("vertices", "tets", "message"),
    [
        (CORNERS, [[0, 1, 2, 4]], r"tet 0 uses vertices \[0, 1, 2, 4\], but the mesh has 4"),
        (CORNERS, [[0, 1, 2, -1]], "tet 0 uses vertices"),
        (np.where(CORNERS == 1, np.nan, CORNERS), ONE, "vertex 1 has a position that is not finite"),
        (np.where(CORNERS == 1, np.inf, CORNERS), ONE, "not finite"),
        (CORNERS[:, :2], ONE, r"shape \(4, 2\)"),
        (CORNERS, [[0, 1, 2]], r"give integers of shape \(m, 4\)"),
        (CORNERS, [[0, 1, 2, 3], [0, 1, 2]], "different numbers of corners"),
        (CORNERS, [[0.5, 1, 2, 3]], "give integers"),
        (CORNERS, np.empty((0, 4), dtype=int), "no tets"),
        ("nonsense", ONE, "not an array of numbers"),
        (CORNERS, [[0, 1, 2, 2]], "tet 0 near .* has no volume"),
        (CORNERS * [1, 1, 0], ONE, "has no volume"),
    ],
)
def test_a_bad_mesh_is_refused_by_name(vertices: object, tets: object, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        TetMesh.clean(vertices, tets)  # type: ignore[arg-type]


def test_the_first_flat_tet_is_named_among_good_ones() -> None:
    vertices = np.concatenate([CORNERS, [[2.0, 0, 0]]])
    with pytest.raises(MeshError, match=r"tet 1 near \(0\.75, 0\.25, 0\)"):
        TetMesh.clean(vertices, [[0, 1, 2, 3], [0, 1, 4, 2]])


def test_wrong_number_of_regions_is_refused() -> None:
    with pytest.raises(MeshError, match="one number for every tet"):
        TetMesh.clean(CORNERS, ONE, regions=[1, 2])


def test_a_face_shared_by_three_tets_is_refused() -> None:
    vertices = np.concatenate([CORNERS, [[0.1, 0.1, 2.0], [0.2, 0.2, 3.0]]])
    mesh = TetMesh.clean(vertices, [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]])
    with pytest.raises(MeshError, match="three tets share"):
        mesh.tet_neighbours()


def test_surface_is_closed_manifold_and_outward(block: TetMesh) -> None:
    surface = block.surface()
    assert surface.is_closed()
    assert surface.is_manifold()
    centre = surface.vertices[surface.triangles].mean(axis=1)
    outward = np.einsum("ij,ij->i", surface.face_normals(), centre - [1, 0.5, 0.5])
    assert (outward > 0).all()


def test_surface_volume_equals_sum_of_tet_volumes(block: TetMesh) -> None:
    assert block.surface().volume() == pytest.approx(block.volumes().sum(), rel=1e-12)
    assert block.volumes().sum() == pytest.approx(2.0, rel=1e-12)


def test_surface_numbers_agree(block: TetMesh) -> None:
    surface, used = block.surface(), block.surface_vertices()
    np.testing.assert_array_equal(surface.vertices, block.vertices[used])
    np.testing.assert_array_equal(used[surface.triangles], block.surface_triangles())
    owners = block.tets[block.surface_tets()]
    held = (block.surface_triangles()[:, :, None] == owners[:, None, :]).any(axis=2)
    assert held.all()


def test_tet_neighbours_are_mutual_and_share_a_face(block: TetMesh) -> None:
    neighbours = block.tet_neighbours()
    for tet, corner in np.argwhere(neighbours >= 0):
        other = neighbours[tet, corner]
        assert tet in neighbours[other]
        shared = np.intersect1d(block.tets[tet], block.tets[other])
        assert sorted(shared) == sorted(np.delete(block.tets[tet], corner))


def test_vertex_neighbours_are_symmetric_and_along_edges(block: TetMesh) -> None:
    indptr, indices = block.vertex_neighbours()
    pairs = {(v, int(w)) for v in range(len(block.vertices)) for w in indices[indptr[v] : indptr[v + 1]]}
    expected = {(int(a), int(b)) for tet in block.tets for a in tet for b in tet if a != b}
    assert pairs == expected


def test_components_tell_separate_bodies() -> None:
    mesh = TetMesh.clean(np.concatenate([CORNERS, CORNERS + 5]), [[0, 1, 2, 3], [4, 5, 6, 7]])
    assert mesh.components().tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_transform_scales_volumes_by_the_determinant_even_when_mirroring(block: TetMesh) -> None:
    matrix = np.array([[2.0, 0.3, 0], [0, -1.5, 0.1], [0, 0, 1]])
    moved = block.transformed(matrix, (1, 2, 3))
    np.testing.assert_allclose(moved.volumes(), 3.0 * block.volumes(), rtol=1e-12)
    np.testing.assert_allclose(moved.vertices, block.vertices @ matrix.T + [1, 2, 3])
    assert block.scaled(2.0).size() == pytest.approx(2 * block.size())


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(2), np.full((3, 3), np.nan)])
def test_a_flattening_transform_is_refused(block: TetMesh, matrix: np.ndarray) -> None:
    with pytest.raises(MeshError, match="invertible"):
        block.transformed(matrix)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(4)), st.integers(0, 2**32 - 1))
def test_any_corner_order_gives_the_same_positive_tet(order: list[int], seed: int) -> None:
    vertices = np.random.default_rng(seed).normal(size=(4, 3))
    volume = abs(np.linalg.det(vertices[1:] - vertices[0])) / 6
    mesh = TetMesh.clean(vertices, [order])
    assert mesh.volumes()[0] == pytest.approx(volume)


def test_tets_given_twice_are_dropped_with_a_note() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    mesh = TetMesh.clean(vertices, [[0, 1, 2, 3], [1, 2, 0, 3], [0, 2, 1, 3]], regions=[4, 5, 6])
    assert len(mesh.tets) == 1
    assert mesh.regions.tolist() == [4]
    assert any("given twice" in note for note in mesh.notes)
