"""Bodies that travel and turn: x = c + R Ψ s with Ψ = (X, U, S) and s = (1, q, p), X measured from its centre of mass.

Positions, velocities and accelerations are all fields of one form, w = t + Σ Q_k Ψ s_k with few shapes s_k and 3x3
matrices Q_k, so the inertia of a step, c/2 |x - x̂|²_M, is evaluated as full space would, through the sums
A_ij = Ψ_iᵀ M Ψ_j alone: no fictitious forces, no cost per vertex. The frame of a free body is among the unknowns
(moved by δx = R (δθ x y) + δc), that of a carried one is given by its pins, and so is p.

z holds q, the nine entries of R and c; `data` of the functions below is what `FrameLoads` lists.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.dense import cholesky, cholesky_solve
from supple.linalg.jit import njit
from supple.linalg.vectors import copy_into
from supple.method.reduced.newton import LoadLoops

__all__ = ["FRAMED", "FrameLoads", "accelerate", "cross", "rotation", "tangent", "turn_with", "unpack_frame"]

FloatArray = NDArray[np.float64]


class FrameLoads(NamedTuple):
    """The loads of one step; m = 1 + r + s counts the entries of a shape."""

    inertia: FloatArray
    """Coefficient c [1/s²] of the inertia and the body's mass [kg], (2,)."""
    still: FloatArray
    """(UᵀM Ψ) of the shape without q, (r,)."""
    sums: FloatArray
    """Σ m Ψ, (3, m)."""
    moments: FloatArray
    """A_ij s_k of the shapes of x̂, (k, 3, 3, m)."""
    turns: FloatArray
    """Q_k of x̂, (k, 3, 3)."""
    offset: FloatArray
    """Of x̂ [m], (3,)."""
    travel: FloatArray
    """Σ Q_k Σ m Ψ s_k of x̂, (3,)."""
    begin: FloatArray
    """A_ij s of the shape at the beginning, (3, 3, m)."""
    tail: FloatArray
    """p, (s,)."""
    handles: FloatArray
    """Σ w Ψ of the points that forces and springs hold, (h, 3, m)."""
    weights: FloatArray
    """Σ w of them, (h,)."""
    forces: FloatArray
    """[N], (h, 3)."""
    stiffness: FloatArray
    """Of the springs along world axes [N/m], (h, 3)."""
    targets: FloatArray
    """Of the springs [m], (h, 3)."""
    M: FloatArray
    """Drag in the subspace, (r, r) or (0, 0)."""
    origin: FloatArray
    """Coordinates that drag pulls to, (r,)."""


