"""The reduced elements of a skinned body: F = F₀(p) + G(p) q, made anew for every pose on the elements of a rule.

Vertices are at x = A (X + U q) + t, with A and t those of the skinning. F₀ is the deformation gradient of A X + t and
G = B A U: neither costs anything for vertices beside the rule's.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body
from supple.linalg.jit import njit
from supple.material.response import Response
from supple.rig import SkinnedRig

__all__ = ["SkinnedElements", "hat_gradients", "restrict_rig"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SkinnedElements:
    """Weighted elements of a skinned body as seen from a subspace; `pose` puts them into a pose."""

    elements: ReducedElements
    """The elements in the pose they were put into last; its arrays are overwritten by the next."""
    rig: SkinnedRig
    """Of the rule's vertices alone."""
    corners: NDArray[np.int32]
    """Vertices of each element, by their number in `rig`, (c, 4)."""
    hats: FloatArray
    """Gradients of the corners' shape functions [1/m], (c, 4, 3)."""
    columns: FloatArray
    """U at the rule's vertices, (k, 3, r)."""
    vertices: NDArray[np.int32]
    """Numbers of the rule's vertices in the body, (k,)."""

    @classmethod
    def build(
        cls, body: Body, rig: SkinnedRig, columns: FloatArray, members: NDArray[np.integer], weights: FloatArray
    ) -> "SkinnedElements":
        """The elements `members` of a body, each counted `weights` times, for displacements U q with U (3 n, r)."""
        everything = ElementMap(body)
        order = _order_by_kind(body, everything.part[members])
        who = np.asarray(members)[order]
        elements = ReducedElements.build(body, columns, who, np.asarray(weights)[order])
        vertices, corners = np.unique(everything.tets[who], return_inverse=True)
        return cls(
            elements,
            restrict_rig(rig, vertices),
            np.ascontiguousarray(corners.reshape(-1, 4), np.int32),
            hat_gradients(everything.inverse[who]),
            np.ascontiguousarray(columns.reshape(len(columns) // 3, 3, columns.shape[1])[vertices]),
            vertices,
        )

    def pose(self, pose: FloatArray) -> ReducedElements:
        """The elements in a pose, in memory that the next call uses again."""
        A, t = self.rig.frames(pose)
        own = self.elements
        _fill_elements(A, t, self.rig.rest, self.columns, self.corners, self.hats, own.rest, own.gradient, own.single)
        return own


def restrict_rig(rig: SkinnedRig, vertices: NDArray[np.integer]) -> SkinnedRig:
    """The rig of some vertices alone, in the given order."""
    return replace(rig, influences=rig.influences.pick(vertices), rest=rig.rest[vertices])


def hat_gradients(inverse: FloatArray) -> FloatArray:
    """Gradients of the four shape functions [1/m], (k, 4, 3), from inverse rest edges (k, 3, 3)."""
    return np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)


def _order_by_kind(body: Body, parts: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order in which `ReducedElements` keeps elements of these parts: those of one kind of material together."""
    kind_of: dict[Response, int] = {}
    kinds = np.array([kind_of.setdefault(part.material.response, len(kind_of)) for part in body.parts])
    return np.argsort(kinds[parts], kind="stable")


@njit(cache=True, fastmath={"contract"})
def _fill_elements(
    A: FloatArray,
    t: FloatArray,
    points: FloatArray,
    columns: FloatArray,
    corners: NDArray[np.int32],
    hats: FloatArray,
    rest: FloatArray,
    gradient: FloatArray,
    single: NDArray[np.float32],
) -> None:
    """Fill F₀ (9 c,) and G in double (9 c, r) and single precision (c, 9, w)."""
    count, rank = columns.shape[0], columns.shape[2]
    turned, placed = np.empty((count, 3, rank)), np.empty((count, 3))
    for v in range(count):
        for i in range(3):
            a, b, c = A[v, i, 0], A[v, i, 1], A[v, i, 2]
            placed[v, i] = a * points[v, 0] + b * points[v, 1] + c * points[v, 2] + t[v, i]
            for k in range(rank):
                turned[v, i, k] = a * columns[v, 0, k] + b * columns[v, 1, k] + c * columns[v, 2, k]
    for e in range(len(corners)):
        v0, v1, v2, v3 = corners[e, 0], corners[e, 1], corners[e, 2], corners[e, 3]
        for i in range(3):
            x = placed[v0, i]
            for j in range(3):
                # Edges, not corners: far from the origin their differences keep their digits
                a, b, c = hats[e, 1, j], hats[e, 2, j], hats[e, 3, j]
                row = 9 * e + 3 * i + j
                rest[row] = a * (placed[v1, i] - x) + b * (placed[v2, i] - x) + c * (placed[v3, i] - x)
                for k in range(rank):
                    u = turned[v0, i, k]
                    value = a * (turned[v1, i, k] - u) + b * (turned[v2, i, k] - u) + c * (turned[v3, i, k] - u)
                    gradient[row, k] = value
                    single[e, 3 * i + j, k] = value
