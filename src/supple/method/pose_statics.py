"""Equilibria in full space of a skinned body that touches itself, pose by pose, with every iterate of Newton's method.

Converged states alone say little about contact: where forces balance, it is the way there that a rule has to serve
([TOK14] 4.1).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.method.full.solver import FullSolver
from supple.rig import SkinnedRig
from supple.solve.forces import Force
from supple.solve.inputs import Inputs, Moment

__all__ = ["PoseStatics", "settle_pose"]

FloatArray = NDArray[np.float64]


class PoseStatics(NamedTuple):
    """What the full solver went through in a pose."""

    x: FloatArray
    """Where it ended [m], (n, 3)."""
    iterates: NDArray[np.float32]
    """Displacements from the skinned body [m], (k, n, 3), of all rounds of contact in their order; none where the way
    had to be halved."""
    pairs: NDArray[np.int32]
    """Vertices and triangles that touch in the end, (m, 2)."""


def settle_pose(
    solver: FullSolver,
    rig: SkinnedRig,
    way: tuple[FloatArray, FloatArray],
    x: FloatArray,
    pairs: NDArray[np.int32] = NO_PAIRS,
    forces: Sequence[Force] = (),
) -> PoseStatics:
    """The equilibrium of a static solver at the end of a `way` between two poses; at its begin the body is at x [m],
    (n, 3), and touches itself in `pairs`."""
    pins, skin = solver.body.pins.vertices, rig.positions(way[1])
    iterates: list[NDArray[np.float32]] = []

    def note(at: FloatArray) -> None:
        iterates.append((at - skin).astype(np.float32))

    begin, end = (
        Moment(time, rig.positions(pose, pins), tuple(forces), pose=pose)
        for time, pose in zip((0.0, 1.0), way, strict=True)
    )
    solver.note = note
    try:
        still = replace(solver.from_full(x, np.zeros_like(x), np.zeros_like(x)), pairs=pairs)
        state, report = solver.step(still, Inputs(begin, end))
    finally:
        solver.note = None
    some = [] if report.halvings else iterates
    return PoseStatics(state.x, np.array(some, np.float32).reshape(-1, *x.shape), state.pairs)
