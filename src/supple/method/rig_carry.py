"""How a rig takes a body along from one pose to another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.rig import Rig, Root
from supple.rig.turns import find_turns

__all__ = ["RigCarry"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RigCarry:
    """x goes to Φ(end) + T (x - Φ(begin)), with T the turn of the skin at each vertex.

    For dual quaternions that is φ(end, φ⁻¹(begin, x)): what the body is beside its rig turns with it.
    """

    begin: FloatArray
    """Φ of the first pose [m], (n, 3)."""
    end: FloatArray
    """Φ of the second [m], (n, 3)."""
    turns: FloatArray | None
    """T, (n, 3, 3), for rigs that are black boxes that of their root; None where they have none, and turn nothing."""

    @classmethod
    def between(cls, rig: Rig, begin: FloatArray, end: FloatArray) -> "RigCarry":
        """The carry from one pose to another, (p,) each."""
        places = rig.positions(begin), rig.positions(end)
        first, last = find_turns(rig, begin), find_turns(rig, end)
        if first is None or last is None:
            root = Root.of(rig)
            turn = root.turn(end) @ root.turn(begin).T
            return cls(*places, np.tile(turn, (len(rig.rest), 1, 1)) if root.turns else None)
        return cls(*places, np.einsum("nik,njk->nij", last, first))

    def move(self, x: FloatArray) -> FloatArray:
        """Positions [m], (n, 3), taken along."""
        apart = x - self.begin
        return self.end + (apart if self.turns is None else np.einsum("nij,nj->ni", self.turns, apart))

    def travel(self, x: FloatArray) -> FloatArray:
        """How far positions [m], (n, 3), go at the velocity of the skin there: half way on and half way from before."""
        apart = x - self.end
        before = self.begin + (apart if self.turns is None else np.einsum("nji,nj->ni", self.turns, apart))
        return np.asarray(0.5 * (self.move(x) - before))
