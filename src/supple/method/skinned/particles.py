"""Vertices that stand for all in the inertia of a moving frame and in gravity ([XB16] 5.4).

Positions x = A (X + U q) + t have the inertia Uᵀ Aᵀ M ẍ, which is

    (I + D) q̈ + Uᵀ Aᵀ M w,      w = d²(A (X + U q) + t)/dt² - A U q̈,      D = Uᵀ (AᵀMA - M) U

The integrator of the coordinates knows the first term. w is what the skinning brings, and no more: only that is left to
the rule, and D, which is zero where frames are rotations. The skinning is prescribed, so w is a difference of the past
(method/skinned/track.py) whatever the integrator: by Newmark's own, velocities outside the subspace would ring and
grow, for nothing damps them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.rule import Rule
from supple.cubature.skinned_elements import restrict_rig
from supple.method.skinned.state import SkinnedState
from supple.method.skinned.track import Past
from supple.rig import SkinnedRig
from supple.solve.increment import Motion
from supple.subspace import Basis, DomainBases

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

    def kinetic_energy(self, v: FloatArray) -> float:
        """½ Σ m |v|² [J] of velocities [m/s], (k, 3)."""
        return 0.5 * float(self._mass @ v.ravel() ** 2)

    def moment(self, x: FloatArray) -> FloatArray:
        """Σ m x [kg m] of positions [m], (k, 3)."""
        return np.asarray(self._mass[::3] @ x)

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

    def leave(self, placed: Placed, state: SkinnedState, h: float) -> FloatArray:
        """-Uᵀ Aᵀ M w h², (r,), in a step of h [s] from the velocities of a state: w as implicit Euler has it."""
        x, v = state.particles
        return self.lag(placed, x + h * v, state.shapes[0] + h * state.drift)

    def thrust(self, placed: Placed, past: Past, q: FloatArray, rate: FloatArray) -> FloatArray:
        """-Uᵀ Aᵀ M w, (r,), at the end of a step, with coordinates q and their velocities there: w = Ä (X + U q) + ẗ,
        which is a difference of places, and 2 Ȧ U q̇."""
        here, w = self.positions(placed, q), np.zeros((len(self.vertices), 3))
        turn = np.zeros_like(placed.A)
        for pose, first, second in zip(past.poses, (*past.first, 0.0), past.second, strict=False):
            then = self.place(pose)
            w += second * (self.positions(then, q) - here)
            turn += first * (then.A - placed.A)
        moved = (self._columns @ rate).reshape(-1, 3, 1)
        w += 2.0 * (turn @ moved)[:, :, 0]
        return -np.asarray((w[:, None, :] @ placed.A).ravel() @ self._weighted)

    def brake(self, placed: Placed, past: Past, q: FloatArray) -> FloatArray:
        """-Uᵀ Aᵀ M times the velocity of the skinning at the end of a step, (r,)."""
        total = np.zeros(len(q))
        for pose, first in zip(past.poses, past.first, strict=False):
            total -= first * self.lag(placed, self.positions(self.place(pose), q), q)
        return total

    def ease(self, placed: Placed, force: FloatArray) -> FloatArray:
        """Accelerations of the coordinates by a force on them, (r,)."""
        D = self.stretch(placed)
        return force if D is None else np.asarray(np.linalg.solve(np.eye(len(D)) + D, force), np.float64)

    def widen(self, placed: Placed, motion: Motion, damping: float) -> list[tuple[FloatArray, FloatArray]]:
        """M (r, r) and pull (r,) of D in inertia and drag by mass; nothing where frames are rotations."""
        D = self.stretch(placed)
        if D is None:
            return []
        ca, drag = motion.ca, motion.cv * damping
        return [((ca + drag) * D, D @ (ca * motion.xa + drag * motion.xv))]
