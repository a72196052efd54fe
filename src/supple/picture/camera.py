"""Where a picture is taken from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import MeshError, OutputError

__all__ = ["Bounds", "Camera", "axis_index", "find_bounds"]

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]

# Right and front of the viewer who stands before the scene, by up axis: y up looks along -z, z up along +y.
_RIGHT = {1: np.array([1.0, 0.0, 0.0]), 2: np.array([1.0, 0.0, 0.0])}
_TOWARDS_VIEWER = {1: np.array([0.0, 0.0, 1.0]), 2: np.array([0.0, -1.0, 0.0])}


def axis_index(up_axis: str) -> int:
    """Index of the up axis: 1 for "y", 2 for "z"."""
    if up_axis.lower() not in ("y", "z"):
        raise OutputError(f'The up axis is "{up_axis}": use "y" or "z".')
    return {"y": 1, "z": 2}[up_axis.lower()]


def find_bounds(frames: Iterable[ArrayLike]) -> Bounds:
    """Lowest and highest corner [m], (3,) each, of the box around all frames of vertex positions."""
    lo, hi = np.full(3, np.inf), np.full(3, -np.inf)
    for frame in frames:
        points = np.asarray(frame, dtype=np.float64).reshape(-1, 3)
        if len(points):
            lo, hi = np.minimum(lo, points.min(axis=0)), np.maximum(hi, points.max(axis=0))
    if not (np.isfinite(lo).all() and np.isfinite(hi).all()):
        raise MeshError("The positions to draw are empty or not finite: check the run that wrote them.")
    return lo, hi


@dataclass(frozen=True)
class Camera:
    """A perspective camera at `eye` that looks at `target`; positions in [m], angle of view in degrees."""

    eye: NDArray[np.float64]
    target: NDArray[np.float64]
    up: NDArray[np.float64]
    view_angle: float = 28.0  # from the lower to the upper edge of the picture

    def __post_init__(self) -> None:
        for name in ("eye", "target", "up"):
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.shape != (3,) or not np.isfinite(value).all():
                raise OutputError(f"The camera's {name} is {value.tolist()}: give three finite numbers.")
            object.__setattr__(self, name, value)
        if not 0.1 <= self.view_angle <= 170.0:
            raise OutputError(f"The camera's view angle is {self.view_angle}: use 0.1 to 170 degrees.")
        forward = self.target - self.eye
        least = 1e-9 * np.linalg.norm(forward) * np.linalg.norm(self.up)
        if np.linalg.norm(np.cross(forward, self.up)) <= least:
            raise OutputError("The camera looks along its up direction: move its eye or choose another up.")

    @classmethod
    def fit(
        cls,
        bounds: tuple[ArrayLike, ArrayLike],
        *,
        up_axis: str = "y",
        aspect: float = 1.6,
        azimuth: float = 32.0,
        elevation: float = 16.0,
        view_angle: float = 28.0,
        margin: float = 0.07,
    ) -> Camera:
        """Camera that frames the box `bounds` [m] in a three-quarter view, its long side across the picture.

        azimuth and elevation in degrees; margin is the share of the picture left free at each edge.
        """
        lo, hi = (np.asarray(corner, dtype=np.float64) for corner in bounds)
        axis = axis_index(up_axis)
        up = np.eye(3)[axis]
        right, towards = _RIGHT[axis], _TOWARDS_VIEWER[axis]
        extent = hi - lo
        if abs(extent @ towards) > 1.25 * abs(extent @ right):  # the long side leads away: walk around it
            right, towards = -towards, right
        turn, lift = np.radians(azimuth), np.radians(elevation)
        direction = np.cos(lift) * (np.cos(turn) * towards + np.sin(turn) * right) + np.sin(lift) * up
        sides = np.array([[(k >> i) & 1 for i in range(3)] for k in range(8)]) - 0.5
        least = 1e-6 * float(np.abs([lo, hi]).max()) + 1e-12  # a point is a small box too
        corners = 0.5 * (lo + hi) + sides * np.maximum(extent, least)
        half_height = np.tan(np.radians(view_angle) / 2)
        eye, target = _frame(corners, direction, up, half_height * np.array([aspect, 1.0]) * (1 - 2 * margin))
        return cls(eye, target, up, view_angle)

    def axes(self) -> NDArray[np.float64]:
        """Right, up and forward unit vectors of the picture as rows, (3, 3)."""
        forward = self.target - self.eye
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, self.up)
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(right, forward), forward])

    def view(self, width: int, height: int, shift: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float64]:
        """Matrix (4, 4) that takes (x, y, z, 1) to (column·w, row·w, w, 1), w being the depth [m].

        Divided by w these are pixels from the upper left corner; `shift` moves the sampling point, in pixels.
        """
        right, up, forward = self.axes()
        focal = 0.5 * height / np.tan(np.radians(self.view_angle) / 2)
        linear = np.array(
            [
                focal * right + (0.5 * width - shift[0]) * forward,
                -focal * up + (0.5 * height - shift[1]) * forward,
                forward,
            ]
        )
        matrix = np.zeros((4, 4))
        matrix[:3, :3] = linear
        matrix[:3, 3] = -linear @ self.eye
        matrix[3, 3] = 1.0
        return matrix

    def rays(self, width: int, height: int) -> NDArray[np.float64]:
        """Rows r (3, 3): the ray of unit depth through a pixel is column · r[0] + row · r[1] + r[2]."""
        right, up, forward = self.axes()
        pixel = 2 * np.tan(np.radians(self.view_angle) / 2) / height
        return np.array([pixel * right, -pixel * up, forward + 0.5 * pixel * (height * up - width * right)])


def _frame(
    corners: NDArray[np.float64],
    direction: NDArray[np.float64],
    up: NDArray[np.float64],
    half_size: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eye and target, (3,) each, from which `corners` (8, 3) just fill `half_size` (tangents), centred."""
    right = np.cross(up, direction)
    right /= np.linalg.norm(right)
    plane = np.array([right, np.cross(direction, right)])
    target = corners.mean(axis=0)
    distance = 0.0
    for _ in range(20):  # a contraction: centring moves the target, which changes the distance a little
        across = (corners - target) @ plane.T
        towards = (corners - target) @ direction
        distance = float((np.abs(across) / half_size + towards[:, None]).max())
        seen = across / (distance - towards)[:, None]
        target = target + plane.T @ (0.5 * (seen.min(axis=0) + seen.max(axis=0)) * distance)
    return target + distance * direction, target
