"""A smooth curve through control points."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, refuse
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
        self.points: FloatArray = np.array(as_floats(points, f"Wire(curves['{name}'])", ("c", 3), unit="m"))
        if len(self.points) < 2:
            refuse(f"Wire(curves['{name}'])", f"shape {self.points.shape}", "two points or more, (c, 3)")
        spans = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        if not (spans > 1e-9 * spans.sum()).all():
            raise SceneError(f"two neighbouring points of wire '{name}' coincide: correct them.")
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
