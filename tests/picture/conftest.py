"""Small bodies to draw."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

Body = tuple[NDArray[np.float64], NDArray[np.int32]]


def make_sphere(rings: int) -> Body:
    """Unit sphere: vertices (n, 3) and outward triangles (m, 3)."""
    polar = np.linspace(0.0, np.pi, rings + 1)[1:-1]
    turn = np.linspace(0.0, 2.0 * np.pi, 2 * rings, endpoint=False)
    around = np.stack(
        [
            np.outer(np.sin(polar), np.sin(turn)),
            np.outer(np.cos(polar), np.ones_like(turn)),
            np.outer(np.sin(polar), np.cos(turn)),
        ],
        axis=-1,
    )
    count = len(turn)
    vertices = np.concatenate([around.reshape(-1, 3), [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]])
    here = np.arange(count)
    beside = (here + 1) % count
    triangles = [np.stack([np.full(count, len(vertices) - 2), here, beside], axis=1)]
    for ring in range(len(polar) - 1):
        upper, lower = ring * count, (ring + 1) * count
        triangles.append(np.stack([upper + here, lower + here, lower + beside], axis=1))
        triangles.append(np.stack([upper + here, lower + beside, upper + beside], axis=1))
    last = (len(polar) - 1) * count
    triangles.append(np.stack([np.full(count, len(vertices) - 1), last + beside, last + here], axis=1))
    return vertices, np.concatenate(triangles).astype(np.int32)


@pytest.fixture(scope="session")
def spheres() -> Callable[[int], Body]:
    """Maker of unit spheres with a number of rings."""
    return make_sphere


@pytest.fixture(scope="session")
def sphere() -> Body:
    """Unit sphere of about 1,200 triangles."""
    return make_sphere(18)


@pytest.fixture(scope="session")
def fine_sphere() -> Body:
    """Unit sphere of about 10,000 triangles."""
    return make_sphere(50)


@pytest.fixture(scope="session")
def box() -> Body:
    """Box from (-1, -1, -1) to (1, 1, 1), outward triangles."""
    vertices = np.array([[(k >> i) & 1 for i in range(3)] for k in range(8)]) * 2.0 - 1.0
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))]
    return vertices, np.array(triangles, dtype=np.int32)
