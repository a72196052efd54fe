import numpy as np
import pytest

from supple.mesh import TetMesh, assess_quality, dihedral_angles, edge_lengths, mean_ratios

REGULAR = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
ROW = np.array([[0, 1, 2, 3]], dtype=np.int32)


def test_a_regular_tet_has_equal_angles_and_ratio_one() -> None:
    np.testing.assert_allclose(dihedral_angles(REGULAR, ROW), np.degrees(np.arccos(1 / 3)))
    assert mean_ratios(REGULAR, ROW) == pytest.approx([1.0])


def test_a_corner_tet_has_three_right_angles() -> None:
    corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    angles = np.sort(dihedral_angles(corner, ROW)[0])
    np.testing.assert_allclose(angles, [np.degrees(np.arccos(1 / np.sqrt(3)))] * 3 + [90.0] * 3)


def test_quality_does_not_depend_on_size_and_falls_as_a_tet_flattens() -> None:
    ratios = [mean_ratios(REGULAR * [5, 5, 5 * share], ROW)[0] for share in (1.0, 0.3, 0.1, 0.01)]
    assert ratios[0] == pytest.approx(1.0)
    assert (np.diff(ratios) < 0).all()
    assert ratios[-1] < 0.1


def test_the_worst_tet_is_named() -> None:
    vertices = np.concatenate([REGULAR, [[1.0, -1, 1], [1, 1, 1.02]]])
    mesh = TetMesh.clean(vertices, [[0, 1, 2, 3], [0, 1, 3, 4], [0, 4, 3, 5]])
    quality = assess_quality(mesh)
    assert quality.worst_tet == 2
    assert quality.slivers == 1
    assert quality.min_edge == pytest.approx(0.02)
    assert quality.max_edge == pytest.approx(edge_lengths(mesh).max())
    assert len(edge_lengths(mesh)) == 6 + 3 + 3
