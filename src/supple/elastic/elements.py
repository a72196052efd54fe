"""Element data as a value: what kernels take, so that another rest shape or stiffness is another value."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic.clusters import Clusters, cluster
from supple.elastic.kernels import LIGHT_PARALLEL_FROM, PARALLEL_FROM, Kernels, kernels
from supple.elastic.rest_shape import FLAT, measure_rest
from supple.errors import MeshError
from supple.linalg.jit import njit
from supple.material import Material

__all__ = ["Elements"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Elements:
    """Tets of one material, sorted into clusters; every array runs over the elements in its last axis."""

    material: Material
    ids: NDArray[np.int64]
    """Number of each element in the mesh, (m,)."""
    tets: NDArray[np.int32]
    """Vertices in ascending order, (4, m); the order does not matter to F."""
    inverse: FloatArray
    """Inverse of the rest edge matrix [1/m], (9, m)."""
    volume: FloatArray
    """Rest volume [m³], (m,); a cubature weight multiplies it."""
    moduli: FloatArray
    """The material's three numbers, (3, m)."""
    clusters: Clusters
    mass: FloatArray
    """[kg], (m,)"""
    stiffness: FloatArray
    """What the material's energy is multiplied with, (m,); `volume` holds it already."""

    @classmethod
    def build(
        cls,
        vertices: FloatArray,
        tets: NDArray[np.int32],
        material: Material,
        ids: NDArray[np.int64] | None = None,
        weights: FloatArray | None = None,
    ) -> "Elements":
        """The elements `ids` of a mesh (all by default), each counted `weights` times."""
        ids = np.arange(len(tets)) if ids is None else np.asarray(ids, np.int64)
        chosen = np.sort(tets[ids], axis=1)
        corners = vertices[chosen]
        clusters = cluster(corners.mean(axis=1), chosen)
        chosen, corners = chosen[clusters.order], corners[clusters.order]
        edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
        volume = np.abs(np.linalg.det(edges)) / 6.0
        if weights is not None:
            volume = volume * np.asarray(weights, np.float64)[clusters.order]
        moduli = np.repeat(np.array(material.moduli)[:, None], len(ids), axis=1)
        return cls(
            material,
            ids[clusters.order],
            np.ascontiguousarray(chosen.T.astype(np.int32)),
            np.ascontiguousarray(np.linalg.inv(edges).reshape(-1, 9).T),
            volume,
            moduli,
            clusters,
            material.density * volume,
            np.ones(len(ids)),
        )

    @property
    def kernels(self) -> Kernels:
        """The compiled loops over these elements."""
        count = len(self.ids)
        return kernels(self.material.response, count >= PARALLEL_FROM, count >= LIGHT_PARALLEL_FROM)

    @property
    def size(self) -> FloatArray:
        """Volume at rest [m³], (m,), times a cubature weight, without the stiffness."""
        return np.asarray(self.volume / self.stiffness)

    @property
    def wave_speed(self) -> float:
        """Of pressure waves in the element where they are fastest [m/s]."""
        return self.material.wave_speed * float(np.sqrt((self.material.density * self.volume / self.mass).max()))

    def with_stiffness(self, factor: float | FloatArray) -> "Elements":
        """The same elements with their energy multiplied, all alike or each by its own factor, (m,)."""
        return replace(self, volume=self.volume * factor, stiffness=self.stiffness * factor)

    def with_density(self, factor: FloatArray) -> "Elements":
        """The same elements with the mass of each multiplied by its own factor, (m,)."""
        return replace(self, mass=self.mass * factor)

    def renumbered(
        self,
        vertices: FloatArray,
        tets: NDArray[np.int32],
        ids: NDArray[np.int64],
        numbers: NDArray[np.int64] | None = None,
    ) -> "Elements":
        """The elements `ids` of another list of tets, (k, 4), as stiff and as heavy as they are here.

        `numbers` tells which element each of those tets is, (k,); by default their order is the same.
        """
        made = Elements.build(vertices, tets, self.material, ids)
        order = np.argsort(self.ids)
        here = made.ids if numbers is None else numbers[made.ids]
        place = order[np.searchsorted(self.ids, here, sorter=order)]
        return replace(made.with_stiffness(self.stiffness[place]), mass=self.mass[place])

    def chosen(self, rows: NDArray[np.int64], numbers: NDArray[np.integer]) -> "Elements":
        """The elements at the ascending places `rows`, their vertices called by other `numbers`, (n,)."""
        clusters = Clusters(rows, np.array([0, len(rows)]), np.array([0, 1]))
        if len(rows) >= PARALLEL_FROM:  # what is left of a cluster shares no more vertices than it did
            clusters = Clusters(rows, np.searchsorted(rows, self.clusters.start), self.clusters.colour)
        tets, inverse = _choose(self.tets, self.inverse, rows, numbers)
        return replace(
            self,
            ids=self.ids[rows],
            tets=tets,
            inverse=inverse,
            volume=self.volume[rows],
            moduli=np.ascontiguousarray(self.moduli[:, rows]),
            clusters=clusters,
        )

    def with_rest(self, positions: FloatArray, name: str = "the new rest shape") -> "Elements":
        """The same elements, at rest with their vertices at `positions` [m], (n, 3); mass is not theirs to change.

        A rest shape, called `name`, that turns an element inside out is refused.
        """
        inverse, ratio = measure_rest(positions, self.tets, self.inverse)
        bad = ~(ratio > FLAT)  # NaN is bad too
        if bad.any():
            worst = int(np.argmin(np.where(np.isfinite(ratio), ratio, -np.inf)))
            raise MeshError(
                f"{name} flattens or inverts {int(bad.sum())} of {len(ratio):,} tets, the worst tet {self.ids[worst]} "
                f"to {ratio[worst]:.3g} of its volume: turn its joints less, use smoother weights, or fit the tets to "
                "the rig."
            )
        return replace(self, inverse=inverse, volume=self.volume * ratio)

    def deformation(self, x: FloatArray) -> FloatArray:
        """Deformation gradients at positions x [m], shape (m, 3, 3)."""
        corners = x[self.tets]
        edges = (corners[1:] - corners[:1]).transpose(1, 2, 0)
        return np.asarray(edges @ self.inverse.T.reshape(-1, 3, 3))


@njit(cache=True)
def _choose(
    tets: NDArray[np.int32], inverse: FloatArray, rows: NDArray[np.int64], numbers: NDArray[np.integer]
) -> tuple[NDArray[np.int32], FloatArray]:
    """Corners of chosen elements by their new numbers, ascending, (4, k), and inverse rest edges, (9, k): new numbers
    ascend in another order, and shape gradients go with them."""
    corners, shapes = np.empty((4, len(rows)), np.int32), np.empty((9, len(rows)))
    own, order, shape = np.empty(4, np.int64), np.empty(4, np.int64), np.empty((4, 3))
    for k in range(len(rows)):
        e = rows[k]
        for i in range(3):
            shape[0, i] = -(inverse[i, e] + inverse[3 + i, e] + inverse[6 + i, e])
            for a in range(3):
                shape[a + 1, i] = inverse[3 * a + i, e]
        for a in range(4):
            number, at = np.int64(numbers[tets[a, e]]), a
            while at > 0 and own[at - 1] > number:
                own[at], order[at] = own[at - 1], order[at - 1]
                at -= 1
            own[at], order[at] = number, a
        for a in range(4):
            corners[a, k] = own[a]
        for a in range(3):
            for i in range(3):
                shapes[3 * a + i, k] = shape[order[a + 1], i]
    return corners, shapes
