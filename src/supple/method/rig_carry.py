"""How a rig takes a body along from one pose to another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        places = [rig.positions(pose) for pose in (begin, end)]
        if not isinstance(rig, SkinnedRig):
            return cls(*places, turns=None)
        first, second = (_turns(rig, pose) for pose in (begin, end))
        return cls(*places, turns=np.einsum("nik,njk->nij", second, first))

    def move(self, x: FloatArray) -> FloatArray:
        """Positions [m], (n, 3), taken along."""
        apart = x - self.begin
        return self.end + (apart if self.turns is None else np.einsum("nij,nj->ni", self.turns, apart))


def _turns(rig: SkinnedRig, pose: FloatArray) -> FloatArray:
    """Rotations of the skin at all vertices, (n, 3, 3)."""
    A = rig.frames(pose)[0]
    if rig.mode == "dual_quaternion":
        return A
    left, _, right = np.linalg.svd(A)  # a linear blend is affine; its stretch may be singular, its turn is not
    left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return np.asarray(left @ right)
