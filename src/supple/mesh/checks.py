"""Checks on index and position arrays that tet and triangle meshes share."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_integers, describe, refuse
from supple.errors import MeshError

__all__ = ["as_corners", "check_cells", "check_size", "check_vertices", "drop_unused", "plural", "read_instead"]

_LARGEST = {"resolution": 2_000, "elements": 100_000_000}  # beyond this the lattice does not fit in memory


def read_instead(value: object) -> str:
    """What to do where a path was given instead of arrays, else nothing."""
    return "Use supple.io.load_mesh." if isinstance(value, str | PathLike) else ""


def as_corners(cells: object, where: str, corners: int, count: int, noun: str) -> NDArray[np.int32]:
    """Numbers of vertices below `count`, (m, corners), checked."""
    triangles = corners == 4 and isinstance(cells, np.ndarray) and cells.shape[1:] == (3,)
    remedy = "Use supple.mesh.tetrahedralise." if triangles else ""
    numbers: NDArray[np.int32] = as_integers(cells, where, ("m", corners), remedy=remedy, error=MeshError)
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < count:
        bad = int(np.argmax(((numbers < 0) | (numbers >= count)).any(axis=1)))
        wrong = next(number for number in numbers[bad].tolist() if not 0 <= number < count)
        raise MeshError(f"{where}: {noun} {bad} uses vertex {wrong}; the last is {count - 1}.")
    return numbers


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """`count` and its noun as a person writes them, with a comma in thousands."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def check_vertices(vertices: ArrayLike) -> NDArray[np.float64]:
    """A new array of finite positions, shape (n, 3)."""
    try:
        points = np.array(vertices, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise MeshError("vertices is not an array of numbers; give three coordinates for every vertex.") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"vertices has shape {points.shape}; give an array of shape (n, 3).")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        others = plural(len(bad), "such vertex", "such vertices")
        raise MeshError(f"vertex {bad[0]} has a position that is not finite ({others} in all); export it again.")
    return points


def check_cells(cells: ArrayLike, corners: int, count: int, noun: str) -> NDArray[np.int32]:
    """A new array of at least one cell with indices below `count`, shape (m, corners)."""
    try:
        indices = np.array(cells, order="C")
    except ValueError:
        raise MeshError(f"{noun}s have different numbers of corners; give {corners} for every {noun}.") from None
    if indices.size == 0:
        raise MeshError(f"the mesh has no {noun}s; give a file or array with at least one.")
    if indices.ndim != 2 or indices.shape[1] != corners or not np.issubdtype(indices.dtype, np.integer):
        raise MeshError(
            f"{noun}s have shape {indices.shape} and type {indices.dtype}; give integers of shape (m, {corners})."
        )
    bad = np.flatnonzero(((indices < 0) | (indices >= count)).any(axis=1))
    if bad.size:
        raise MeshError(
            f"{noun} {bad[0]} uses vertices {indices[bad[0]].tolist()}, but the mesh has {count:,}, counted "
            "from 0; check the numbering of the file."
        )
    return indices.astype(np.int32)


def check_size(resolution: int | None, elements: int | None) -> tuple[int, bool]:
    """The one size that is given, and whether it counts tets (`elements`) or cells (`resolution`)."""
    if resolution is not None and elements is None:
        size, name, meaning = resolution, "resolution", "cells along the longest side"
    elif elements is not None and resolution is None:
        size, name, meaning = elements, "elements", "tets wanted"
    else:
        raise MeshError("the size of the mesh is not clear; give either resolution or elements.")
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        refuse(name, describe(size), f"a whole number of {meaning}", error=MeshError)
    if not 1 <= size <= _LARGEST[name]:
        raise MeshError(f"{name} = {size} makes no mesh; give the number of {meaning}, from 1 to {_LARGEST[name]:,}.")
    return int(size), name == "elements"


def drop_unused(
    points: NDArray[np.float64], cells: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int32], int]:
    """Vertices that some cell uses, the cells over them, and how many vertices were dropped."""
    used = np.zeros(len(points), dtype=bool)
    used[cells] = True
    dropped = len(points) - int(used.sum())
    if dropped == 0:
        return points, cells, 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return points[used], number[cells], dropped
