"""Vertices near others, along edges."""

import numpy as np
import pytest

from supple.mesh.spread import Spread
from supple.shape import make_shape


@pytest.fixture(scope="module")
def mesh():
    return make_shape("beam", elements=600)


@pytest.mark.parametrize("sources", [[0], [3, 90, 91], [17, 60, 100]])
@pytest.mark.parametrize("radius", [0.0, 0.15, 0.3, 9.0])
def test_in_a_convex_body_it_is_what_lies_in_the_balls(mesh, sources: list[int], radius: float) -> None:
    spread = Spread(mesh.vertices, mesh.vertex_neighbours())
    for _ in range(2):  # memory is clean again
        found = spread.reach(np.array(sources), radius)
        apart = np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[sources], axis=2).min(axis=1)
        np.testing.assert_array_equal(found, np.flatnonzero(apart <= radius))


def test_what_is_not_allowed_is_neither_found_nor_crossed(mesh) -> None:
    wall = np.abs(mesh.vertices[:, 0]) < 0.08
    left = int(np.argmin(mesh.vertices[:, 0]))
    found = Spread(mesh.vertices, mesh.vertex_neighbours(), ~wall).reach(np.array([left]), 9.0)
    assert 0 < len(found) < len(mesh.vertices) - wall.sum()
    assert (mesh.vertices[found, 0] < 0.0).all()
    assert len(Spread(mesh.vertices, mesh.vertex_neighbours(), ~wall).reach(np.flatnonzero(wall), 0.3)) == 0