@njit(cache=True)
def cross(a, b):
    """a x b."""
    return np.array((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


@njit(cache=True)
def rotation(w):
    """The rotation by |w| about w (Rodrigues)."""
    angle = np.sqrt(np.dot(w, w))
    W = np.array(((0.0, -w[2], w[1]), (w[2], 0.0, -w[0]), (-w[1], w[0], 0.0)))
    if angle < 1e-4:  # the series, where the quotients lose digits
        first, second = 1.0 - angle**2 / 6.0, 0.5 - angle**2 / 24.0
    else:
        first, second = np.sin(angle) / angle, (1.0 - np.cos(angle)) / angle**2
    return np.eye(3) + first * W + second * np.dot(W, W)


@njit(cache=True)
def _weigh(A, rank, s):
    """Metric of q̇ and spin for a body of the shape s, (rank + 3, rank + 3), lower triangle."""
    size = s.size
    K, y = np.eye(rank + 3), np.empty((3, 3, size))
    for i in range(3):
        for j in range(3):
            copy_into(np.dot(A[i, j], s), y[i, j])
    for i in range(3):
        a, c = (i + 1) % 3, (i + 2) % 3
        copy_into((y[c, a] - y[a, c])[1:], K[rank + i, :rank])
        for j in range(3):
            K[rank + i, rank + j] = -np.dot(y[i, j], s)
        K[rank + i, rank + i] += np.dot(y[0, 0], s) + np.dot(y[1, 1], s) + np.dot(y[2, 2], s)
    return K


@njit(cache=True)
def accelerate(A, mass, rank, push, torque, force, s):
    """Accelerations of the centre, of the spin and of q by forces on q (r,), about the centre (3,) and on it (3,), for
    a body of the shape s; the torque is in the body's axes."""
    K, b = _weigh(A, rank, s), np.concatenate((push, torque))
    cholesky(K)
    cholesky_solve(K, b)
    return force / mass, b[rank:].copy(), b[:rank].copy()


@njit(cache=True)
def tangent(A, sums, mass, rank, shapes, turns, offset, s, R):
    """Velocity of the centre, spin in the body's axes and q̇ nearest, in the metric, to a field (shapes, turns, offset)
    for a body of the shape s turned by R."""
    K, b = _weigh(A, rank, s), np.zeros(rank + 3)
    moments = np.empty((3, 3, s.size))
    travel = offset.copy()
    for k in range(len(shapes)):
        if not turns[k].any():
            continue
        shape = shapes[k].copy()
        Q = np.dot(R.T, turns[k])
        for i in range(3):
            for j in range(3):
                moments[i, j] = np.dot(A[i, j], shape)
                b[:rank] += Q[i, j] * moments[i, j, 1 : 1 + rank]
        for i in range(3):
            a, c = (i + 1) % 3, (i + 2) % 3
            for d in range(3):
                b[rank + i] += np.dot(moments[a, d], s) * Q[c, d] - np.dot(moments[c, d], s) * Q[a, d]
        travel += np.dot(turns[k], np.dot(sums, shape)) / mass
    cholesky(K)
    cholesky_solve(K, b)
    return travel, b[rank:].copy(), b[:rank].copy()


@njit(cache=True)
def unpack_frame(z, rank, tail):
    """The shape s = (1, q, p), R and c."""
    s = np.empty(1 + rank + tail.size)
    s[0] = 1.0
    copy_into(z, s[1 : 1 + rank])
    copy_into(tail, s[1 + rank :])
    return s, z[rank : rank + 9].copy().reshape(3, 3), z[rank + 9 :].copy()


@njit(cache=True)
def _pull(z, data, g):
    rank = z.size - 12
    s, R, centre = unpack_frame(z, rank, data.tail)
    c, mass = data.inertia[0], data.inertia[1]
    away = centre - data.offset
    g[:] = 0.0
    back = np.dot(R.T, away)
    for j in range(rank):
        g[j] = c * (z[j] + data.still[j])
        for i in range(3):
            g[j] += c * data.sums[i, 1 + j] * back[i]
    torque = np.zeros(3)
    for k in range(data.turns.shape[0]):
        Q = np.dot(R.T, data.turns[k])
        for i in range(3):
            for j in range(3):
                moments, factor = data.moments[k, i, j], c * Q[i, j]
                for l in range(rank):
                    g[l] -= factor * moments[1 + l]
        if g.size > rank:
            for b in range(3):
                for d in range(3):
                    first = c * np.dot(s, data.moments[k, b, d])
                    torque[(b + 2) % 3] -= first * Q[(b + 1) % 3, d]
                    torque[(b + 1) % 3] += first * Q[(b + 2) % 3, d]
    force = c * mass * away + c * (np.dot(R, np.dot(data.sums, s)) - data.travel)
    for h in range(data.weights.size):
        arm = np.dot(data.handles[h], s)
        place = data.weights[h] * centre + np.dot(R, arm)
        push = data.stiffness[h] * (place - data.targets[h]) - data.forces[h]
        back = np.dot(R.T, push)
        for i in range(3):
            for l in range(rank):
                g[l] += data.handles[h, i, 1 + l] * back[i]
        torque += cross(arm, back)
        force += data.weights[h] * push
    if data.M.shape[0]:
        g[:rank] += np.dot(data.M, z[:rank] - data.origin)
    if g.size > rank:
        copy_into(torque, g[rank : rank + 3])
        copy_into(force, g[rank + 3 :])


@njit(cache=True)
def turn_with(push, arm, handle, rank, K):
    """Add what a push, seen from the body, does to the Hessian as the arm that it holds turns and changes."""
    along = np.dot(push, arm)
    for i in range(3):
        for j in range(i + 1):
            K[rank + i, rank + j] += 0.5 * (push[i] * arm[j] + push[j] * arm[i]) - (along if i == j else 0.0)
        a, b = (i + 1) % 3, (i + 2) % 3
        for l in range(rank):
            K[rank + i, l] += handle[a, 1 + l] * push[b] - handle[b, 1 + l] * push[a]


@njit(cache=True)
def _stiffen(z, data, K):
    rank = z.size - 12
    s, R, centre = unpack_frame(z, rank, data.tail)
    c, mass = data.inertia[0], data.inertia[1]
    for i in range(rank):
        K[i, i] += c
    for i in range(data.M.shape[0]):
        for j in range(i + 1):
            K[i, j] += data.M[i, j]
    if K.shape[0] > rank:
        second = np.empty((3, 3))
        for i in range(3):
            for j in range(3):
                second[i, j] = c * np.dot(s, data.begin[i, j])
            for l in range(rank):
                a, b = (i + 1) % 3, (i + 2) % 3
                K[rank + i, l] += c * (data.begin[b, a, 1 + l] - data.begin[a, b, 1 + l])
        trace = second[0, 0] + second[1, 1] + second[2, 2]
        for i in range(3):
            for j in range(i + 1):
                K[rank + i, rank + j] += (trace if i == j else 0.0) - 0.5 * (second[i, j] + second[j, i])
            K[rank + 3 + i, rank + 3 + i] += c * mass
    row = np.empty(K.shape[0])
    for h in range(data.weights.size):
        arm = np.dot(data.handles[h], s)
        if K.shape[0] > rank:
            place = data.weights[h] * centre + np.dot(R, arm)
            push = data.stiffness[h] * (place - data.targets[h]) - data.forces[h]
            turn_with(np.dot(R.T, push), arm, data.handles[h], rank, K)
        for i in range(3):
            if data.stiffness[h, i] > 0.0:
                axis = R[i].copy()
                copy_into(np.dot(axis, data.handles[h])[1:], row[:rank])
                if K.shape[0] > rank:
                    copy_into(cross(arm, axis), row[rank : rank + 3])
                    row[rank + 3 :] = 0.0
                    row[rank + 3 + i] = data.weights[h]
                for a in range(K.shape[0]):
                    for b in range(a + 1):
                        K[a, b] += data.stiffness[h, i] * row[a] * row[b]


@njit(cache=True)
def _height(z, data):
    rank = z.size - 12
    s, R, centre = unpack_frame(z, rank, data.tail)
    c, mass = data.inertia[0], data.inertia[1]
    q, away = z[:rank], centre - data.offset
    sums = np.dot(R, np.dot(data.sums, s))
    kinetic = 0.5 * c * (mass * np.dot(away, away) + np.dot(q, q)) + c * (np.dot(q, data.still) + np.dot(away, sums))
    meeting = c * np.dot(away, data.travel)
    for k in range(data.turns.shape[0]):
        Q = np.dot(R.T, data.turns[k])
        for i in range(3):
            for j in range(3):
                meeting += c * Q[i, j] * np.dot(s, data.moments[k, i, j])
    other, size = 0.0, 0.0
    for h in range(data.weights.size):
        place = data.weights[h] * centre + np.dot(R, np.dot(data.handles[h], s))
        gap = place - data.targets[h]
        term = 0.5 * np.dot(gap, data.stiffness[h] * gap) - np.dot(data.forces[h], place)
        other += term
        size += abs(term)
    if data.M.shape[0]:
        gone = q - data.origin
        other += 0.5 * np.dot(gone, np.dot(data.M, gone))
    return kinetic - meeting + other, abs(kinetic) + abs(meeting) + size


@njit(cache=True)
def _shift(z, d, t, out):
    rank = z.size - 12
    copy_into(z, out)
    for i in range(rank):
        out[i] += t * d[i]
    if d.size > rank:
        R = np.dot(z[rank : rank + 9].copy().reshape(3, 3), rotation(t * d[rank : rank + 3]))
        copy_into(R.ravel(), out[rank : rank + 9])
        out[rank + 9 :] += t * d[rank + 3 :]


#: Loads of a body with a frame.
FRAMED = LoadLoops(_pull, _stiffen, _height, _shift, "framed")
