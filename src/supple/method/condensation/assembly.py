"""The stiffness of exact tets, folded into the coordinates around them.

That of one material in one piece is one compiled call, for small regions; `stiff` in it is the name of the tets' kernel
(elastic/kernels.py). Others are assembled part by part, and folded domain by domain.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import float64, get_num_threads, int32, int64
from numpy.typing import NDArray

from supple.elastic import Elements
from supple.elastic.kernels import PARALLEL_FROM, kernels
from supple.linalg.apart import call_apart
from supple.linalg.blocks import fill_blocks
from supple.linalg.bordered import fold_rows
from supple.linalg.bordered_fold import fold_square, fold_wide
from supple.linalg.compiled import compile_copy
from supple.material.response import Response
from supple.method.condensation.flat import Flat
from supple.method.condensation.footing import Footing
from supple.method.condensation.region import Region

__all__ = ["assemble", "fold_parts", "fold_under"]

FloatArray = NDArray[np.float64]


def assemble(
    region: Region, flat: Flat, response: Response, y: FloatArray, form: int, *, under: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Blocks of the stiffness at y [m], (l, 3), in memory of the region's; C, (e, 3, r); and what vertices around full
    ones, or `under` those all vertices, have of it as the coordinates see it, (r, r)."""
    rank, count = flat.U.shape[1], 0 if under else len(region.full)
    (stop, edge, around), rows = region.split, region.block_rows
    if under:
        stop, edge, around = rows.start, edge[:0], region.everyone
    U, (data, blocks) = flat.U[3 * count :].reshape(-1, 3, rank), region.scratch
    C, B = np.zeros((len(edge), 3, rank)), np.empty((rank, rank))
    places = region.map.rows, region.map.lengths, region.map.slots[0]
    where = rows.pattern.lengths, rows.start, rows.columns, rows.source
    _loop(response, len(region.tets) >= PARALLEL_FROM)(
        y, flat.elements, places, where, form, count, stop, edge, around, U, data, blocks, C, B
    )
    return blocks, C, B


def fold_parts(
    footing: Footing, parts: tuple[Elements, ...], y: FloatArray, form: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same of several materials, and in domains."""
    region, rank, (start, at, width, place, U) = footing.region, footing.rows.rank, footing.rows.around
    (stop, edge, others), rows, count = region.split, region.block_rows, len(region.full)
    blocks, C, B = region.stiffen(parts, y, form), np.zeros((len(edge), 3, rank)), np.zeros((rank, rank))
    end = rows.start[1:]
    fold_wide(edge, stop, end, rows.columns, blocks, count, start, at, width, place, U, C)
    fold_square(others, stop, end, rows.columns, blocks, count, start, at, width, place, U, B)
    return blocks, C, 0.5 * (B + B.T)


def fold_under(footing: Footing, parts: tuple[Elements, ...], q: FloatArray, form: int) -> FloatArray:
    """The stiffness of exact tets where the subspace has them, as the coordinates see it, (r, r), domain by domain."""
    under, taken = footing.region.under, np.zeros((len(q), len(q)))
    if not footing.under[1]:
        return taken
    rows, blocks = under.block_rows, under.stiffen(parts, footing.follow(q), form)
    for piece in footing.under[1]:
        first, last = piece.vertices.start, piece.vertices.stop
        some, U = np.arange(first, last, dtype=np.int32), piece.U.reshape(last - first, 3, -1)
        folded = np.zeros_like(U)
        fold_rows(some, rows.start, rows.start[1:], rows.columns, blocks, first, U, folded)
        own = piece.U.T @ folded.reshape(piece.U.shape)
        taken[piece.coordinates, piece.coordinates] = 0.5 * (own + own.T)
    return taken


@cache
def _loop(response: Response, parallel: bool) -> Callable[..., Any]:
    """The compiled assembly for a material."""
    if parallel:
        get_num_threads()  # starts the threads: a loop from the cache that calls a parallel one does not
    flat, wide, numbers = float64[::1], float64[:, ::1], int64[::1]
    some = (wide, int32[:, ::1], wide, flat, wide, numbers, numbers, int64, numbers, numbers, int64[:, ::1], flat)
    names = {"stiff": call_apart(kernels(response, parallel, parallel).stiffness, some)}
    return compile_copy(_assemble, f"{response.name}_{parallel}", names)


def _assemble(y, elements, places, where, form, count, stop, edge, around, U, data, blocks, C, B):
    tets, inverse, volume, moduli, start, colour = elements
    rows, lengths, slots = places
    steps, first, columns, source = where
    for i in range(data.size):
        data[i] = 0.0
    stiff(y, tets, inverse, volume, moduli, start, colour, form, rows, lengths, slots, data)
    fill_blocks(data, steps, first, columns, source, blocks)
    end = first[1:]
    fold_rows(edge, stop, end, columns, blocks, count, U, C)
    folded = np.zeros((len(around), 3, U.shape[2]))
    fold_rows(around, stop, end, columns, blocks, count, U, folded)
    flat = U.reshape(U.shape[0] * 3, U.shape[2])
    square = np.dot(flat.T, folded.reshape(len(around) * 3, U.shape[2]))
    for i in range(len(B)):
        for j in range(len(B)):
            B[i, j] = 0.5 * (square[i, j] + square[j, i])
