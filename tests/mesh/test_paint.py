"""Painted numbers on their way to tets."""

import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import TetMesh, fill_box
from supple.mesh.paint import mean_of_points, mean_of_vertices, spread_paint

MESH = fill_box((0, 0, 0), (1.0, 0.2, 0.2), resolution=10)


def test_even_paint_stays_even_wherever_it_lies() -> None:
    skin = MESH.surface_vertices()
    painted = mean_of_vertices(MESH, skin, np.full(len(skin), 3.0))
    points = MESH.vertices[skin] * 1.0001
    for some in (painted, mean_of_points(MESH, points, np.full(len(points), 3.0))):
        assert np.abs(spread_paint(MESH, some, 0.3) - 3.0).max() < 1e-12


def test_paint_runs_as_far_as_it_may() -> None:
    """A step smoothed over a length l decays as exp(-|x| / l) / 2 on both sides of it; nothing overshoots."""
    fine = fill_box((0, 0, 0), (1.0, 0.1, 0.1), resolution=40)
    x = fine.vertices[fine.tets].mean(axis=1)[:, 0]
    reach = 0.08
    found = spread_paint(fine, np.where(x < 0.5, 0.0, 1.0), reach)
    wanted = np.where(x < 0.5, 0.5 * np.exp((x - 0.5) / reach), 1.0 - 0.5 * np.exp((0.5 - x) / reach))
    assert np.abs(found - wanted).max() < 0.05
    assert found.min() > 0.0
    assert found.max() < 1.0


def test_tets_without_paint_get_what_lies_between() -> None:
    centre = MESH.vertices[MESH.tets].mean(axis=1)[:, 0]
    ends = np.where(centre < 0.1, 1.0, np.where(centre > 0.9, 2.0, np.nan))
    found = spread_paint(MESH, ends, 0.01)
    assert found[np.abs(centre - 0.5) < 0.05].mean() == pytest.approx(1.5, abs=0.02)


def test_paint_that_reaches_nothing_is_refused() -> None:
    nothing = np.full(len(MESH.tets), np.nan)
    with pytest.raises(MeshError, match="no tet is painted"):
        spread_paint(MESH, nothing, 0.1)
    some = np.where(np.arange(len(nothing)) == 0, 1.0, np.nan)
    with pytest.raises(MeshError, match="give a length above 0"):
        spread_paint(MESH, some, 0.0)
    two = np.concatenate([MESH.tets, MESH.tets + len(MESH.vertices)])
    apart = TetMesh.clean(np.concatenate([MESH.vertices, MESH.vertices + 5.0]), two)
    with pytest.raises(MeshError, match="1 parts of the mesh"):
        spread_paint(apart, np.concatenate([some, nothing]), 0.1)
