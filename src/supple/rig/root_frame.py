"""The frame of a rig's root: where a character goes and turns as a whole, apart from the shape of its pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.rig.motion import root_columns
from supple.rig.pose import check_pose
from supple.rig.rig import Rig

__all__ = ["RootFrame"]

FloatArray = NDArray[np.float64]

_TRIAL = 0.1  # of every control's unit: a pose in which a root that does not carry everything shows
_RIGID = 1e-9  # of the body's size: what round-off leaves


@dataclass(frozen=True, eq=False)
class RootFrame:
    """Φ(p) = c + R₀ Φ(still(p)), where the still pose has its root at rest.

    A rig without a skeleton, or with layers that the root does not carry along, has no root: then R₀ = I.
    """

    rig: Rig
    columns: tuple[int, ...]
    """Of the root in a pose: three of its place, three of its turn; or none."""

    @classmethod
    def of(cls, rig: Rig) -> RootFrame:
        """The root of a rig, found by name and tried in a pose."""
        columns = tuple(root_columns(rig.controls))
        found = cls(rig, columns)
        return found if not columns or found._carries() else cls(rig, ())

    def still(self, pose: FloatArray) -> FloatArray:
        """The same pose with the root at rest, (p,)."""
        found = check_pose(pose, self.rig.controls).copy()
        found[list(self.columns)] = self.rig.neutral[list(self.columns)]
        return found

    def turn(self, pose: FloatArray) -> FloatArray:
        """R₀, from the still pose to the given one, (3, 3)."""
        if not self.columns:
            return np.eye(3)
        turned = list(self.columns[3:])
        here, rest = Rotation.from_rotvec(pose[turned]), Rotation.from_rotvec(self.rig.neutral[turned])
        return np.asarray((here * rest.inv()).as_matrix())

    def point(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m] among others, wherever the root is, (e,)."""
        return self.rig.embed(self.still(pose))

    def shape(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are seen from the root [m], (k, 3)."""
        return self.rig.positions(self.still(pose), vertices)

    def _carries(self) -> bool:
        """Whether the root takes everything along, as far as one pose tells."""
        pose = self.rig.neutral + _TRIAL * np.random.default_rng(0).standard_normal(len(self.rig.neutral))
        moved, seen = self.rig.positions(pose), self.shape(pose) @ self.turn(pose).T
        apart = moved - seen
        return float(np.abs(apart - apart[0]).max()) <= _RIGID * float(np.ptp(self.rig.rest, axis=0).max())
