"""The studio's lights: a broad key lamp beside the camera and a sky above."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.picture.camera import Camera

__all__ = ["Lights", "place_lights"]

_GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
_KEY_SAMPLES, _SKY_SAMPLES = 20, 28
_KEY_TURN, _KEY_LIFT, _KEY_RADIUS = (math.radians(degrees) for degrees in (-48.0, 52.0, 7.0))
_FILL_TURN, _FILL_LIFT = (math.radians(degrees) for degrees in (65.0, 15.0))


@dataclass(frozen=True)
class Lights:
    """Unit vectors towards the key and fill lamps, (3,); samples of the key (k, 3) and of the sky (s, 3)."""

    key: NDArray[np.float64]
    key_samples: NDArray[np.float64]
    fill: NDArray[np.float64]
    sky_samples: NDArray[np.float64]


def place_lights(camera: Camera, axis: int) -> Lights:
    """Lights that stand around the body as the camera sees it; `axis` is the index of the up axis."""
    up = np.eye(3)[axis]
    right = camera.axes()[0]
    right = right - (right @ up) * up
    if np.linalg.norm(right) < 1e-6:  # a camera rolled on its side
        right = np.eye(3)[(axis + 1) % 3]
    right = right / np.linalg.norm(right)
    back = np.cross(right, up)  # towards the camera, level

    def aim(turn: float, lift: float) -> NDArray[np.float64]:
        level = math.cos(turn) * back + math.sin(turn) * right
        return np.asarray(math.cos(lift) * level + math.sin(lift) * up)

    key = aim(_KEY_TURN, _KEY_LIFT)
    across = np.cross(key, up)
    across /= np.linalg.norm(across)
    index = np.arange(_KEY_SAMPLES) + 0.5
    radius = math.tan(_KEY_RADIUS) * np.sqrt(index / _KEY_SAMPLES)
    disk = radius[:, None] * np.stack([np.cos(index * _GOLDEN_ANGLE), np.sin(index * _GOLDEN_ANGLE)], axis=1)
    samples = key + disk @ np.array([across, np.cross(key, across)])
    samples /= np.linalg.norm(samples, axis=1, keepdims=True)
    return Lights(key, samples, aim(_FILL_TURN, _FILL_LIFT), _spread_over_sky(up, right, back))


def _spread_over_sky(
    up: NDArray[np.float64], right: NDArray[np.float64], back: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Directions spread evenly over the upper half sphere, (s, 3)."""
    index = np.arange(_SKY_SAMPLES) + 0.5
    height = index / _SKY_SAMPLES
    level = np.sqrt(1.0 - height**2)
    turn = index * _GOLDEN_ANGLE
    return np.asarray(
        np.outer(height, up) + np.outer(level * np.cos(turn), right) + np.outer(level * np.sin(turn), back)
    )
