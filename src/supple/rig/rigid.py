"""Joint transforms from elsewhere: rotations and translations, or refused by name."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.errors import SceneError

__all__ = ["check_rigid"]

FloatArray = NDArray[np.float64]

_TOLERANCE = 1e-4  # of a stretch: what single precision and a long hierarchy leave in a file


def check_rigid(matrices: ArrayLike, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """R (j, 3, 3) and t (j, 3) of matrices (j, 4, 4) with x = M X; R is the rotation nearest to each.

    A joint that is scaled, sheared, mirrored or not finite is refused by its name.
    """
    given = as_floats(matrices, "check_rigid(matrices)", (len(names), 4, 4), finite=False)
    finite = np.isfinite(given).all(axis=(1, 2))
    if not finite.all():
        raise SceneError(f"the transform of joint '{names[int(np.argmin(finite))]}' is not finite: correct it.")
    U, stretch, V = np.linalg.svd(given[:, :3, :3])
    R = np.asarray(U @ V)
    for name, mirrored, s in zip(names, np.linalg.det(R) < 0.0, stretch, strict=True):
        if mirrored:
            raise SceneError(f"joint '{name}' has a negative scale: apply the scale where the rig was made.")
        if np.abs(s - 1.0).max() > _TOLERANCE:
            uniform = s[0] - s[2] <= _TOLERANCE * s[0]
            factor = f"scaled by {s[0]:.4g}" if uniform else f"scaled unevenly by {s[2]:.4g} to {s[0]:.4g}"
            raise SceneError(f"joint '{name}' is {factor}: apply the scale where the rig was made.")
    return R, np.ascontiguousarray(given[:, :3, 3])
