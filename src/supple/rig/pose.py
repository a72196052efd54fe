"""What every rig asks of the poses it is given."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.errors import SceneError

__all__ = ["check_pose"]


def check_pose(pose: ArrayLike, controls: Sequence[str]) -> NDArray[np.float64]:
    """The pose as an array with one finite number for every control, (p,)."""
    given = pose if isinstance(pose, np.ndarray) and pose.dtype == np.float64 else as_floats(pose, "pose", ("p",))
    if given.shape != (len(controls),):
        raise SceneError(f"a pose of shape {given.shape} does not fit a rig of {len(controls)} controls: give as many.")
    # One product says yes at almost no cost; only where it overflows is there a closer look
    if not math.isfinite(given.dot(given)) and not np.isfinite(given).all():
        name = controls[int(np.argmin(np.isfinite(given)))]
        raise SceneError(f"the pose is not a finite number at '{name}': correct it.")
    return given
