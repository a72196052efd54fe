"""Small meshes and frames that the tests of files share."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from little_man import LittleMan
from supple.io import Frame
from supple.mesh import TetMesh, TriMesh


def cube_of_tets(cells: int) -> TetMesh:
    """A unit cube of 6 * cells**3 tets with uneven coordinates and two named regions."""
    steps = cells + 1
    number = np.arange(steps**3).reshape(steps, steps, steps)
    corners = [
        number[i : cells + i, j : cells + j, k : cells + k].ravel() for i in (0, 1) for j in (0, 1) for k in (0, 1)
    ]
    tets = []
    for order in permutations((1, 2, 4)):
        path = np.cumsum((0, *order))
        tets.append(np.stack([corners[place] for place in path], axis=1))
    ticks = np.linspace(0.0, 1.0, steps) ** 1.1 / 3.0
    vertices = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    cells_of_tets = np.concatenate(tets)
    regions = np.where(vertices[cells_of_tets].mean(axis=1)[:, 0] < 0.15, 3, 7)
    mesh = TetMesh.clean(vertices, cells_of_tets, regions, {"fat layer": 3, "muscle": 7})
    return TetMesh(mesh.vertices, mesh.tets, mesh.regions, mesh.region_names)


@pytest.fixture
def tets() -> TetMesh:
    """27 vertices, 48 tets."""
    return cube_of_tets(2)


@pytest.fixture
def polygons() -> TriMesh:
    """A quad pyramid: one quad, four triangles, texture coordinates at every corner."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1 / 3, 0.5, np.pi]])
    counts = [4, 3, 3, 3, 3]
    corners = [0, 3, 2, 1, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4]
    uv = np.linspace(0.0, 1.0, 2 * len(corners)).reshape(-1, 2)
    return TriMesh.from_polygons(vertices, counts, corners, uv)


@pytest.fixture
def make_frames(tets: TetMesh) -> Callable[[int, int], list[Frame]]:
    """Makes the frames of `tets`, growing and shaking, from a first to a last number; always the same."""

    def make(first: int, last: int) -> list[Frame]:
        return frames_of(tets, first, last)

    return make


def frames_of(mesh: TetMesh, first: int, last: int) -> list[Frame]:
    """Frames with all kinds of data."""
    frames = []
    for index in range(first, last + 1):
        rng = np.random.default_rng(index)
        frames.append(
            Frame(
                index,
                index / 24.0,
                mesh.vertices * (1.0 + 0.01 * index) + 0.001 * rng.standard_normal(mesh.vertices.shape),
                rng.standard_normal(mesh.vertices.shape),
                {"load": rng.random(len(mesh.vertices))},
                {"J": rng.random(len(mesh.tets)), "von_mises": rng.random(len(mesh.tets))},
            )
        )
    return frames


@pytest.fixture
def little_man() -> LittleMan:
    """A character of 15 vertices."""
    return LittleMan()
