"""The tetrahedral mesh that everything is simulated on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, as_integers, check_number, check_type, remember
from supple.errors import MeshError
from supple.mesh.adjacency import TET_FACES, match_tet_faces, vertex_graph, vertex_labels
from supple.mesh.checks import as_corners, check_cells, check_vertices, drop_unused, plural, read_instead
from supple.mesh.trimesh import TriMesh

__all__ = ["TetMesh", "flat_tets", "refuse_flat_tets", "tet_volumes"]

#: A tet is degenerate below this share of the cube of its longest edge: its volume is round-off.
FLAT = 1e-13


def tet_volumes(vertices: NDArray[np.float64], tets: NDArray[np.int32]) -> NDArray[np.float64]:
    """Signed volumes [m^3] of the tets, shape (m,)."""
    x0, x1, x2, x3 = (vertices[tets[:, corner]] for corner in range(4))
    volumes: NDArray[np.float64] = np.einsum("ij,ij->i", np.cross(x1 - x0, x2 - x0), x3 - x0) / 6.0
    return volumes


@dataclass(frozen=True, eq=False)
class TetMesh:
    """Tets of positive volume over vertices that are all in use; build one with `TetMesh.clean`."""

    vertices: NDArray[np.float64]  #: rest positions [m], shape (n, 3)
    tets: NDArray[np.int32]  #: shape (m, 4), det[x1-x0, x2-x0, x3-x0] > 0
    regions: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Region number of every tet, shape (m,); 0 for all where none is given."""
    region_names: dict[str, int] = field(default_factory=dict)  #: named regions, may be empty
    notes: tuple[str, ...] = ()  #: what was set right on the way in, in a user's words

    def __post_init__(self) -> None:
        read = read_instead(self.vertices)
        vertices = as_floats(self.vertices, "TetMesh(vertices)", ("n", 3), remedy=read, error=MeshError)
        tets = as_corners(self.tets, "TetMesh(tets)", 4, len(vertices), "tet")
        given = np.zeros(len(tets), np.int32) if np.size(self.regions) == 0 else self.regions
        regions = as_integers(given, "TetMesh(regions)", (len(tets),), error=MeshError)
        check_type(self.region_names, "TetMesh(region_names)", Mapping, "numbers by name", error=MeshError)
        remember(self, vertices=vertices, tets=tets, regions=regions, region_names=dict(self.region_names))

    @classmethod
    def clean(
        cls,
        vertices: ArrayLike,
        tets: ArrayLike,
        regions: ArrayLike | None = None,
        region_names: Mapping[str, int] | None = None,
        notes: tuple[str, ...] = (),
    ) -> TetMesh:
        """Checked mesh: inverted tets turned round, unused vertices dropped, each with a note.

        Raises MeshError, naming the first offender, for wrong shapes, non-finite positions, indices out of
        range and flat tets.
        """
        points = check_vertices(vertices)
        cells = check_cells(tets, 4, len(points), "tet")
        numbers = np.zeros(len(cells), dtype=np.int32) if regions is None else np.asarray(regions, dtype=np.int32)
        if numbers.shape != (len(cells),):
            raise MeshError(f"regions has shape {numbers.shape} for {len(cells)} tets; give one number for every tet.")
        volumes = tet_volumes(points, cells)
        refuse_flat_tets(points, cells, volumes)
        inverted = volumes < 0
        if inverted.any():
            cells[inverted] = cells[inverted][:, [0, 1, 3, 2]]
            notes += (f"turned round {plural(int(inverted.sum()), 'inverted tet')}",)
        first = np.sort(np.unique(np.sort(cells, axis=1), axis=0, return_index=True)[1])
        if len(first) < len(cells):
            notes += (f"dropped {plural(len(cells) - len(first), 'tet')} given twice",)
            cells, numbers = cells[first], numbers[first]
        points, cells, dropped = drop_unused(points, cells)
        if dropped:
            notes += (f"dropped {plural(dropped, 'vertex', 'vertices')} that no tet uses",)
        return cls(points, cells, numbers, dict(region_names or {}), notes)

    def volumes(self) -> NDArray[np.float64]:
        """Rest volumes [m^3] of the tets, shape (m,)."""
        return tet_volumes(self.vertices, self.tets)

    @cached_property
    def _neighbours(self) -> NDArray[np.int32]:
        return match_tet_faces(self.tets, len(self.vertices))

    def tet_neighbours(self) -> NDArray[np.int32]:
        """Neighbour of every tet across the face opposite each corner, or -1, shape (m, 4)."""
        return self._neighbours

    def surface_tets(self) -> NDArray[np.int32]:
        """The tet behind every surface triangle, shape (k,), in the order of `surface_triangles`."""
        return np.nonzero(self._neighbours < 0)[0].astype(np.int32)

    def surface_triangles(self) -> NDArray[np.int32]:
        """Boundary triangles as indices into `vertices`, outward oriented, shape (k, 3)."""
        owner, face = np.nonzero(self._neighbours < 0)
        return self.tets[owner[:, None], TET_FACES[face]]

    def surface_vertices(self) -> NDArray[np.int32]:
        """Indices of the vertices on the surface, in the order of `surface().vertices`, shape (s,)."""
        return np.unique(self.surface_triangles())

    def surface(self) -> TriMesh:
        """The boundary as a compact triangle mesh, outward oriented."""
        used = self.surface_vertices()
        triangles = np.searchsorted(used, self.surface_triangles()).astype(np.int32)
        return TriMesh(self.vertices[used], triangles)

    def vertex_neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """CSR `(indptr, indices)` of the vertices each vertex shares an edge with."""
        return vertex_graph(self.tets, len(self.vertices))

    def components(self) -> NDArray[np.int32]:
        """Number of the connected component of every vertex, shape (n,)."""
        return vertex_labels(self.tets, len(self.vertices))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest corner [m] of the bounding box, each of shape (3,)."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def size(self) -> float:
        """Diagonal [m] of the bounding box."""
        low, high = self.bounds()
        return float(np.linalg.norm(high - low))

    def transformed(self, matrix: ArrayLike, offset: ArrayLike = (0.0, 0.0, 0.0)) -> TetMesh:
        """The mesh with every vertex x moved to matrix @ x + offset; the matrix may mirror."""
        linear = as_floats(
            matrix, "TetMesh.transformed(matrix)", (3, 3), remedy="Give an invertible one.", error=MeshError
        )
        shift = as_floats(offset, "TetMesh.transformed(offset)", (3,), unit="m", error=MeshError)
        determinant = float(np.linalg.det(linear))
        if determinant == 0.0:
            raise MeshError("the transform flattens the mesh; give an invertible 3 x 3 matrix.")
        tets = self.tets if determinant > 0 else np.ascontiguousarray(self.tets[:, [0, 1, 3, 2]])
        vertices = self.vertices @ linear.T + shift
        return replace(self, vertices=vertices, tets=tets)

    def scaled(self, factor: float) -> TetMesh:
        """The mesh with all positions multiplied by `factor`, which is above 0."""
        check_number(factor, "TetMesh.scaled(factor)", above=0.0, error=MeshError)
        return replace(self, vertices=self.vertices * factor)


def flat_tets(
    vertices: NDArray[np.float64], tets: NDArray[np.int32], volumes: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which tets have no volume to speak of, shape (m,)."""
    corners = vertices[tets]
    reach = np.max(np.abs(corners - corners[:, :1]), axis=(1, 2))
    flat: NDArray[np.bool_] = ~(np.abs(volumes) > FLAT * reach**3)
    return flat


def refuse_flat_tets(vertices: NDArray[np.float64], tets: NDArray[np.int32], volumes: NDArray[np.float64]) -> None:
    """Refuse tets without volume, naming the first."""
    flat = np.flatnonzero(flat_tets(vertices, tets, volumes))
    if flat.size:
        where = ", ".join(f"{value:.6g}" for value in vertices[tets[flat[0]]].mean(axis=0))
        raise MeshError(
            f"tet {flat[0]} near ({where}) has no volume ({plural(len(flat), 'such tet')} in all); "
            "remove flat tets or mesh the shape again."
        )
