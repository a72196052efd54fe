"""Vertices that stand for all in the inertia of a moving frame and in gravity ([XB16] 5.4).

Positions x = A (X + U q) + t have the inertia Uᵀ Aᵀ M (x - xa) ca, which is

    ca (I + D) (q - qa) - ca Σ m U_vᵀ A_vᵀ y_v,      y_v = xa_v - A_v (X_v + U_v qa) - t_v,      D = Uᵀ (AᵀMA - M) U

for any coordinates qa. With those that the integrator predicts, y is what the skinning brings, and no more: only that
is left to the rule, and D, which is zero where frames are rotations. The skinning is prescribed, so y goes by implicit
Euler whatever the integrator of the coordinates: by Newmark's method, velocities outside the subspace would ring and
grow, for nothing damps them. What bones drive is then of first order in the step, what vibrates of second.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.rule import Rule
from supple.cubature.skinned_elements import restrict_rig
from supple.rig import SkinnedRig
from supple.solve.increment import Motion
from supple.subspace import Basis, DomainBases

__all__ = ["Drift", "Particles", "Placed"]

FloatArray = NDArray[np.float64]


class Placed(NamedTuple):
    """The frames of all particles in a pose."""

    A: FloatArray
    t: FloatArray
    root: FloatArray
    """Rotation of the root, (3, 3)."""


class Drift(NamedTuple):
    """How particles and coordinates go into a step: with their mean velocities over the last."""

    x: FloatArray
    """[m], (k, 3)"""
    v: FloatArray
    """[m/s], (k, 3)"""
    q: FloatArray
    rate: FloatArray
    """(r,)"""


class Particles:
    """The vertices of a rule with their share of the mass."""

    def __init__(
        self, rig: SkinnedRig, vertices: NDArray[np.integer], mass: FloatArray, rows: FloatArray, even: FloatArray
    ) -> None:
        """Vertices of the body (k,), their masses [kg] (k,), U there (k, 3, r), and `even` (3, r) of all vertices."""
        self.vertices = vertices
        self._rig = restrict_rig(rig, vertices)
        self._columns = np.ascontiguousarray(rows.reshape(-1, rows.shape[2]))
        self._mass = np.repeat(mass, 3)
        self._weighted = self._mass[:, None] * self._columns
        self._even = even
        self._is_rotation = rig.mode == "dual_quaternion"

    @classmethod
    def of(cls, rig: SkinnedRig, basis: Basis, rule: Rule) -> "Particles":
        """The vertices of a rule of the body."""
        who = rule.members
        return cls(rig, who, rule.weights * basis.mass[who], basis.rows(who), basis.even())

    @classmethod
    def of_copies(cls, rig: SkinnedRig, bases: DomainBases, rule: Rule) -> "Particles":
        """The vertices of a rule of the body cut into domains."""
        who, domains = rule.members, bases.domains
        mass = rule.weights * domains.body.mass[who]
        return cls(rig, domains.vertex_of[who], mass, bases.copy_rows(who), bases.even())

    def place(self, pose: FloatArray) -> Placed:
        """The frames in a pose."""
        A, t = self._rig.frames(pose)
        return Placed(A, t, self._rig.skeleton.transforms(pose)[0][0])

    def positions(self, placed: Placed, q: FloatArray) -> FloatArray:
        """Where they are at coordinates q [m], (k, 3)."""
        points = self._rig.rest + (self._columns @ q).reshape(-1, 3)
        return np.asarray((placed.A @ points[:, :, None])[:, :, 0] + placed.t)

    def lag(self, placed: Placed, x: FloatArray, q: FloatArray) -> FloatArray:
        """Uᵀ Aᵀ M (x - φ(X + U q)), (r,), for positions x of the particles [m], (k, 3)."""
        apart = x - self.positions(placed, q)
        return np.asarray((apart[:, None, :] @ placed.A).ravel() @ self._weighted)

    def weight(self, placed: Placed, g: FloatArray) -> FloatArray:
        """Uᵀ Aᵀ M g, (r,), exact where all frames turn like the root's."""
        return np.asarray((g @ placed.root) @ self._even + (g @ (placed.A - placed.root)).ravel() @ self._weighted)

    def stretch(self, placed: Placed) -> FloatArray | None:
        """D (r, r); None where frames are rotations."""
        if self._is_rotation:
            return None
        rank = self._columns.shape[1]
        turned = (placed.A @ self._columns.reshape(-1, 3, rank)).reshape(-1, rank)
        return np.asarray((self._mass[:, None] * turned).T @ turned - self._weighted.T @ self._columns)

    def inertia(
        self, placed: Placed, motion: Motion, drift: Drift, h: float, damping: float
    ) -> tuple[FloatArray | None, FloatArray]:
        """M (r, r), if any, and pull (r,) of inertia and drag by mass in a step of h [s], beside ½ ca |q - qa|² of the
        coordinates' own motion and its like for drag."""
        here = self.lag(placed, drift.x, drift.q)
        ahead = self.lag(placed, drift.x + h * drift.v, drift.q + h * drift.rate)
        pull = ahead / h**2 + damping / h * here
        D = self.stretch(placed)
        if D is None:
            return None, pull
        ca, drag = motion.ca, motion.cv * damping
        return (ca + drag) * D, pull + D @ (ca * motion.xa + drag * motion.xv)
