import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import assess_quality, fill_box


@pytest.mark.parametrize("size", [(1, 1, 1), (1, 0.2, 0.2), (0.3, 2, 0.7)])
def test_all_faces_match_and_the_box_is_exact(size: tuple[float, float, float]) -> None:
    high = np.array([1.0, 2.0, 3.0]) + size
    mesh = fill_box((1, 2, 3), high, resolution=5)
    surface = mesh.surface()
    assert (mesh.volumes() > 0).all()
    assert mesh.notes == ()
    assert mesh.volumes().sum() == pytest.approx(np.prod(size), rel=1e-12)
    assert surface.areas().sum() == pytest.approx(2 * np.sum(np.prod(size) / np.array(size)), rel=1e-12)
    assert surface.is_closed()
    assert surface.is_manifold()
    np.testing.assert_array_equal(mesh.bounds(), ([1, 2, 3], high))


def test_resolution_counts_bricks_along_the_longest_side() -> None:
    mesh = fill_box((0, 0, 0), (1, 0.2, 0.4), resolution=10)
    assert np.unique(mesh.vertices[:, 0]).size == 11
    assert np.unique(mesh.vertices[:, 1]).size == 3
    assert len(mesh.tets) == 5 * 10 * 2 * 4


def test_cubic_bricks_have_the_angles_of_the_symmetric_split() -> None:
    quality = assess_quality(fill_box((0, 0, 0), (2, 1, 1), resolution=4))
    assert quality.min_dihedral == pytest.approx(np.degrees(np.arccos(1 / np.sqrt(3))))
    assert quality.max_dihedral == pytest.approx(90)


@pytest.mark.parametrize("size", [(1, 0.2, 0.2), (1, 0.05, 0.05), (1, 1, 1), (0.4, 3, 0.9)])
@pytest.mark.parametrize("elements", [500, 1_000, 17_000, 50_000])
def test_elements_are_met_within_ten_per_cent_by_nearly_cubic_bricks(
    size: tuple[float, float, float], elements: int
) -> None:
    mesh = fill_box((0, 0, 0), size, elements=elements)
    assert len(mesh.tets) == pytest.approx(elements, rel=0.1)
    sides = [np.diff(np.unique(axis)).mean() for axis in mesh.vertices.T]
    assert max(sides) / min(sides) < 2


def test_a_count_no_grid_can_meet_is_told() -> None:
    mesh = fill_box((0, 0, 0), (1, 1, 1), elements=8)
    assert mesh.notes == ("8 tets were asked for; the nearest grid has 10",)


@pytest.mark.parametrize("high", [(1, 1, 0), (1, 1, np.nan), (1, -1, 1)])
def test_an_empty_box_is_refused(high: tuple[float, float, float]) -> None:
    with pytest.raises(MeshError, match="three sides above 0"):
        fill_box((0, 0, 0), high, resolution=3)
