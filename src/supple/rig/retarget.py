"""Retargeting: the motion of one skeleton for another one, by the names of their joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from supple.errors import SceneError
from supple.rig.correspondence import Correspondence
from supple.rig.motion import Motion
from supple.rig.skeleton import Skeleton

__all__ = ["Retargeted", "retarget"]

FloatArray = NDArray[np.float64]

#: A rest pose stands on the ground when its lowest point is this near to height zero, as a share of the hips' height.
ON_GROUND = 0.1


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A motion for another skeleton, and what was assumed to make it."""

    motion: Motion
    same: tuple[str, ...]
    """Joints of the target matched by name but for case and punctuation, or as told."""
    assumed: tuple[tuple[str, str], ...]
    """Joints of source and target whose names were taken to mean the same."""
    source_only: tuple[str, ...]
    """Joints of the source without a partner; what they turn reaches the matched ones below them."""
    target_only: tuple[str, ...]
    """Joints of the target without a partner; they follow their parents, or above all partners what is below them."""
    scale: float
    """Travel of the target by that of the source."""
    scaled_by: str
    """What the scale compares."""
    axes: FloatArray
    """Rotation from the source's axes to the target's, (3, 3)."""

    def lines(self) -> tuple[str, ...]:
        """The report in words, one line a fact."""
        told = [f"{len(self.same) + len(self.assumed)} joints matched, {len(self.assumed)} of them by assumption"]
        if self.assumed:
            told.append("assumed to be the same: " + ", ".join(f"{a} = {b}" for a, b in self.assumed))
        if self.source_only:
            told.append("without a partner in the source: " + ", ".join(self.source_only))
        if self.target_only:
            told.append("without a partner in the target: " + ", ".join(self.target_only))
        told.append(f"travel scaled by {self.scale:.4g} ({self.scaled_by})")
        if not np.array_equal(self.axes, np.eye(3)):
            angle = np.rad2deg(Rotation.from_matrix(self.axes).magnitude())
            told.append(f"the source turned by {angle:.0f} degrees to lie as the target does")
        return tuple(told)


def retarget(
    motion: Motion,
    source: Skeleton,
    target: Skeleton,
    names: Mapping[str, str] | None = None,
    axes: ArrayLike | None = None,
    up: Literal["x", "y", "z"] = "y",
) -> Retargeted:
    """The source's motion for the target: every matched bone points where its partner points.

    `names` gives joints of the source by joints of the target; the others are matched by name. Where bones point
    elsewhere at rest (arms held out, arms held down), what lies between is taken out. `axes` is the rotation from the
    source's axes to the target's; without it quarter turns are, where they make the rest poses clearly more alike.
    Travel is scaled by the length of the legs, or of all bones where there are none; `up` is the target's.
    """
    if motion.controls != source.controls:
        raise SceneError("the motion does not belong to the source skeleton: give the skeleton it came with.")
    match = Correspondence.of(source, target, names or {})
    turn = match.find_axes() if axes is None else _check_axes(axes)
    scale, scaled_by = match.lengths()
    frames = [source.transforms(pose) for pose in motion.poses]
    poses = _turn_joints(match, turn, np.array([R for R, _ in frames]))
    anchor = match.partners[match.anchor]
    heads = np.array([R[anchor] @ source.heads[anchor] + t[anchor] for R, t in frames])
    places = _place(match, turn, scale, heads, "xyz".index(up))
    for pose, place in zip(poses, places, strict=True):
        R, t = target.transforms(pose)
        pose[:3] = place - R[match.anchor] @ target.heads[match.anchor] - t[match.anchor]
    made = Motion.of(target, motion.times, poses, motion.between)
    if motion.gain is not None:
        made = replace(made, gain=np.where(np.arange(poses.shape[1]) < 3, poses[-1] - poses[0], 0.0))
    return _report(match, made, scale, scaled_by, turn)


def _check_axes(axes: ArrayLike) -> FloatArray:
    turn = np.asarray(axes, np.float64)
    if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) or np.linalg.det(turn) < 0.0:
        raise SceneError("`axes` is not a rotation matrix: give 3 x 3 numbers with orthonormal rows and no mirroring.")
    return turn


def _turn_joints(match: Correspondence, axes: FloatArray, turned: FloatArray) -> FloatArray:
    """Poses of the target without travel, (k, p), from how the source's bones turned in the world, (k, j, 3, 3)."""
    aligned = match.align_rests(axes)
    still = np.broadcast_to(np.eye(3), (len(turned), 3, 3))
    world: list[FloatArray] = []
    poses = np.zeros((len(turned), 3 + 3 * len(match.target)))
    for k, parent in enumerate(match.target.parents.tolist()):
        above = still if parent < 0 else world[parent]
        partner = match.partners.get(k, match.leaders.get(k))
        lay = aligned.get(k, np.eye(3))
        world.append(above if partner is None else axes @ turned[:, partner] @ axes.T @ lay)
        own = above.transpose(0, 2, 1) @ world[k]
        poses[:, 3 + 3 * k : 6 + 3 * k] = Rotation.from_matrix(own).as_rotvec()
    return poses


def _place(match: Correspondence, axes: FloatArray, scale: float, heads: FloatArray, up: int) -> FloatArray:
    """Where the target's anchor goes [m], (k, 3), from where the source's goes, by their places in a standing rest.

    Many files keep their rest with the hips in the origin and move them to their height above the ground; that shows
    in the height of the motion.
    """
    there, stand_there, _ = _stand(match.source, match.partners[match.anchor], axes, up)
    here, stand_here, grounded = _stand(match.target, match.anchor, np.eye(3), up)
    moved = heads @ axes.T
    height = float(np.median(moved[:, up]))
    if abs(height - stand_there) < abs(height - there[up]):
        there[up] = stand_there
        here[up] = here[up] if grounded else stand_here
    return np.asarray(scale * (moved - there) + here)


def _stand(skeleton: Skeleton, joint: int, axes: FloatArray, up: int) -> tuple[FloatArray, float, bool]:
    """A joint's place at rest [m], its height above the lowest point [m], and whether that point is on the ground."""
    place = axes @ skeleton.heads[joint]
    lowest = float((np.concatenate([skeleton.heads, skeleton.tails]) @ axes[up]).min())
    height = float(place[up]) - lowest
    return place, height, abs(lowest) <= ON_GROUND * height


def _report(match: Correspondence, motion: Motion, scale: float, scaled_by: str, axes: FloatArray) -> Retargeted:
    source, target = match.source.names, match.target.names
    used = set(match.partners.values())
    return Retargeted(
        motion,
        same=tuple(target[k] for k in match.partners if k not in match.guessed),
        assumed=tuple((source[m], target[k]) for k, m in match.partners.items() if k in match.guessed),
        source_only=tuple(name for m, name in enumerate(source) if m not in used),
        target_only=tuple(name for k, name in enumerate(target) if k not in match.partners),
        scale=scale,
        scaled_by=scaled_by,
        axes=axes,
    )
