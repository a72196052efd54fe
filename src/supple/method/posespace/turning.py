"""What turning flesh does to motion: inertia and gravity of columns that turn with it, and the drag of all others.

Columns that turn are U(p) = Q(p) Ū(w) with a turn Q of every vertex.

Mass needs no more than the products Ū_iᵀ M Ū_j, for the turns cancel. What carries motion from one basis to the next is

    U(a)ᵀ M U(b) y = Ū(a)ᵀ M Ū(b) y + Ū(a)ᵀ M (Q(a)ᵀQ(b) - 1) Ū(b) y,

of which products have the first term, exactly, and the vertices of the rule of inertia the second. That is small, and
does no work to first order whatever the weights are, for Q(a)ᵀQ(b) - 1 is then antisymmetric. The turn of the root is
in all Q. Drag resists motion beside the rig, as in full space: flesh of a rig that knows its turns is taken along by
them, and for that the first term is all; that of a black box is taken along by its root alone. Columns that do not turn
lack what the skin turns beside the root: of drag, the same vertices have that.
"""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["drag_particles", "turn_particles"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def turn_particles(particles, masses, rows, reach, w, before, y, turns, placed, places, scalars, load, carried, ahead):
    """Add gravity and the acceleration of the rig to load (r,), and what turns to ahead (r,), of which carried (2, r)
    gets what drag is to feel.

    placed (v, 12) and places (2, i, 12) have turns beside places and velocities; turns (3, 3, 3) are those of the root.
    scalars: as in `Driven`.
    """
    h, ratio, moves, felt, rank = scalars[0], scalars[1], scalars[2], scalars[15], load.size
    line, totals = np.empty((3, rank), np.float32), np.zeros((3, rank), np.float32)
    shared = np.empty((2, w.size, rank), np.float32)
    for s in range(2):
        for i in range(w.size):
            for l in range(rank):
                shared[s, i, l] = before[s, i] * y[s, l]
    a, push, e, f = np.empty(3), np.empty((3, 3), np.float32), np.empty(3), np.empty(3)
    for k in range(particles.size):
        first, last = reach[k, 0], reach[k, 1]
        Q, mass = placed[particles[k], 3:], 0.0
        for i in range(w.size):
            mass += w[i] * masses[i, k]
        for i in range(3):
            a[i] = scalars[12 + i]
            if moves > 0.0:
                a[i] -= ((placed[particles[k], i] - places[0, k, i]) / h - places[1, k, i]) / h
        push[:] = 0.0
        for j in range(3):
            push[0, j] = mass * (Q[j] * a[0] + Q[3 + j] * a[1] + Q[6 + j] * a[2])
        for s in range(2 if moves > 0.0 else 0):
            u = _displace(rows[k], before[s], shared[s], first, last)
            factor = -ratio if s else 1.0 + ratio
            past = places[s, k, 3:]
            for i in range(3):  # in the world, where it was
                e[i] = past[3 * i] * u[0] + past[3 * i + 1] * u[1] + past[3 * i + 2] * u[2]
            _turn_on(turns[0], turns[s + 1], e, f)
            for j in range(3):
                beside = felt * (Q[j] * f[0] + Q[3 + j] * f[1] + Q[6 + j] * f[2] - u[j])
                whole = Q[j] * e[0] + Q[3 + j] * e[1] + Q[6 + j] * e[2] - u[j]
                if s == 0:
                    push[1, j] = mass * beside
                    push[2, j] += factor * mass * (whole - beside)
                else:
                    push[2, j] += factor * mass * whole
        _blend(rows[k], w, first, last, line)
        _add_lines(line, push, first, last, totals)
    for i in range(rank):
        load[i] += totals[0, i]
        carried[0, i] += totals[1, i]
        ahead[i] += totals[2, i]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def drag_particles(particles, masses, rows, reach, w, before, y, turns, placed, places, h, load, beside):
    """Do what `push_particles` does to load (r,), and add U(p)ᵀ M (T - 1) u to beside (r,), with u = U(before) y as a
    root sees it, before (m,), y (r,), and T what the skin turns it by beside the root.

    placed (v, 12) and places (2, i, 12) have turns of the skin at the end and at the beginning beside places; turns
    (3, 3, 3) are those of the root.
    """
    rank, R = load.size, turns[0]
    line, totals = np.empty((3, rank), np.float32), np.zeros((2, rank), np.float32)
    shared = np.empty((w.size, rank), np.float32)
    for i in range(w.size):
        for l in range(rank):
            shared[i, l] = before[i] * y[l]
    push, a, u, e = np.empty((2, 3), np.float32), np.empty(3), np.empty(3), np.empty(3)
    for k in range(particles.size):
        first, last = reach[k, 0], reach[k, 1]
        now, past, mass = placed[particles[k], 3:], places[0, k, 3:], 0.0
        for i in range(w.size):
            mass += w[i] * masses[i, k]
        for i in range(3):
            a[i] = ((placed[particles[k], i] - places[0, k, i]) / h - places[1, k, i]) / h
        u[0], u[1], u[2] = _displace(rows[k], before, shared, first, last)
        _turn(turns[1], u, e)
        b = past[0] * e[0] + past[3] * e[1] + past[6] * e[2]
        c = past[1] * e[0] + past[4] * e[1] + past[7] * e[2]
        d = past[2] * e[0] + past[5] * e[1] + past[8] * e[2]
        for i in range(3):
            e[i] = now[3 * i] * b + now[3 * i + 1] * c + now[3 * i + 2] * d
        for j in range(3):
            push[0, j] = -mass * (R[0, j] * a[0] + R[1, j] * a[1] + R[2, j] * a[2])
            push[1, j] = mass * (R[0, j] * e[0] + R[1, j] * e[1] + R[2, j] * e[2] - u[j])
        _blend(rows[k], w, first, last, line)
        _add_lines(line, push, first, last, totals)
    for i in range(rank):
        load[i] += totals[0, i]
        beside[i] += totals[1, i]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _turn(R, x, out):
    for i in range(3):
        out[i] = R[i, 0] * x[0] + R[i, 1] * x[1] + R[i, 2] * x[2]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _turn_on(now, then, e, out):
    """What was e in the world while the root was turned by `then`, carried on with it: now thenᵀ e."""
    a = then[0, 0] * e[0] + then[1, 0] * e[1] + then[2, 0] * e[2]
    b = then[0, 1] * e[0] + then[1, 1] * e[1] + then[2, 1] * e[2]
    c = then[0, 2] * e[0] + then[1, 2] * e[1] + then[2, 2] * e[2]
    for i in range(3):
        out[i] = now[i, 0] * a + now[i, 1] * b + now[i, 2] * c


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def _displace(rows, w, y, first, last):
    """Σ U_i y_i of rows (m, 3, r) and coordinates (m, r) with weights, by columns from the first to the last: three
    numbers."""
    a = b = c = 0.0
    for i in range(w.size):
        if w[i] > 0.0:
            one, two, three, own = (
                rows[i, 0, first:last],
                rows[i, 1, first:last],
                rows[i, 2, first:last],
                y[i, first:last],
            )
            x = z = t = np.float32(0.0)
            for l in range(own.size):
                x += one[l] * own[l]
                z += two[l] * own[l]
                t += three[l] * own[l]
            a += x
            b += z
            c += t
    return a, b, c


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _blend(rows, w, first, last, out):
    """Fill out (3, r) with Σ w_i U_i, by columns from the first to the last."""
    for j in range(3):
        own, is_first = out[j, first:last], True
        for i in range(w.size):
            if w[i] > 0.0:
                factor, row = np.float32(w[i]), rows[i, j, first:last]
                for l in range(own.size):
                    own[l] = factor * row[l] if is_first else own[l] + factor * row[l]
                is_first = False


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _add_lines(line, push, first, last, out):
    """Add the products of pushes (k, 3) with a line (3, r) to out (k, r)."""
    x, y, z = line[0, first:last], line[1, first:last], line[2, first:last]
    for n in range(push.shape[0]):
        a, b, c, own = push[n, 0], push[n, 1], push[n, 2], out[n, first:last]
        for l in range(own.size):
            own[l] += a * x[l] + b * y[l] + c * z[l]
