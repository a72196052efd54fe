"""The rasteriser shows the nearest triangle, without holes, whatever stands where."""

import math
from collections.abc import Iterator

import numba
import numpy as np
import pytest

from supple.picture.camera import Camera
from supple.picture.raster import rasterise

WIDTH, HEIGHT = 160, 120
CAMERA = Camera(np.array([0.0, 0.0, 5.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]), 40.0)


def look(positions: np.ndarray, triangles: np.ndarray, camera: Camera = CAMERA) -> tuple[np.ndarray, np.ndarray]:
    view = camera.view(WIDTH, HEIGHT)[None]
    nearness, seen = rasterise(
        np.asarray(positions, dtype=np.float64), np.asarray(triangles, dtype=np.int32), view, WIDTH, HEIGHT
    )
    return nearness[0], seen[0]


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_nearer_triangle_wins_in_any_order(order: list[int]) -> None:
    flat = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    positions = np.concatenate([flat, flat + np.array([0.0, 0.0, 1.0])])
    triangles = np.array([[0, 1, 2], [3, 4, 5]])[order]
    nearness, seen = look(positions, triangles)
    near = order.index(1)
    centre = (HEIGHT // 2, WIDTH // 2)
    assert seen[centre] == near
    assert (seen == 1 - near).sum() == 0  # the far one is behind the near one everywhere
    assert nearness[centre] == pytest.approx(1.0 / 4.0, rel=1e-6)


def test_crossing_triangles_are_seen_each_on_its_side() -> None:
    positions = [[-1, -1, -1], [1, -1, 1], [0, 1, 0], [-1, -1, 1], [1, -1, -1], [0, 1, 0]]
    _, seen = look(np.array(positions, dtype=float), np.array([[0, 1, 2], [3, 4, 5]]))
    row = seen[80]
    assert set(row[: WIDTH // 2 - 1]) == {-1, 1}
    assert set(row[WIDTH // 2 + 1 :]) == {-1, 0}


def test_neighbours_leave_no_hole_and_cover_their_area() -> None:
    rng = np.random.default_rng(7)
    count = 12
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, count), np.linspace(-1, 1, count)), axis=-1)
    grid[1:-1, 1:-1] += rng.uniform(-0.05, 0.05, (count - 2, count - 2, 2))
    positions = np.concatenate([grid.reshape(-1, 2), np.zeros((count * count, 1))], axis=1)
    a = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    triangles = np.concatenate([np.stack([a, a + 1, a + count], 1), np.stack([a + 1, a + count + 1, a + count], 1)])
    _, seen = look(positions, triangles)
    rows, columns = np.nonzero(seen >= 0)
    assert (seen[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] >= 0).all()
    side = 0.5 * HEIGHT / math.tan(math.radians(20.0)) / 5.0 * 2.0
    assert rows.max() - rows.min() + 1 == pytest.approx(side, abs=1.0)


@pytest.mark.parametrize("centre", [(0.0, 0.0, 0.0), (0.6, -0.4, -1.5)])
def test_sphere_covers_its_analytic_silhouette(
    fine_sphere: tuple[np.ndarray, np.ndarray], centre: tuple[float, ...]
) -> None:
    vertices, triangles = fine_sphere
    size = 600
    view = CAMERA.view(size, size)[None]
    _, seen = rasterise(vertices + np.array(centre), triangles, view, size, size)
    offset = np.array(centre) - CAMERA.eye
    distance = float(np.linalg.norm(offset))
    cosine = -offset[2] / distance  # of the angle between the view axis and the sphere's centre
    half = math.asin(1.0 / distance)
    # The cone of half angle `half` cuts the picture plane at unit depth in an ellipse.
    sine2 = 1.0 - cosine * cosine
    long_axis = math.sin(half) * math.cos(half) / (math.cos(half) ** 2 - sine2)
    short_axis = math.sin(half) / math.sqrt(math.cos(half) ** 2 - sine2)
    focal = 0.5 * size / math.tan(math.radians(20.0))
    assert (seen >= 0).sum() == pytest.approx(math.pi * long_axis * short_axis * focal**2, rel=0.01)


def test_triangles_without_area_off_screen_or_behind_leave_no_trace() -> None:
    positions = [
        [0, 0, 0], [1, 1, 0], [2, 2, 0],  # a line
        [50, 0, 0], [51, 0, 0], [50, 1, 0],  # beside the picture
        [-1, -1, 9], [1, -1, 9], [0, 1, 9],  # behind the eye
        [1e200, 0, 0], [0, 1e200, 0], [0, 0, 1e200],  # beyond all numbers
    ]  # fmt: skip
    nearness, seen = look(np.array(positions, dtype=float), np.arange(12).reshape(-1, 3) % 9)
    assert (seen < 0).all()
    assert np.isneginf(nearness).all()
    look(np.array(positions, dtype=float), np.arange(12).reshape(-1, 3))
    same = np.zeros((3, 3), dtype=np.int32)
    assert (look(np.array(positions, dtype=float), same)[1] < 0).all()


def test_floor_that_passes_under_the_eye_is_seen_up_to_the_horizon() -> None:
    floor = np.array([[-1e4, -1.0, -1e4], [1e4, -1.0, -1e4], [0.0, -1.0, 1e4]])
    nearness, seen = look(floor, np.array([[0, 1, 2]]))
    assert (seen[HEIGHT // 2 + 1 :] == 0).all()
    assert (seen[: HEIGHT // 2] == -1).all()
    focal = 0.5 * HEIGHT / math.tan(math.radians(20.0))
    assert nearness[-1, 5] == pytest.approx((HEIGHT / 2 - 0.5) / focal, rel=1e-5)  # 1 / depth, one below the eye


@pytest.mark.usefixtures("two_threads")
def test_thread_count_changes_nothing(sphere: tuple[np.ndarray, np.ndarray]) -> None:
    views = np.array([CAMERA.view(WIDTH, HEIGHT, (0.1 * k, 0.0)) for k in range(5)])
    results = []
    for threads in (1, min(2, numba.get_num_threads())):
        numba.set_num_threads(threads)
        results.append(rasterise(*sphere, views, WIDTH, HEIGHT))
    for first, second in zip(*results, strict=True):
        assert np.array_equal(first, second)
