"""A beam that bends, with bases at a few angles: what tests of rules over poses share."""

from functools import cache

import numpy as np

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.rig import Rig
from supple.rig.bend import Bend
from supple.subspace import PoseBases, build_pose_bases
from supple.subspace.alignment import Alignment


@cache
def bent_beam(
    count: int = 3, rank: int = 12, resolution: int = 20, alignment: Alignment = "world"
) -> tuple[Body, Rig, PoseBases]:
    """A beam of 1 m with a clamped end, bent by up to ± 135 degrees."""
    mesh = fill_box((0, -0.06, -0.08), (1.0, 0.06, 0.08), resolution)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e7, poisson=0.4, density=1000.0), pins)
    rig = Bend(mesh.vertices, (0.2, 0, 0), (0.8, 0, 0), (0, 1, 0))
    poses = np.deg2rad(np.linspace(-135.0, 135.0, count))[:, None]
    return body, rig, build_pose_bases(body, rig, poses, rank, alignments=(alignment,))
