"""Vertices that stand for all in the inertia of a moving frame and in gravity ([XB16] 5.4).

Positions x = A (X + U q) + t have the inertia Uᵀ Aᵀ M (x - xa) ca, which is

    ca (I + D) (q - qa) - ca Σ m U_vᵀ A_vᵀ y_v,      y_v = xa_v - A_v (X_v + U_v qa) - t_v,      D = Uᵀ (AᵀMA - M) U

for any coordinates qa. With those that the integrator predicts, y is what the skinning brings, and no more: only that
is left to the rule, and D, which is zero where frames are rotations.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supple.cubature.rule import Rule
from supple.cubature.skinned_elements import restrict_rig
from supple.rig import SkinnedRig
from supple.solve.increment import Motion
from supple.subspace import Basis

__all__ = ["Particles", "Placed"]

FloatArray = NDArray[np.float64]


class Placed(NamedTuple):
    """The frames of all particles in a pose."""

    A: FloatArray
    t: FloatArray
    root: FloatArray
    """Rotation of the root, (3, 3)."""


class Particles:
    """The vertices of a rule with their share of the mass."""

    def __init__(self, rig: SkinnedRig, basis: Basis, rule: Rule) -> None:
        self.vertices = rule.members
        self._rig = restrict_rig(rig, rule.members)
        self._columns = np.ascontiguousarray(basis.columns.reshape(len(basis.mass), 3, basis.rank)[rule.members])
        self._mass = rule.weights * basis.mass[rule.members]
        self._even = np.tensordot(basis.mass, basis.columns.reshape(len(basis.mass), 3, basis.rank), 1)
        self._is_rotation = rig.mode == "dual_quaternion"

    def place(self, pose: FloatArray) -> Placed:
        """The frames in a pose."""
        A, t = self._rig.frames(pose)
        return Placed(A, t, self._rig.skeleton.transforms(pose)[0][0])

    def positions(self, placed: Placed, q: FloatArray) -> FloatArray:
        """Where they are at coordinates q [m], (k, 3)."""
        out = np.empty((len(self._mass), 3))
        _fill_positions(placed.A, placed.t, self._rig.rest, self._columns, q, out)
        return out

    def lag(self, placed: Placed, x: FloatArray, q: FloatArray) -> FloatArray:
        """Uᵀ Aᵀ M (x - φ(X + U q)), (r,), for positions x of the particles [m], (k, 3)."""
        out = np.zeros(len(q))
        _add_pulled(placed.A, self._columns, self._mass, x - self.positions(placed, q), out)
        return out

    def weight(self, placed: Placed, g: FloatArray) -> FloatArray:
        """Uᵀ Aᵀ M g, (r,), exact where all frames turn like the root's."""
        out = np.asarray((placed.root.T @ g) @ self._even)
        _add_pulled(placed.A - placed.root, self._columns, self._mass, np.tile(g, (len(self._mass), 1)), out)
        return out

    def stretch(self, placed: Placed) -> FloatArray | None:
        """D (r, r); None where frames are rotations."""
        if self._is_rotation:
            return None
        scale = np.sqrt(self._mass)[:, None, None]
        turned, straight = (
            (scale * field).reshape(-1, field.shape[2]) for field in (placed.A @ self._columns, self._columns)
        )
        return np.asarray(turned.T @ turned - straight.T @ straight)

    def inertia(
        self, placed: Placed, coordinates: Motion, particles: Motion, damping: float
    ) -> tuple[FloatArray | None, FloatArray]:
        """M (r, r), if any, and pull (r,) of inertia and drag by mass beside ½ ca |q - qa|² and its like for drag."""
        ca, drag = coordinates.ca, coordinates.cv * damping
        load = ca * self.lag(placed, particles.xa, coordinates.xa)
        if drag:
            load += drag * self.lag(placed, particles.xv, coordinates.xv)
        D = self.stretch(placed)
        if D is None:
            return None, load
        load += D @ (ca * coordinates.xa + drag * coordinates.xv)
        return (ca + drag) * D, load

    def coordinates(self, placed: Placed, field: FloatArray) -> FloatArray:
        """Coordinates of vectors at the particles, (k, 3), as near as the rule tells, (r,)."""
        back = (np.linalg.pinv(placed.A) @ field[:, :, None])[:, :, 0]  # a linear blend may be flat
        return np.asarray(np.einsum("vir,v,vi->r", self._columns, self._mass, back))


@njit(cache=True)
def _fill_positions(
    A: FloatArray, t: FloatArray, points: FloatArray, columns: FloatArray, q: FloatArray, out: FloatArray
) -> None:
    """A (X + U q) + t."""
    local = np.empty(3)
    for v in range(len(points)):
        for i in range(3):
            local[i] = points[v, i]
            for k in range(q.size):
                local[i] += columns[v, i, k] * q[k]
        for i in range(3):
            out[v, i] = A[v, i, 0] * local[0] + A[v, i, 1] * local[1] + A[v, i, 2] * local[2] + t[v, i]


@njit(cache=True)
def _add_pulled(A: FloatArray, columns: FloatArray, mass: FloatArray, field: FloatArray, out: FloatArray) -> None:
    """Add Σ m Uᵀ Aᵀ y."""
    for v in range(len(mass)):
        for i in range(3):
            pulled = mass[v] * (A[v, 0, i] * field[v, 0] + A[v, 1, i] * field[v, 1] + A[v, 2, i] * field[v, 2])
            for k in range(out.size):
                out[k] += columns[v, i, k] * pulled
