"""The contacts of one step as compiled loops take them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.delassus import Linked

__all__ = ["NO_GRIP", "Grip"]

SingleArray = NDArray[np.float32]
_WORK, _MOST_PASSES = 300_000, 16  # a pass costs the square of the contacts: so many squares, but at least 2 passes


class Grip(NamedTuple):
    """m contacts with rows C over the r coordinates of a method; `force` and `shift` change while a step is solved."""

    start: NDArray[np.int32]
    """Of the sparse rows of C, (m + 1,)."""
    column: NDArray[np.int32]
    value: SingleArray
    Y: SingleArray
    """C A⁻¹ [m/N], (g, m, r)."""
    W: SingleArray
    """C A⁻¹ Cᵀ [m/N], (g, m, m)."""
    base: SingleArray
    """Where contacts are as the step begins, carried by what they touch [m], (3, m)."""
    normal: SingleArray
    """(3, m)"""
    goal: SingleArray
    """How far along their normals they have to come from there at least [m], (m,)."""
    friction: SingleArray
    """μ, (m,)."""
    force: SingleArray
    """[N], (3, m)"""
    shift: SingleArray
    """W f [m], (3, m)."""
    tolerance: float
    """By which a pass may still move a contact [m]."""
    passes: int
    """Over the contacts in one iteration, at most."""

    @classmethod
    def take(
        cls,
        linked: Linked,
        base: SingleArray,
        normal: SingleArray,
        goal: SingleArray,
        friction: SingleArray,
        force: SingleArray,
        tolerance: float,
    ) -> "Grip":
        """Contacts that begin with given forces."""
        W = linked.W
        shift = np.stack([W[min(axis, len(W) - 1)] @ force[axis] for axis in range(3)])
        passes = int(min(max(_WORK // max(len(goal), 1) ** 2, 2), _MOST_PASSES))
        return cls(*linked, base, normal, goal, friction, force, shift, tolerance, passes)


#: Where nothing is touched.
NO_GRIP = Grip.take(
    Linked(
        np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32),
        np.zeros((1, 0, 0), np.float32), np.zeros((1, 0, 0), np.float32),
    ),
    base=np.zeros((3, 0), np.float32), normal=np.zeros((3, 0), np.float32), goal=np.zeros(0, np.float32),
    friction=np.zeros(0, np.float32), force=np.zeros((3, 0), np.float32), tolerance=0.0,
)  # fmt: skip
