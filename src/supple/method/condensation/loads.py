"""What users and forces do to full vertices."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.elastic import elastic_gradient
from supple.method.condensation.region import Ground, Region
from supple.method.condensation.state import CondensedState
from supple.solve.events import Grab
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce

__all__ = ["find_pushed", "find_unbalance", "push_full"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def find_pushed(grabs: Sequence[Grab], forces: Sequence[Force], most: int | None) -> IntArray:
    """Vertices that a user or another body pushes, or forces on no more than `most` vertices, ascending."""
    pushed = [np.asarray(grab.vertices, np.int32) for grab in grabs]
    loads = [force for force in forces if isinstance(force, NodalForce)]
    few = [most is None or len(load.vertices) <= most or isinstance(load, PassingForce) for load in loads]
    pushed += [np.asarray(load.vertices, np.int32) for load, counts in zip(loads, few, strict=True) if counts]
    return np.unique(np.concatenate([np.zeros(0, np.int32), *pushed]))


def push_full(region: Region, forces: Sequence[Force]) -> FloatArray:
    """External forces on the full vertices [N], (3 f,)."""
    total = np.zeros((len(region.full), 3))
    for force in forces:
        if isinstance(force, Gravity):
            total += region.mass[:, None] * np.asarray(force.acceleration)
        if not isinstance(force, NodalForce) or not len(region.full):
            continue
        place = np.minimum(np.searchsorted(region.full, force.vertices), len(region.full) - 1)
        own = region.full[place] == force.vertices
        np.add.at(total, place[own], np.asarray(force.weights)[own, None] * np.asarray(force.vector))
    return total.ravel()


def find_unbalance(
    ground: Ground, state: CondensedState, forces: Sequence[Force], still: bool, vertices: IntArray
) -> FloatArray:
    """Elastic and, unless all is still, inertial forces less loads at chosen vertices in a state [N], (k, 3)."""
    order = np.argsort(vertices, kind="stable")
    region, factor = ground.cut(vertices[order]), state.live.stiffness
    parts = region.parts if factor == 1.0 else tuple(part.with_stiffness(factor) for part in region.parts)
    out = elastic_gradient(parts, state.place(ground, region.vertices))[: len(vertices)]
    if not still:
        slowed = ground.body.damping.mass * state.place(ground, region.full, 1)
        out += region.mass[:, None] * (state.place(ground, region.full, 2) + slowed)
    out -= push_full(region, forces).reshape(-1, 3)
    found = np.empty_like(out)
    found[order] = out
    return found
