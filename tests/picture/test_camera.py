"""The camera frames a box, upright, and its matrix and rays agree."""

import numpy as np
import pytest

from supple.errors import MeshError, OutputError
from supple.picture import Camera, find_bounds


def project(camera: Camera, points: np.ndarray, width: int = 800, height: int = 500) -> np.ndarray:
    homogeneous = np.column_stack([points, np.ones(len(points))]) @ camera.view(width, height).T
    return homogeneous[:, :2] / homogeneous[:, 2:3]


def box_corners(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    return np.array([[(lo, hi)[(k >> i) & 1][i] for i in range(3)] for k in range(8)])


@pytest.mark.parametrize("up_axis", ["y", "z"])
@pytest.mark.parametrize("extent", [(1, 1, 1), (8, 0.5, 0.5), (0.5, 0.5, 8), (0.2, 5, 0.2), (1, 0, 1)])
def test_fitted_box_fills_the_picture_up_to_its_margin(up_axis: str, extent: tuple[float, ...]) -> None:
    lo = np.array([3.0, -2.0, 1.0])
    hi = lo + extent
    pixels = project(Camera.fit((lo, hi), up_axis=up_axis, aspect=1.6, margin=0.1), box_corners(lo, hi))
    share = pixels / (800, 500)
    assert share.min() > 0.1 - 1e-6
    assert share.max() < 0.9 + 1e-6
    span = share.max(axis=0) - share.min(axis=0)
    assert span.max() == pytest.approx(0.8, abs=1e-4)
    assert np.allclose(share.max(axis=0) + share.min(axis=0), 1.0, atol=1e-4)  # centred


@pytest.mark.parametrize(("up_axis", "index"), [("y", 1), ("z", 2)])
def test_up_is_up(up_axis: str, index: int) -> None:
    camera = Camera.fit((np.zeros(3), np.ones(3)), up_axis=up_axis)
    low, high = project(camera, np.array([[0.5, 0.5, 0.5], 0.5 + 0.3 * np.eye(3)[index]]))
    assert high[1] < low[1] - 10
    assert high[0] == pytest.approx(low[0], abs=3)


@pytest.mark.parametrize("long_axis", [0, 2])
def test_long_side_lies_across_the_picture(long_axis: int) -> None:
    half = np.full(3, 0.2) + 2.0 * np.eye(3)[long_axis]
    ends = project(Camera.fit((-half, half)), np.array([-half, half]) * np.eye(3)[long_axis])
    assert abs(ends[1, 0] - ends[0, 0]) > 2 * abs(ends[1, 1] - ends[0, 1])


def test_a_point_is_a_box_too() -> None:
    camera = Camera.fit((np.ones(3), np.ones(3)))
    assert np.allclose(project(camera, np.ones((1, 3))), [[400, 250]], atol=50.0)


def test_ray_through_a_pixel_meets_what_is_seen_there() -> None:
    camera = Camera(np.array([3.0, 2.0, 5.0]), np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 0.0]))
    across, down, corner = camera.rays(800, 500)
    point = camera.eye + 4.2 * (123.0 * across + 456.0 * down + corner)
    assert np.allclose(project(camera, point[None]), [[123.0, 456.0]])
    assert np.allclose(project(camera, camera.target[None]), [[400.0, 250.0]])


@pytest.mark.parametrize(
    ("eye", "up", "angle"),
    [
        ((0, 0, 0), (0, 1, 0), 28),
        ((0, 3, 0), (0, 1, 0), 28),
        ((0, 0, np.nan), (0, 1, 0), 28),
        ((0, 0, 3), (0, 1, 0), 180),
    ],
)
def test_camera_that_sees_nothing_is_refused(eye: tuple[float, ...], up: tuple[float, ...], angle: float) -> None:
    with pytest.raises(OutputError):
        Camera(np.array(eye), np.zeros(3), np.array(up), angle)


def test_bounds_hold_all_frames_and_refuse_what_is_not_finite() -> None:
    frames = [np.zeros((2, 3)), np.array([[1.0, -2.0, 3.0], [0.0, 0.0, 0.0]])]
    lo, hi = find_bounds(frames)
    assert lo.tolist() == [0.0, -2.0, 0.0]
    assert hi.tolist() == [1.0, 0.0, 3.0]
    with pytest.raises(MeshError, match="not finite"):
        find_bounds([np.full((1, 3), np.nan)])
    with pytest.raises(MeshError, match="empty"):
        find_bounds([])
