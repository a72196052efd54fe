"""Where a rig goes and turns as a whole, told apart from how it is posed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.rig.motion import root_columns
from supple.rig.pose import check_pose
from supple.rig.rig import Rig
from supple.rig.turns import turn_rows

__all__ = ["Root", "turn_between"]

FloatArray = NDArray[np.float64]

_SAME = 1e-6  # of the body's size: how far a turned rig may be from the rig turned
_TRIAL = (0.3, -0.2, 0.4, 0.7, -0.4, 0.5)  # a place and a turn that nothing is symmetric in
_WATCHED = 32  # vertices that the trial looks at


@dataclass(frozen=True, eq=False)
class Root:
    """The controls of a rig that move all of it rigidly, if there are any."""

    controls: tuple[str, ...]
    neutral: FloatArray
    """(p,)"""
    columns: tuple[int, ...]
    """Of the root's place and rotation vector in a pose, (6,) or none."""

    @classmethod
    def of(cls, rig: Rig) -> Root:
        """The root of a skeleton, unless something above it does not turn with it."""
        found = cls(tuple(rig.controls), rig.neutral, tuple(root_columns(rig.controls)))
        return found if not found.columns or _turns_all(rig, found) else cls(found.controls, found.neutral, ())

    @property
    def turns(self) -> bool:
        """Whether there is one."""
        return len(self.columns) > 0

    def still(self, pose: FloatArray) -> FloatArray:
        """The pose with its root where it is in the neutral one, (p,)."""
        given = check_pose(pose, self.controls)
        if not self.columns:
            return given
        kept, first, last = given.copy(), self.columns[0], self.columns[-1] + 1
        kept[first:last] = self.neutral[first:last]
        return kept

    def turn(self, pose: FloatArray) -> FloatArray:
        """R₀, (3, 3): what turns the rig in the still pose to the rig in this one."""
        if not self.columns:
            return np.eye(3)
        return turn_between(np.asarray(pose, np.float64), self.neutral, self.columns[3])


@njit(cache=True)
def turn_between(pose: FloatArray, neutral: FloatArray, column: int) -> FloatArray:
    """The rotation vectors that begin in a column, the one after the other undone, (3, 3)."""
    here = turn_rows(pose[column], pose[column + 1], pose[column + 2])
    there = turn_rows(neutral[column], neutral[column + 1], neutral[column + 2])
    turn = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            turn[i, j] = here[i][0] * there[j][0] + here[i][1] * there[j][1] + here[i][2] * there[j][2]
    return turn


def _turns_all(rig: Rig, root: Root) -> bool:
    """Whether a trial of the root moves the whole rig rigidly, about what it is in a pose that is not neutral."""
    still = rig.neutral + 0.1
    still[list(root.columns)] = rig.neutral[list(root.columns)]
    moved = still.copy()
    moved[list(root.columns)] += _TRIAL
    vertices = np.unique(np.linspace(0, len(rig.rest) - 1, _WATCHED).astype(np.int64))
    before, after = rig.positions(still, vertices), rig.positions(moved, vertices)
    gone = (after - after[0]) - (before - before[0]) @ root.turn(moved).T
    return bool(np.abs(gone).max() <= _SAME * np.ptp(rig.rest, axis=0).max())
