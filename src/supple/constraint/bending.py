"""Shells that resist bending: the mean-curvature vector of every inner vertex keeps its length.

The cotangent Laplacian over the area of a vertex is the vector (κ1 + κ2) n, so a plate's energy D/2 (κ1 + κ2)² per
area, D = E t³/(12 (1 - ν²)), is a constraint of weight D times area. Appendix A of [BEH18]: the vector must stay on
the same side of the surface, so that no dent stays behind. Here that side is told by the normal of one fixed triangle
at the vertex, and a vector on the wrong side is mirrored at its plane, which changes nothing at the plane itself.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.arguments import check_number
from supple.constraint.constraint import Constraint
from supple.constraint.gradients import refuse_flat
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.errors import MaterialError, MeshError
from supple.linalg.small import point
from supple.mesh import TriMesh

__all__ = ["Bending", "flexural_rigidity"]

FloatArray = NDArray[np.float64]
_SIDED = 0.1  # share of the vector along the normal from which on it has a side


def flexural_rigidity(young: float, poisson: float, thickness: float) -> float:
    """D [N m] of a plate of Young's modulus [Pa], Poisson's ratio and thickness [m]."""
    return young * thickness**3 / (12.0 * (1.0 - poisson**2))


@point
def bending(t, l):
    x, y, z = t[VALUE, l], t[VALUE + 1, l], t[VALUE + 2, l]
    n0, n1, n2 = t[VALUE + 3, l], t[VALUE + 4, l], t[VALUE + 5, l]
    target, side = t[PARAMETERS, l], t[PARAMETERS + 1, l]
    length, along = np.sqrt(x * x + y * y + z * z), x * n0 + y * n1 + z * n2
    mirror = 2.0 * along if along * side < 0.0 else 0.0
    some = length > 0.0
    factor = target / (length if some else 1.0)
    t[PROJECTION, l] = factor * (x - mirror * n0) if some else target * side * n0
    t[PROJECTION + 1, l] = factor * (y - mirror * n1) if some else target * side * n1
    t[PROJECTION + 2, l] = factor * (z - mirror * n2) if some else target * side * n2
    a, b, c = x - t[PROJECTION, l], y - t[PROJECTION + 1, l], z - t[PROJECTION + 2, l]
    t[DISTANCE, l] = a * a + b * b + c * c


@dataclass(frozen=True, eq=False)
class Bending(Constraint):
    """Inner vertices of a shell; the first three vertices of a stencil are the triangle that tells the side."""

    kind: ClassVar = "bending"
    lane: ClassVar = bending
    guided: ClassVar = True

    @classmethod
    def build(cls, mesh: TriMesh, rigidity: float) -> "Bending":
        """Every inner vertex of a shell of flexural rigidity D [N m]."""
        check_number(rigidity, "Bending.build(rigidity)", above=0.0, unit="N m", error=MaterialError)
        refuse_flat(mesh)
        if not mesh.is_manifold():
            raise MeshError("the shell has edges of three triangles or pinched vertices: bending needs a manifold.")
        stencils = _curvature_stencils(mesh)
        made = cls(stencils, rigidity * stencils.measure, np.zeros((2, len(stencils))))
        seen = made._seen(mesh.vertices)
        length = np.linalg.norm(seen[:, :3], axis=1)
        along = np.einsum("ei,ei->e", seen[:, :3], seen[:, 3:])
        flat = length**2 * stencils.measure < 1e-12  # turns by less than a millionth over the vertex
        made.parameters[:] = (
            np.where(flat, 0.0, length),
            np.where(flat | (abs(along) < _SIDED * length), 0.0, np.sign(along)),
        )
        return made


def _curvature_stencils(mesh: TriMesh) -> Stencils:
    """Rows of the cotangent Laplacian over a third of the triangles' areas, of vertices that are on no border."""
    triangles, count, areas = mesh.triangles, len(mesh.vertices), mesh.areas()
    corners = mesh.vertices[triangles]
    here, there = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    opposite = np.roll(corners, 1, axis=1)
    one, two = corners - opposite, np.roll(corners, -1, axis=1) - opposite
    half_cotangent = (np.einsum("tci,tci->tc", one, two) / (4.0 * areas[:, None])).ravel()
    pairs = np.concatenate([here, there]), np.concatenate([there, here])
    shape = (count, count)
    laplacian = sp.csr_array((np.tile(half_cotangent, 2), pairs), shape)
    uses = sp.csr_array((np.ones(2 * len(here)), pairs), shape)
    inner = np.flatnonzero(np.diff(laplacian.indptr) > 0)
    inner = np.setdiff1d(inner, np.repeat(np.arange(count), np.diff(uses.indptr))[uses.data == 1.0])
    first = np.full(count, -1)
    first[here[::-1]] = np.arange(len(here))[::-1] // 3  # the first triangle of every vertex
    place = np.argmax(triangles[first[inner]] == inner[:, None], axis=1)
    guide = np.stack([triangles[first[inner], (place + step) % 3] for step in (1, 2)])
    rows = laplacian[inner]
    owner = np.repeat(np.arange(len(inner)), np.diff(rows.indptr))
    rank = np.where(rows.indices == guide[0, owner], 0, np.where(rows.indices == guide[1, owner], 1, 2))
    order = np.lexsort((rows.indices, rank, owner))
    column = 1 + np.arange(len(owner)) - rows.indptr[owner]
    width = 1 + int(np.diff(rows.indptr).max(initial=2))
    area = np.asarray(np.bincount(here, np.repeat(areas / 3.0, 3), minlength=count)[inner], np.float64)
    vertices = np.repeat(inner[:, None], width, axis=1).astype(np.int32)
    operator = np.zeros((len(inner), 1, width))
    vertices[owner, column] = rows.indices[order]
    operator[owner, 0, column] = rows.data[order] / area[owner]
    operator[:, 0, 0] = -operator.sum(axis=(1, 2))
    return Stencils(vertices, operator, area)
