"""Several bodies as one, for what is asked of all of them together; each is stepped for itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from supple.elastic.body import Body, Damping
from supple.elastic.pins import Pins
from supple.mesh.tetmesh import TetMesh

__all__ = ["join_bodies"]


def join_bodies(bodies: Sequence[Body], mesh: TetMesh) -> Body:
    """The bodies over a mesh that has their vertices and tets in turn, perhaps elsewhere: parts rest as they did."""
    parts, vertex, tet = [], 0, 0
    for body in bodies:
        parts += [replace(one, ids=one.ids + tet, tets=one.tets + np.int32(vertex)) for one in body.parts]
        vertex, tet = vertex + len(body.mesh.vertices), tet + len(body.mesh.tets)
    starts = np.cumsum([0, *(len(body.mass) for body in bodies)])
    pins = Pins.merge(
        [Pins(body.pins.vertices + np.int32(k), body.pins.held) for body, k in zip(bodies, starts, strict=False)]
    )
    return Body(mesh, tuple(parts), np.concatenate([body.mass for body in bodies]), pins, Damping())
