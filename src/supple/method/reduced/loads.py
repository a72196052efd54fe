"""The loads of a step in a subspace as potentials: inertia, drag, forces and springs.

Where the frame of the body stands still they are one quadratic function of the coordinates q,

    ½ c |q|² + ½ qᵀM q - b·q,

otherwise functions of q and the frame (method/reduced/frame.py).
"""

import numpy as np

from supple.linalg.jit import njit
from supple.method.reduced.newton import LoadLoops

__all__ = ["STILL"]


@njit(cache=True)
def _pull(z, data, g):
    c, M, b = data
    if M.shape[0]:
        np.dot(M, z, g)
        for i in range(z.size):
            g[i] += c * z[i] - b[i]
    else:
        for i in range(z.size):
            g[i] = c * z[i] - b[i]


@njit(cache=True)
def _stiffen(z, data, K):
    c, M, _ = data
    for i in range(z.size):
        K[i, i] += c
    for i in range(M.shape[0]):
        for j in range(i + 1):
            K[i, j] += M[i, j]


@njit(cache=True)
def _height(z, data):
    c, M, b = data
    inertia, work, drag = 0.5 * c * np.dot(z, z), np.dot(b, z), 0.0
    if M.shape[0]:
        drag = 0.5 * np.dot(z, np.dot(M, z))
    return inertia + drag - work, inertia + abs(drag) + abs(work)


@njit(cache=True)
def _shift(z, d, t, out):
    for i in range(z.size):
        out[i] = z[i] + t * d[i]


#: Loads of a body whose frame stands still; data: c, M (r, r) or (0, 0), b (r,).
STILL = LoadLoops(_pull, _stiffen, _height, _shift, "still")
