"""The stiffness of exact tets of one material, folded into the coordinates around them, in one compiled call.

`stiff` below is the name of the tets' kernel (elastic/kernels.py).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import float64, get_num_threads, int32, int64
from numpy.typing import NDArray

from supple.elastic.kernels import PARALLEL_FROM, kernels
from supple.linalg.apart import call_apart
from supple.linalg.blocks import fill_blocks
from supple.linalg.bordered import fold_rows
from supple.linalg.compiled import compile_copy
from supple.material.response import Response
from supple.method.condensation_flat import Flat
from supple.method.condensation_region import Region

__all__ = ["assemble"]

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


@cache
def _loop(response: Response, parallel: bool) -> Callable[..., Any]:
    """The compiled assembly for a material."""
    if parallel:
        get_num_threads()  # starts the threads: a loop from the cache that calls a parallel one does not
    flat, wide, numbers = float64[::1], float64[:, ::1], int64[::1]
    some = (wide, int32[:, ::1], wide, flat, wide, numbers, numbers, int64, numbers, numbers, int64[:, ::1], flat)
    names = {"stiff": call_apart(kernels(response, parallel).stiffness, some)}
    return compile_copy(_assemble, f"{response.name}_{response.source}_{parallel}", names)


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
