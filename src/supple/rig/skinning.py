"""A rig of skinned vertices: each follows the joints that have weight there."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, check_type, remember
from supple.errors import SceneError, SuppleWarning
from supple.rig import dual_quaternion, linear_blend
from supple.rig.influences import Influences
from supple.rig.skeleton import Skeleton
from supple.rig.turns import nearest_rotations

__all__ = ["Mode", "SkinnedRig"]

FloatArray = NDArray[np.float64]
Mode = Literal["linear", "dual_quaternion"]

_DOUBTFUL, _HOPELESS = 1e3, 1e10  # condition numbers: digits lost when a linear blend is undone


class _Blend(NamedTuple):
    """The two questions a way of blending answers."""

    points: Callable[..., FloatArray]
    frames: Callable[..., tuple[FloatArray, FloatArray]]


_BLENDS: dict[str, _Blend] = {
    "linear": _Blend(linear_blend.blend_points, linear_blend.blend_frames),
    "dual_quaternion": _Blend(dual_quaternion.blend_points, dual_quaternion.blend_frames),
}


@dataclass(frozen=True, eq=False)
class SkinnedRig:
    """x = A X + t, with A and t of each vertex blended from its joints' motions ([TMDK15] 4.1).

    A is a pure rotation for dual quaternions. Under linear blending it is affine, and singular where joints are turned
    against each other by half a turn.
    """

    skeleton: Skeleton
    influences: Influences
    rest: FloatArray
    """Positions in the neutral pose [m], (n, 3)."""
    mode: Mode = "dual_quaternion"

    def __post_init__(self) -> None:
        check_type(self.skeleton, "SkinnedRig(skeleton)", Skeleton, "a Skeleton", "Use Skeleton.of.")
        check_type(self.influences, "SkinnedRig(influences)", Influences, "Influences", "Use Influences.of.")
        remedy = "Give one position for every weighted vertex."
        remember(
            self, rest=as_floats(self.rest, "SkinnedRig(rest)", (len(self.influences), 3), unit="m", remedy=remedy)
        )
        if self.mode not in _BLENDS:
            raise SceneError(f"there is no skinning '{self.mode}': use one of {', '.join(_BLENDS)}.")
        for joint in (int(self.influences.joints.min()), int(self.influences.joints.max())):
            if not 0 <= joint < len(self.skeleton):  # compiled loops would read past the table
                raise SceneError(
                    f"the weights name joint {joint} of a skeleton with {len(self.skeleton)} joints: "
                    "give their skeleton."
                )

    @property
    def neutral(self) -> FloatArray:
        """The pose of rest, (p,)."""
        return self.skeleton.neutral

    @property
    def controls(self) -> tuple[str, ...]:
        """A name for every entry of a pose, (p,)."""
        return self.skeleton.controls

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m] whose Euclidean distances compare poses."""
        return self.skeleton.embed(pose)

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        return self.push_forward(pose, self.rest if vertices is None else self.rest[vertices], vertices)

    def push_forward(
        self, pose: FloatArray, points: ArrayLike, vertices: NDArray[np.integer] | None = None
    ) -> FloatArray:
        """x = A (X + u) + t for displaced rest positions X + u [m] of all vertices or the chosen ones, (k, 3)."""
        chosen = self.influences.pick(vertices)
        given = _check_points(points, len(chosen))
        R, t = self.skeleton.transforms(pose)
        return _BLENDS[self.mode].points(R, t, chosen.joints, chosen.weights, given)

    @property
    def is_whole(self) -> bool:
        """Whether it must see all points to move one of them: it need not."""
        return False

    def move(self, pose: FloatArray, points: FloatArray, vertices: NDArray[np.integer] | None) -> FloatArray:
        """`push_forward`, as a layer on another rig is asked."""
        return self.push_forward(pose, points, vertices)

    def frames(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> tuple[FloatArray, FloatArray]:
        """A (k, 3, 3), the Jacobian of skinning, and t [m], (k, 3), of all vertices or the chosen ones: x = A X + t."""
        chosen = self.influences.pick(vertices)
        R, t = self.skeleton.transforms(pose)
        return _BLENDS[self.mode].frames(R, t, chosen.joints, chosen.weights)

    def frames_in(
        self, R: FloatArray, t: FloatArray, vertices: NDArray[np.integer] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The same in several poses at once, whose transforms are R (s, j, 3, 3) and t (s, j, 3) [m]: A (s, k, 3, 3)
        and t [m], (s, k, 3)."""
        chosen, (poses, joints) = self.influences.pick(vertices), R.shape[:2]
        own = chosen.joints + joints * np.arange(poses, dtype=np.int32)[:, None, None]
        weights = np.tile(chosen.weights, (poses, 1))
        blend = _BLENDS[self.mode].frames
        A, shift = blend(R.reshape(-1, 3, 3), t.reshape(-1, 3), own.reshape(weights.shape), weights)
        return A.reshape(poses, len(chosen.joints), 3, 3), shift.reshape(poses, len(chosen.joints), 3)

    def turns(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Rotations of the skin at all vertices or the chosen ones, (k, 3, 3); of a linear blend, the nearest ones."""
        A = self.frames(pose, vertices)[0]
        return A if self.mode == "dual_quaternion" else nearest_rotations(A)

    def place_and_turn(self, pose: FloatArray, points: FloatArray | None = None) -> FloatArray:
        """Where all vertices are in a pose [m], and `turns` there, row by row, (n, 12); by default at rest before, else
        at displaced points [m], (n, 3)."""
        given = self.rest if points is None else points
        if self.mode == "dual_quaternion":
            R, t = self.skeleton.transforms(pose)
            return dual_quaternion.blend_places(R, t, self.influences.joints, self.influences.weights, given)
        A, t = self.frames(pose)
        x = (A @ given[:, :, None])[:, :, 0] + t
        return np.concatenate([x, nearest_rotations(A).reshape(-1, 9)], axis=1)

    def pull_back(self, pose: FloatArray, x: ArrayLike, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """X + u [m], (k, 3), of all vertices or the chosen ones from where they are in a pose, x [m], (k, 3).

        To round-off with dual quaternions. A nearly singular linear blend is named in a warning, one that cannot be
        undone is refused.
        """
        A, t = self.frames(pose, vertices)
        offset = _check_points(x, len(A)) - t
        if self.mode == "dual_quaternion":
            return np.asarray(np.einsum("kji,kj->ki", A, offset))
        self._name_singular(A, vertices)
        return np.asarray(np.linalg.solve(A, offset[:, :, None])[:, :, 0])

    def _name_singular(self, A: FloatArray, vertices: NDArray[np.integer] | None) -> None:
        """Warn of, or refuse, the linear blend that is hardest to undo."""
        rows = A[:, 0], A[:, 1], A[:, 2]
        cofactors = np.stack([np.cross(rows[k - 2], rows[k - 1]) for k in range(3)], axis=1)
        sizes = np.linalg.norm(A, axis=(1, 2)) * np.linalg.norm(cofactors, axis=(1, 2))
        if (sizes < _DOUBTFUL * np.abs((rows[0] * cofactors[:, 0]).sum(axis=1))).all():
            return  # no condition number is above |A| |A⁻¹|
        stretch = np.linalg.svd(A, compute_uv=False)
        with np.errstate(divide="ignore"):
            conditions = stretch[:, 0] / stretch[:, 2]
        worst = int(np.argmax(conditions))
        if conditions[worst] < _DOUBTFUL:
            return
        vertex = worst if vertices is None else int(vertices[worst])
        joint = self.skeleton.names[self.influences.joints[vertex, 0]]
        sentence = (
            f"the linear blend at vertex {vertex}, near joint '{joint}', is almost flat in this pose "
            f"(condition number {conditions[worst]:.3g}): use dual quaternions, or turn the joint less."
        )
        if conditions[worst] > _HOPELESS:
            raise SceneError(sentence)
        warnings.warn(sentence, SuppleWarning, stacklevel=3)


def _check_points(points: ArrayLike, count: int) -> FloatArray:
    return as_floats(points, "points", (count, 3), unit="m", finite=False)
