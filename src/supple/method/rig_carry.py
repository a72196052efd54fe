"""How a rig takes a body along from one pose to another."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supple.linalg.small import matmul_nt, signed_svd
from supple.rig import Rig, SkinnedRig

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
    """T, (n, 3, 3); None for rigs that are black boxes, which turn nothing."""

    @classmethod
    def between(cls, rig: Rig, begin: FloatArray, end: FloatArray) -> "RigCarry":
        """The carry from one pose to another, (p,) each."""
        places = rig.positions(begin), rig.positions(end)
        if not isinstance(rig, SkinnedRig):
            return cls(*places, None)
        return cls(*places, np.einsum("nik,njk->nij", _turns(rig, end), _turns(rig, begin)))

    def move(self, x: FloatArray) -> FloatArray:
        """Positions [m], (n, 3), taken along."""
        apart = x - self.begin
        return self.end + (apart if self.turns is None else np.einsum("nij,nj->ni", self.turns, apart))

    def travel(self, x: FloatArray) -> FloatArray:
        """How far positions [m], (n, 3), go at the velocity of the skin there: half way on and half way from before."""
        apart = x - self.end
        before = self.begin + (apart if self.turns is None else np.einsum("nji,nj->ni", self.turns, apart))
        return np.asarray(0.5 * (self.move(x) - before))


def _turns(rig: SkinnedRig, pose: FloatArray) -> FloatArray:
    """Rotations of the skin at all vertices, (n, 3, 3)."""
    A = rig.frames(pose)[0]
    if rig.mode == "dual_quaternion":
        return A
    turns = np.empty_like(A)
    _fill_turns(A, turns)  # a linear blend is affine; its stretch may be singular, its turn is not
    return turns


@njit(cache=True)
def _fill_turns(A: FloatArray, R: FloatArray) -> None:
    """The rotations nearest to matrices, (n, 3, 3) each."""
    for k in range(len(A)):
        a = A[k]
        F = (a[0, 0], a[0, 1], a[0, 2], a[1, 0], a[1, 1], a[1, 2], a[2, 0], a[2, 1], a[2, 2])
        U, _, V = signed_svd(F)
        turn = matmul_nt(U, V)
        for i in range(3):
            for j in range(3):
                R[k, i, j] = turn[3 * i + j]
