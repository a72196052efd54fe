"""What faces a touched surface is counted, and nothing else."""

import numpy as np
import pytest

from supple.contact.facing import facing_shares
from supple.contact.touched import Fans
from supple.mesh import TetMesh, fill_box
from supple.shape import make_shape


def shares(mesh: TetMesh, vertices: np.ndarray, normal: list[float], x: np.ndarray | None = None) -> np.ndarray:
    triangles = mesh.surface_triangles()
    fans = Fans.build(triangles, len(mesh.vertices))
    normals = np.tile(np.array(normal), (len(vertices), 1))
    where = mesh.vertices if x is None else x
    return facing_shares(vertices.astype(np.int32), normals, triangles, fans, mesh.surface().areas(), where)


def test_a_block_that_stands_counts_its_bottom_alone_though_its_sides_bulge() -> None:
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 4)
    low = np.flatnonzero(mesh.vertices[:, 1] == 0.0)
    ring = np.zeros(len(mesh.vertices))
    np.add.at(ring, mesh.surface_triangles(), np.repeat(mesh.surface().areas()[:, None], 3, axis=1) / 3.0)
    bulging = mesh.vertices + 0.2 * np.outer(mesh.vertices[:, 1], [1.0, 0.0, 0.0]) * (mesh.vertices[:, :1] - 0.5)
    for x in (mesh.vertices, bulging):
        assert ring[low] @ shares(mesh, low, [0.0, 1.0, 0.0], x) == pytest.approx(1.0)


def test_round_surfaces_count_wholly_where_they_touch() -> None:
    mesh = make_shape("sphere", resolution=12)
    lowest = np.array([mesh.vertices[:, 1].argmin()])
    assert shares(mesh, lowest, [0.0, 1.0, 0.0]) == pytest.approx(1.0)


def test_a_vertex_that_came_through_the_flesh_with_its_back_first_stands_for_all_of_it() -> None:
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 4)
    top = np.flatnonzero(mesh.vertices[:, 1] == 1.0)
    assert shares(mesh, top, [0.0, 1.0, 0.0]) == pytest.approx(1.0)
    assert shares(mesh, top, [0.0, 1.0, 0.0], 0.0 * mesh.vertices) == pytest.approx(1.0)


@pytest.mark.parametrize(("leans", "share"), [(0.6, 0.35), (0.3, 1.0)])
def test_what_hardly_faces_a_surface_came_through_the_flesh_too(leans: float, share: float) -> None:
    """On a rim: half of the ring looks up, away, the other sideways, at a surface that it meets at an angle."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 4)
    rim = np.flatnonzero((mesh.vertices[:, :2] == 1.0).all(axis=1) & (np.abs(mesh.vertices[:, 2] - 0.5) < 0.3))
    assert shares(mesh, rim, [-leans, np.sqrt(1.0 - leans**2), 0.0]).mean() == pytest.approx(share, abs=1e-9)
