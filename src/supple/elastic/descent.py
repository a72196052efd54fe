"""Forces and energy of elements in one pass: whoever asks for both pays for one decomposition of F."""

from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.elastic.clusters import LANES
from supple.elastic.elements import Elements
from supple.elastic.kernels import LIGHT_PARALLEL_FROM, gather, read, write
from supple.linalg.small import matmul, matmul_nt
from supple.material.response import Response, specialise

__all__ = ["descend", "descent"]

FloatArray = NDArray[np.float64]


def descend(parts: tuple[Elements, ...], x: FloatArray) -> tuple[FloatArray, float]:
    """Derivative of the elastic energy by the positions x [m], (n, 3), [N], and that energy [J]."""
    out, total = np.zeros_like(x), 0.0
    for part in parts:
        start, sums = part.clusters.start, np.zeros(len(part.clusters.start) - 1)
        descent(part.material.response, len(part.ids) >= LIGHT_PARALLEL_FROM)(
            x, part.tets, part.inverse, part.volume, part.moduli, start, part.clusters.colour, out, sums
        )
        total += float(sums.sum())
    return out, total


@cache
def descent(response: Response, parallel: bool) -> Any:
    """The loop for one material; compiled at the first call, read from the cache afterwards."""
    return specialise(_descend, response, "parallel" if parallel else "serial", parallel=parallel)


def _descend(x, tets, inverse, volume, moduli, start, colour, out, sums):
    """Add the gradient to `out` [N], (n, 3), and fill the energies of clusters [J]; a template, as in kernels.py."""
    for c in range(colour.size - 1):
        for k in prange(colour[c], colour[c + 1]):
            t = np.empty((32, LANES))
            total = 0.0
            for begin in range(start[k], start[k + 1], LANES):
                end = min(begin + LANES, start[k + 1])
                gather(x, tets, inverse, volume, moduli, begin, end, t)
                for l in range(LANES):
                    G, v, m = read(t, 9, l), t[18, l], (t[19, l], t[20, l], t[21, l])
                    F = matmul(read(t, 0, l), G)
                    f = matmul_nt(stress(F, m), G)  # column a - 1 is the force on vertex a
                    t[31, l] = v * psi(F, m)
                    write(
                        t,
                        22,
                        l,
                        (v * f[0], v * f[1], v * f[2], v * f[3], v * f[4], v * f[5], v * f[6], v * f[7], v * f[8]),
                    )
                for l in range(end - begin):
                    total += t[31, l]
                    e = begin + l
                    for i in range(3):
                        f1, f2, f3 = t[22 + 3 * i, l], t[23 + 3 * i, l], t[24 + 3 * i, l]
                        out[tets[0, e], i] -= f1 + f2 + f3
                        out[tets[1, e], i] += f1
                        out[tets[2, e], i] += f2
                        out[tets[3, e], i] += f3
            sums[k] = total
