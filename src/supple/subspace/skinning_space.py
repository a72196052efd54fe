"""Subspaces of skinning without a rig: affine motions of handles spread over the mesh, blended by compact weights."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.mesh.farthest import Spread
from supple.mesh.geodesic import Geodesics
from supple.subspace.blended import Blended
from supple.subspace.position_space import PositionSpace

__all__ = ["HandleWeights", "falloff", "handle_weights", "skinning_space"]

FloatArray = NDArray[np.float64]


def falloff(t: FloatArray) -> FloatArray:
    """1 at t = 0, 0 from t = 1 on, level at both ends.

    Section 4 of [BEH18] asks for a cubic whose second derivative vanishes at 1, which leaves a kink there.
    """
    t = np.minimum(t, 1.0)
    return np.asarray(1.0 - t * t * (3.0 - 2.0 * t))


@dataclass(frozen=True, eq=False)
class HandleWeights:
    """How much every vertex follows each handle; the weights of a vertex add up to 1."""

    handles: NDArray[np.int32]
    """Vertices, (k,)."""
    radius: float
    """Beyond which a handle has no influence [m]; 0 where every vertex is a handle."""
    weights: sp.csr_array
    """(n, k)"""


def handle_weights(
    graph: Geodesics, spread: Spread, count: int, multiplier: float, among: NDArray[np.integer] | None = None
) -> HandleWeights:
    """Weights of the first `count` of spread vertices, their radius a multiple of how far the mesh is from them.

    Of vertices spread `among` some, no others need follow.
    """
    if not multiplier > 1.0:
        raise SceneError(f"a radius of {multiplier:g} times the covering distance leaves gaps: give more than 1.")
    handles = spread.vertices[:count]
    radius = multiplier * float(spread.cover[len(handles) - 1])
    while True:
        # Ways within a radius may turn out a little longer than when the handles were spread: then widen it
        found = graph.within(handles, radius if radius > 0.0 else np.finfo(float).tiny)
        owners = np.repeat(np.arange(len(handles), dtype=np.int32), np.diff(found.start))
        raw = falloff(found.distances / radius) if radius > 0.0 else np.ones(len(owners))
        shape = (len(graph.points), len(handles))
        weights = sp.csr_array(sp.coo_array((raw, (found.vertices, owners)), shape=shape))
        total = np.asarray(weights.sum(axis=1))
        if (total[slice(None) if among is None else among] > 1e-9).all():
            weights.data /= np.repeat(np.maximum(total, 1e-9), np.diff(weights.indptr))
            return HandleWeights(handles, radius, weights)
        # It is 0 where handles are all vertices of a skin, but not those inside
        radius = max(1.1 * radius, 0.1 * float(spread.nearest.max()))


def skinning_space(
    graph: Geodesics, mass: FloatArray, spread: Spread, count: int, *, multiplier: float = 1.1
) -> PositionSpace:
    """The space of Eqs. (10) to (13) of [BEH18] from the first `count` of spread vertices.

    Handles move affinely in coordinates of their own, (X - X_j) / radius: the same space as with X itself, but numbers
    of one size. A constant column would add nothing, because the weights add up to 1.
    """
    found = handle_weights(graph, spread, count, multiplier)
    W, scale = found.weights, 1.0 / found.radius if found.radius > 0.0 else 0.0
    rows = np.repeat(np.arange(len(graph.points)), np.diff(W.indptr))
    local = scale * (graph.points[rows] - graph.points[found.handles[W.indices]])
    values = W.data[:, None] * np.column_stack([np.ones(len(rows)), local])
    source = f"{len(found.handles)} handles of radius {found.radius:.3g} m"
    starts, handles = W.indptr.astype(np.int64), W.indices.astype(np.int32)
    points = np.ascontiguousarray(graph.points, np.float64)
    blended = Blended.build(W, points, points[found.handles], scale)
    return PositionSpace.build(starts, handles, values, len(found.handles), mass, source, blended)
