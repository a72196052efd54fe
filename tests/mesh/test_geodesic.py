import numpy as np
import pytest

from supple.errors import MeshError
from supple.mesh import fill_box
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics


def bent_strip(turns: float = 0.5, along: int = 60, across: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A strip of triangles wound around a cylinder of radius 1, and the distance of its vertices along the arc."""
    angle, height = np.meshgrid(np.linspace(0.0, 2 * np.pi * turns, along + 1), np.linspace(0.0, 0.3, across + 1))
    points = np.stack([np.cos(angle), np.sin(angle), height], axis=-1).reshape(-1, 3)
    corner = (np.arange(across)[:, None] * (along + 1) + np.arange(along)).ravel()
    right, up = corner + 1, corner + along + 1
    triangles = np.concatenate([np.stack([corner, right, up], 1), np.stack([right, up + 1, up], 1)]).astype(np.int32)
    return points, triangles, angle.ravel()


def two_boxes(gap: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    one = fill_box((0, 0, 0), (1, 1, 1), resolution=3)
    points = np.concatenate([one.vertices, one.vertices + [1.0 + gap, 0.0, 0.0]])
    return points, np.concatenate([one.tets, one.tets + len(one.vertices)]).astype(np.int32)


def test_distances_through_a_box_are_straight_lines() -> None:
    mesh = fill_box((0, 0, 0), (1, 1, 1), resolution=8)
    found = Geodesics.along(mesh.vertices, mesh.tets).distances(np.array([0]))
    exact = np.linalg.norm(mesh.vertices - mesh.vertices[0], axis=1)
    assert (found >= exact - 1e-12).all()
    away = exact > 0
    assert (found[away] / exact[away]).max() < 1.05
    assert (found[away] / exact[away]).mean() < 1.01


def test_distances_follow_a_surface_that_bends() -> None:
    points, triangles, arc = bent_strip()
    found = Geodesics.along(points, triangles).distances(np.array([0]))
    exact = np.hypot(arc, points[:, 2])
    away = exact > 0.3
    assert np.abs(found[away] / exact[away] - 1.0).max() < 0.03
    assert found.max() > 1.4 * np.linalg.norm(points - points[0], axis=1).max()


def test_a_radius_ends_the_search() -> None:
    mesh = fill_box((0, 0, 0), (2, 1, 1), resolution=8)
    graph = Geodesics.along(mesh.vertices, mesh.tets)
    every, near = graph.distances(np.array([5])), graph.distances(np.array([5]), 0.7)
    np.testing.assert_array_equal(np.isfinite(near), every < 0.7)
    np.testing.assert_array_equal(near[every < 0.7], every[every < 0.7])
    reached = graph.within(np.array([5, 40]), 0.7)
    np.testing.assert_array_equal(np.sort(reached.vertices[: reached.start[1]]), np.flatnonzero(every < 0.7))
    np.testing.assert_array_equal(reached.distances[: reached.start[1]], every[reached.vertices[: reached.start[1]]])


def test_parts_that_do_not_touch_are_infinitely_far() -> None:
    points, tets = two_boxes()
    found = Geodesics.along(points, tets).distances(np.array([0]))
    np.testing.assert_array_equal(np.isfinite(found), points[:, 0] <= 1.0)


def test_every_part_is_sampled_and_parts_without_a_sample_are_named() -> None:
    points, tets = two_boxes()
    graph = Geodesics.along(points, tets)
    spread = spread_points(graph, 2)
    assert sorted(points[spread.vertices, 0] > 1.5) == [False, True]
    assert spread.cover[0] == np.inf
    with pytest.raises(MeshError, match="every connected part"):
        spread_points(graph, 1)


def test_samples_cover_evenly_and_any_first_part_of_them_too() -> None:
    mesh = fill_box((0, 0, 0), (4, 1, 1), resolution=16)
    graph = Geodesics.along(mesh.vertices, mesh.tets)
    spread = spread_points(graph, 60)
    assert (np.diff(spread.cover) <= 0).all()
    few = spread_points(graph, 20)
    np.testing.assert_array_equal(few.vertices, spread.vertices[:20])
    assert few.nearest.max() == few.cover[-1] == spread.cover[19]
    # No two samples are nearer to each other than the last of them was far from all others
    apart = np.linalg.norm(mesh.vertices[spread.vertices][:, None] - mesh.vertices[spread.vertices], axis=2)
    assert apart[np.triu_indices(60, 1)].min() > 0.9 * spread.cover[58]


def test_samples_are_reproducible_and_follow_the_seed() -> None:
    mesh = fill_box((0, 0, 0), (4, 1, 1), resolution=8)
    graph = Geodesics.along(mesh.vertices, mesh.tets)
    first, again, other = (spread_points(graph, 10, seed=seed).vertices for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_samples_among_some_vertices_are_of_these() -> None:
    mesh = fill_box((0, 0, 0), (1, 1, 1), resolution=5)
    outside = mesh.surface_vertices()
    spread = spread_points(Geodesics.along(mesh.vertices, mesh.tets), 500, among=outside)
    np.testing.assert_array_equal(np.sort(spread.vertices), outside)
    assert spread.cover[-1] == 0.0
    with pytest.raises(MeshError, match="at least 1"):
        spread_points(Geodesics.along(mesh.vertices, mesh.tets), 0)
