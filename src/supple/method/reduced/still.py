"""A step of a body whose frame stands still, as one compiled call: coordinates in, coordinates out."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from supple.cubature.reduced_kernels import PointLoops
from supple.linalg.compiled import compile_copy
from supple.method.reduced.loads import STILL
from supple.method.reduced.newton import newton_kernel

__all__ = ["KINDS", "still_kernel"]

#: Integrators by number, as the compiled step takes them.
KINDS = {"static": 0, "implicit_euler": 1, "newmark": 2}


@cache
def still_kernel(loops: PointLoops, large: bool) -> Callable[..., Any]:
    """The compiled step for materials."""
    minimise = newton_kernel(loops, STILL, large)
    return compile_copy(_step, minimise.__name__, {"minimise": minimise})


def _step(
    address,
    G,
    single,
    rest,
    table,
    bounds,
    motion,
    handles,
    forces,
    M,
    pull,
    weights,
    scalars,
    L,
    signs,
    stack,
    halves,
    K,
):
    """Coordinates, velocities and accelerations (3, r) at the end, and iterations, residual, elastic force, status and
    the sum of weights times q².

    handles (k, 3, r) say how coordinates move what the forces (k, 3) act on; ½ qᵀM q - pull·q are springs and drag.
    scalars: length of the step, kind, drag by mass, tolerance, floor, most iterations, elastic force at the beginning.
    """
    rank = G.shape[1]
    h, kind, alpha, elastic = scalars[0], int(scalars[1]), scalars[2], scalars[6]
    q, v, a = motion[0], motion[1], motion[2]
    load, b, guess, xa, xv = pull.copy(), np.empty(rank), np.empty(rank), np.empty(rank), np.empty(rank)
    for k in range(forces.shape[0]):
        for i in range(3):
            for j in range(rank):
                load[j] += handles[k, i, j] * forces[k, i]
    ca, cv = 0.0, 0.0
    if kind == 1:
        ca, cv = 1.0 / (h * h), 1.0 / h
    elif kind == 2:
        ca, cv = 4.0 / (h * h), 2.0 / h
    for j in range(rank):
        # As in solve/integrator.py: acceleration ca (q - xa) and velocity cv (q - xv) at the end
        ahead = h * v[j]
        xa[j] = q[j] + ahead + (0.25 * h * h * a[j] if kind == 2 else 0.0)
        guess[j] = xa[j] + a[j] / ca if kind else xa[j]  # as if the acceleration stayed
        xv[j] = q[j] + (0.5 * ahead if kind == 2 else 0.0)
        b[j] = load[j] + ca * xa[j] + cv * alpha * xv[j]
    acting = load - np.dot(M, q) if M.shape[0] else load  # springs by how far they are from their ends
    reference, ready = elastic + np.sqrt(np.dot(acting, acting)), scalars[7] if scalars.size > 7 else 0.0
    settings = np.array((scalars[3], reference, scalars[4], scalars[5], np.inf, ready))
    data = (ca + cv * alpha, M, b)
    z, iterations, _, residual, elastic, status = minimise(
        address, G, single, rest, table, bounds, data, q.copy(), guess, settings, L, signs, stack, halves, K
    )
    out, bent = np.empty((3, rank)), 0.0
    for j in range(rank):
        out[0, j] = z[j]
        out[1, j] = cv * (z[j] - xv[j])
        out[2, j] = ca * (z[j] - xa[j])
        bent += weights[j] * z[j] * z[j]
    return out, iterations, residual, elastic, status, bent
