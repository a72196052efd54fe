"""Bones that go anywhere on their own, as motions record them that know no joints."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.rig.skeleton import Skeleton

__all__ = ["FreeBones"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FreeBones(Skeleton):
    """A skeleton whose pose is a rotation vector [rad] and a shift [m] for every bone, (6 j,): x = R X + t.

    Parents say only which bones are neighbours; build one with `FreeBones.of`.
    """

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """A name for every entry of a pose."""
        return tuple(f"{name}.{axis}" for name in self.names for axis in ("x", "y", "z", "tx", "ty", "tz"))

    @property
    def neutral(self) -> FloatArray:
        """The pose of rest, (6 j,)."""
        return np.zeros(6 * len(self))

    def transforms(self, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R (j, 3, 3) and t (j, 3) that take points of each bone from rest to the pose."""
        turns, shifts = np.split(self.check(pose).reshape(-1, 6), 2, axis=1)
        return Rotation.from_rotvec(turns).as_matrix(), np.ascontiguousarray(shifts)

    @property
    def spans(self) -> FloatArray:
        """How far each entry of a pose moves its point at most [m], (6 j,)."""
        reach = np.linalg.norm(self.heads, axis=1) + np.linalg.norm(self.tails - self.heads, axis=1)
        rows = np.column_stack([np.repeat(reach[:, None], 3, axis=1), np.ones((len(self), 3))])
        return np.asarray(np.sqrt(2.0) * rows.ravel())

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], (12 j,): where the bones' heads are, and their rotations by the bones' lengths."""
        R, t = self.transforms(pose)
        heads = np.einsum("jik,jk->ji", R, self.heads) + t
        lengths = np.linalg.norm(self.tails - self.heads, axis=1)
        return np.column_stack([heads, lengths[:, None] * R.reshape(-1, 9) / np.sqrt(2.0)]).ravel()
