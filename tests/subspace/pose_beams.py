"""A beam bent by one angle, as flesh around a bone or held at one end only."""

from functools import cache

import numpy as np

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.rig import Bend


@cache
def bent_beam(kind: str) -> tuple[Body, Bend]:
    """ "cantilever" or "core": 990 tets over 1 m, bent between 0.2 m and 0.8 m."""
    mesh = fill_box((0.0, -0.06, -0.08), (1.0, 0.06, 0.08), elements=1000)
    x, y, z = np.abs(mesh.vertices).T
    held = x < 1e-9 if kind == "cantilever" else (x < 0.9) & (y < 0.035) & (z < 0.045)
    body = Body.build(mesh, StableNeoHookean(young=1e7, poisson=0.4, density=1e3), Pins.of(np.flatnonzero(held)))
    return body, Bend(mesh.vertices, (0.2, 0.0, 0.0), (0.8, 0.0, 0.0), (0.0, 0.0, 1.0))


def fan(degrees: float, count: int) -> np.ndarray:
    """Poses from -degrees to degrees, (count, 1)."""
    return np.deg2rad(np.linspace(-degrees, degrees, count))[:, None]
