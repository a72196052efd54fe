"""A smooth curve through control points."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import SceneError
from supple.rig.cubic_spline import hermite_pieces

__all__ = ["WireCurve"]

FloatArray = NDArray[np.float64]

_PER_SPAN = 8  # samples between two control points


class WireCurve:
    """A smooth curve through c points, sampled at m places; a point that moves bends the two spans on either side.

    Catmull and Rom's cubics over the lengths at rest: linear in the points.
    """

    def __init__(self, name: str, points: ArrayLike) -> None:
        self.points: FloatArray = np.array(points, np.float64)
        if self.points.ndim != 2 or self.points.shape[1] != 3 or len(self.points) < 2:
            raise SceneError(f"wire '{name}' has points of shape {self.points.shape}: give two or more, (c, 3).")
        spans = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        if not (np.isfinite(spans).all() and (spans > 1e-9 * spans.sum()).all()):
            raise SceneError(f"two neighbouring points of wire '{name}' coincide or are not finite: correct them.")
        at = np.concatenate([[0.0], np.cumsum(spans)])
        each = np.eye(len(at))
        pieces = hermite_pieces(at, each, np.asarray(np.gradient(each, at, axis=0)))
        places = np.linspace(0.0, at[-1], _PER_SPAN * len(spans) + 1)
        self.spacing = float(places[1])
        """Between samples [m]."""
        span = np.clip(np.searchsorted(at, places, side="right") - 1, 0, len(spans) - 1)
        c, t = pieces[:, span], (places - at[span])[:, None]
        self.values: FloatArray = c[0] + t * (c[1] + t * (c[2] + t * c[3]))
        """What the points do to the places of the samples, (m, c), and to the slopes there."""
        self.slopes: FloatArray = c[1] + t * (2.0 * c[2] + t * 3.0 * c[3])
        self.samples: FloatArray = self.values @ self.points
        """Places on the curve at rest [m], (m, 3)."""
