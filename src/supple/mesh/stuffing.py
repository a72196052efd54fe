"""Isosurface stuffing: fill a signed distance with well-shaped tets of one size.

[LS07] Labelle, Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", 2007.
Whatever the surface, every dihedral angle lies between 10.78 and 164.75 degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import MeshError
from supple.linalg.ties import largest_first
from supple.mesh.checks import check_size, drop_unused, plural
from supple.mesh.crossing import Crossings, Distance, choose_warps, evaluate, find_crossings
from supple.mesh.lattice import Lattice
from supple.mesh.manifold import cut_pinches, drop_strays
from supple.mesh.stencil import TET_EDGES, stencil_code, stencil_table
from supple.mesh.target import MissedShape, search_spacing
from supple.mesh.tetmesh import TetMesh

__all__ = ["Distance", "stuff"]

_BLOCK = 2  # cells along the side of a block whose centre decides whether the block needs sampling


@dataclass(frozen=True)
class _Filling:
    """What the stencils leave."""

    lattice: Lattice
    crossings: Crossings
    tets: NDArray[np.int64]  # numbers of lattice points, or of crossings after all lattice points, shape (m, 4)
    moved: NDArray[np.int64]  # lattice points that moved onto the surface, shape (w,)
    targets: NDArray[np.float64]  # where they moved [m], shape (w, 3)


def stuff(
    distance: Distance,
    bounds: tuple[ArrayLike, ArrayLike],
    resolution: int | None = None,
    elements: int | None = None,
    *,
    keep: float = 0.01,
    steepness: float = 1.0,
) -> TetMesh:
    """Tets filling the inside of `distance`, which lies within the box `bounds` [m].

    The size is given by `resolution`, lattice cells along the longest side of the box, or by `elements`, the
    number of tets, met within 10 % (a note tells where no lattice does). Separate pieces with less than the
    share `keep` of the largest piece's volume are dropped. The distance changes by at most `steepness` metres
    a metre.
    """
    size, counts_tets = check_size(resolution, elements)
    low, high = _check_bounds(bounds)
    longest = float((high - low).max())

    def mesh_at(spacing: float, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> TetMesh:
        return _finish(_fill(distance, Lattice.covering(low, high, spacing, shift), steepness), keep)

    return search_spacing(mesh_at, longest, size) if counts_tets else mesh_at(longest / size)


def _check_bounds(bounds: tuple[ArrayLike, ArrayLike]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = (np.asarray(corner, dtype=np.float64) for corner in bounds)
    if low.shape != (3,) or high.shape != (3,) or not np.isfinite(high - low).all() or not (high > low).all():
        raise MeshError(f"bounds {low.tolist()} to {high.tolist()} enclose nothing; give a box with sides above 0.")
    return low, high


def _fill(distance: Distance, lattice: Lattice, steepness: float) -> _Filling:
    values = _sample(distance, lattice, steepness)
    if (values[lattice.border()] < 0).any():
        raise MeshError("the shape reaches beyond its bounds; give a box that encloses all of it.")
    crossings = find_crossings(distance, lattice, values)
    moved, targets = choose_warps(crossings)
    signs = -np.sign(values).astype(np.int8)  # the paper's sign: +1 inside
    signs[moved] = 0
    return _Filling(lattice, crossings, _apply_stencils(lattice, signs, crossings), moved, targets)


def _sample(distance: Distance, lattice: Lattice, steepness: float) -> NDArray[np.float64]:
    """Distance [m] at the points near the surface, elsewhere a value of the right sign, shape (points,)."""
    blocks = [-(-count // _BLOCK) for count in lattice.cells]
    side = _BLOCK * lattice.spacing
    middles = lattice.origin + (np.indices(blocks).reshape(3, -1).T + 0.5) * side
    coarse = evaluate(distance, middles).reshape(blocks)
    for axis, count in enumerate(lattice.cells):
        coarse = np.repeat(coarse, _BLOCK, axis=axis).take(range(count), axis=axis)
    # Half the block's diagonal, and one edge more: both ends of every cut edge must be sampled.
    near = np.abs(coarse) <= steepness * (np.sqrt(3.0) / 2 * side + lattice.spacing)
    corner_near = np.zeros(lattice.corner_shape, dtype=bool)
    for shift in np.ndindex(2, 2, 2):
        corner_near[tuple(slice(s, s + n) for s, n in zip(shift, lattice.cells, strict=True))] |= near
    values = np.concatenate([np.pad(coarse, ((0, 1),) * 3, mode="edge").ravel(), coarse.ravel()])
    wanted = np.flatnonzero(np.concatenate([corner_near.ravel(), near.ravel()]))
    values[wanted] = evaluate(distance, lattice.positions(wanted))
    return values


@cache
def _stencils() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return stencil_table()


def _apply_stencils(lattice: Lattice, signs: NDArray[np.int8], crossings: Crossings) -> NDArray[np.int64]:
    """Positive tets over lattice points and, numbered after them, crossings, shape (m, 4)."""
    pieces, counts = _stencils()
    count = len(signs)
    edge_keys = crossings.ends @ np.array([count, 1])
    output = []
    for family in lattice.tets():
        inside = np.flatnonzero(np.max([signs[points] for points in family.points], axis=0) > 0)
        corners = np.column_stack([points[inside] for points in family.points])
        corner_signs = signs[corners]
        whole = corner_signs.min(axis=1) >= 0
        parts = [corners[whole]]
        mixed, code = corners[~whole], stencil_code(corner_signs[~whole])
        keys = np.sort(mixed[:, TET_EDGES], axis=2) @ np.array([count, 1])
        local = np.concatenate([mixed, count + np.searchsorted(edge_keys, keys)], axis=1)
        for piece in range(pieces.shape[2]):
            rows = np.flatnonzero(counts[family.parity, code] > piece)
            parts.append(local[rows[:, None], pieces[family.parity, code[rows], piece]])
        tets = np.concatenate(parts)
        output.append(tets if family.positive else tets[:, [0, 1, 3, 2]])
    return np.concatenate(output)


def _finish(filling: _Filling, keep: float) -> TetMesh:
    """The mesh without pinches and strays, vertices and tets in the order of space."""
    lattice = filling.lattice
    if len(filling.tets) == 0:
        raise MissedShape("nothing lies inside the shape at this resolution; use a finer mesh or check the surface.")
    used, tets = np.unique(filling.tets, return_inverse=True)
    count = lattice.point_count()
    on_lattice = used < count
    vertices = np.empty((len(used), 3))
    vertices[on_lattice] = lattice.positions(used[on_lattice])
    vertices[~on_lattice] = filling.crossings.points[used[~on_lattice] - count]
    moved = np.isin(filling.moved, used)
    vertices[np.searchsorted(used, filling.moved[moved])] = filling.targets[moved]

    cells, pinched = cut_pinches(vertices, tets.reshape(-1, 4).astype(np.int32))
    cells, strays = drop_strays(vertices, cells, keep)
    notes = []
    if pinched:
        notes.append(f"removed {plural(pinched, 'tet')} where the shape is thinner than the mesh can follow")
    if strays:
        notes.append(f"dropped {plural(strays, 'stray piece')} of the shape")
    vertices, cells, _ = drop_unused(vertices, cells)
    return TetMesh.clean(*_sort_in_space(vertices, cells, lattice.spacing / 2), notes=tuple(notes))


def _sort_in_space(
    vertices: NDArray[np.float64], tets: NDArray[np.int32], step: float
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Vertices in slabs along the longest axis, tets by first vertex: neighbours stay close in memory."""
    axes = largest_first(np.ptp(vertices, axis=0))
    slab = np.floor((vertices - vertices.min(axis=0)) / step)
    order = np.lexsort((slab[:, axes[2]], slab[:, axes[1]], slab[:, axes[0]]))
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    cells = number[tets]
    return vertices[order], cells[np.argsort(cells.min(axis=1), kind="stable")]
