"""How much each example counts in a pose: interpolation with the radial function φ(r) = r."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from supple.arguments import as_floats, refuse
from supple.errors import SceneError
from supple.linalg.jit import njit

__all__ = ["TOO_CLOSE", "PoseWeights", "share_examples_into", "weigh_examples_into"]

FloatArray = NDArray[np.float64]

#: Examples nearer to each other than this share of the spread of all are one pose.
TOO_CLOSE = 1e-6
_NOTHING = 1e-6  # weights below this are none, so that what is summed by them is short


class PoseWeights:
    """The normalised weights of Eq. (2) of [XB16]: 1 for an example in its own pose, 0 in those of the others.

    They sum to 1 and are continuous, but go negative between and beyond examples: what must stay positive, such as
    cubature weights and moduli, is to be clamped or interpolated in its logarithm.
    """

    def __init__(self, points: ArrayLike) -> None:
        """`points`: the examples' poses as `Rig.embed` gives them [m], (k, e)."""
        self.points: FloatArray = np.array(as_floats(points, "PoseWeights(points)", ("k", "e"), unit="m"))
        if not len(self.points):
            refuse("PoseWeights(points)", "none", "one example or more, (k, e)")
        distances = cdist(self.points, self.points)
        _refuse_twins(distances)
        # A matrix of distances between different points is invertible, but for the 1 x 1 one
        self.trained: FloatArray = np.linalg.inv(distances) if len(distances) > 1 else np.zeros((1, 1))
        """ŵ of Eq. (2), (k, k)."""

    def __len__(self) -> int:
        return len(self.points)

    def at(self, embedded: ArrayLike) -> FloatArray:
        """Weight of every example at a point [m] of shape (e,), (k,)."""
        weights = np.empty(len(self))
        weigh_examples_into(self.points, self.trained, np.asarray(embedded, np.float64), weights)
        return weights

    def shares(self, embedded: ArrayLike) -> FloatArray:
        """The same weights for what must stay positive: none below 0, and still 1 in all, (k,)."""
        weights = np.empty(len(self))
        share_examples_into(self.points, self.trained, np.asarray(embedded, np.float64), weights)
        return weights


@njit(cache=True)
def share_examples_into(points, trained, point, weights):
    """Fill weights (k,) with `PoseWeights.shares`, for compiled loops."""
    weigh_examples_into(points, trained, point, weights)
    total = 0.0
    for k in range(weights.size):
        if not weights[k] > _NOTHING:
            weights[k] = 0.0
        total += weights[k]
    for k in range(weights.size):
        weights[k] /= total


@njit(cache=True)
def weigh_examples_into(points, trained, point, weights):
    """Fill weights (k,) with `PoseWeights.at`."""
    count = len(points)
    if count == 1:
        weights[0] = 1.0
        return
    total = 0.0
    for k in range(count):
        weights[k] = 0.0
    for j in range(count):
        square = 0.0
        for i in range(point.size):
            square += (point[i] - points[j, i]) ** 2
        apart = np.sqrt(square)
        for k in range(count):
            weights[k] += trained[k, j] * apart
    for k in range(count):
        total += weights[k]
    # Never below ½: with a = Φ⁻¹1, the distance between the measures a/|a| and a Dirac in the pose is real
    for k in range(count):
        weights[k] /= total


def _refuse_twins(distances: FloatArray) -> None:
    if len(distances) < 2:
        return
    apart = distances + np.diag(np.full(len(distances), np.inf))
    first, second = np.unravel_index(np.argmin(apart), apart.shape)
    if apart[first, second] <= TOO_CLOSE * distances.max():
        raise SceneError(
            f"examples {first} and {second} are {apart[first, second]:.3g} m apart in pose space, as good as the same "
            "pose: keep one of them."
        )
