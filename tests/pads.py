"""Two pads of flesh in one body, which a rig brings together: the simplest body that touches itself."""

from functools import cache

import numpy as np

from supple.elastic import Body, Damping, Pins
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.rig import BlackBox

APART = 0.1  # [m] between the pads at rest
TOUCH = np.array([0.999])  # the pose in which they touch


@cache
def two_pads(elements: int = 150, young: float = 2e4) -> tuple[Body, BlackBox]:
    """A lower pad held at its bottom and an upper one held at its top, face to face and `APART`; its control at 1
    would make them one."""
    lower = fill_box((0.0, 0.0, 0.0), (0.3, 0.1, 0.2), elements=elements)
    lift = np.array([0.0, 0.1 + APART, 0.0])
    vertices = np.concatenate([lower.vertices, lower.vertices + lift])
    mesh = TetMesh.clean(vertices, np.concatenate([lower.tets, lower.tets + len(lower.vertices)]))
    y = mesh.vertices[:, 1]
    pins = Pins.of(np.flatnonzero((y < 1e-9) | (y > y.max() - 1e-9)))
    body = Body.build(mesh, StableNeoHookean(young=young, poisson=0.4, density=1e3), pins, Damping(0.5))
    above = (y > 0.15)[:, None] * np.array([0.0, -APART, 0.0])
    rig = BlackBox(lambda pose: mesh.vertices + pose[0] * above, mesh.vertices, [0.0], ["press"])
    return body, rig
