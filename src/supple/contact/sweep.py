"""Contact and Coulomb friction through compliances: one pass of projected Gauss-Seidel over contacts that press.

Projective dynamics solves A x = b with a matrix that never changes. So does the Delassus matrix W = C A⁻¹ Cᵀ of
contacts with rows C: forces f at the contacts move them by W f, along x, y and z alike. A pass goes through the
contacts; each takes the force that brings it out of what it touches and holds it against sliding, given all others:

    n·f >= 0,   n·u >= goal,   |f - n (n·f)| <= μ n·f   against the slide u - n (n·u)

u = C x - base is how far contacts have moved since the step began, as seen from what they touch.
"""

import numpy as np

from supple.linalg.jit import njit
from supple.linalg.row_sums import add_rows

__all__ = ["evaluate", "hold", "press", "settle", "spread", "sweep"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def sweep(W, normal, goal, friction, moved, force, backward):
    """One pass, and how far it moved a contact at most by that contact's own force [m]."""
    axes, count = W.shape[0], W.shape[1]
    change, most = np.empty(3, moved.dtype), 0.0
    for k in range(count):
        i = count - 1 - k if backward else k
        x, y, z = W[0, i], W[axes // 2, i], W[axes - 1, i]
        a, b, c = normal[0, i], normal[1, i], normal[2, i]
        along = a * a * x[i] + b * b * y[i] + c * c * z[i]
        if not along > 0.0:
            continue  # held by pins
        across = max(x[i], y[i], z[i])
        p, q, r = moved[0, i], moved[1, i], moved[2, i]
        f, g, h = force[0, i], force[1, i], force[2, i]
        before = a * f + b * g + c * h
        height = a * p + b * q + c * r
        pressure = before - (height - goal[i]) / along
        if pressure > 0.0:
            f, g, h = f - before * a, g - before * b, h - before * c
            f, g, h = f - (p - height * a) / across, g - (q - height * b) / across, h - (r - height * c) / across
            size, limit = np.sqrt(f * f + g * g + h * h), friction[i] * pressure
            if size > limit:
                f, g, h = f * limit / size, g * limit / size, h * limit / size
            f, g, h = f + pressure * a, g + pressure * b, h + pressure * c
        else:
            f, g, h = 0.0, 0.0, 0.0
        change[0], change[1], change[2] = f - force[0, i], g - force[1, i], h - force[2, i]
        if change[0] == 0.0 and change[1] == 0.0 and change[2] == 0.0:
            continue
        force[0, i], force[1, i], force[2, i] = f, g, h
        dx, dy, dz = change[0], change[1], change[2]
        most = max(most, across * max(abs(dx), abs(dy), abs(dz)))
        px, py, pz = moved[0], moved[1], moved[2]
        for j in range(count):
            px[j] += x[j] * dx
            py[j] += y[j] * dy
            pz[j] += z[j] * dz
    return most


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def settle(W, normal, goal, friction, moved, force, tolerance, passes):
    """Passes to and fro until one moves no contact by more than `tolerance` [m], or so many; returns what the last did.

    `moved` u, at the forces given, and `force`, both (3, m), follow. W is (1, m, m), or (3, m, m) where pins hold
    single axes; normal is (3, m), goal and friction are (m,).
    """
    most = np.inf
    for turn in range(passes):
        most = sweep(W, normal, goal, friction, moved, force, turn % 2 == 1)
        if most <= tolerance:
            break
    return most


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def evaluate(start, column, value, base, q, moved):
    """Fills `moved` C q - base, (3, m), from the sparse rows of C and coordinates q, (3, r)."""
    for i in range(moved.shape[1]):
        x, y, z = -base[0, i], -base[1, i], -base[2, i]
        for e in range(start[i], start[i + 1]):
            x += value[e] * q[0, column[e]]
            y += value[e] * q[1, column[e]]
            z += value[e] * q[2, column[e]]
        moved[0, i], moved[1, i], moved[2, i] = x, y, z


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def spread(Y, force, q):
    """Adds to coordinates q, (3, r), what forces, (3, m), do: q += Yᵀ f with Y = C A⁻¹, (1, m, r) or (3, m, r)."""
    rows, count = np.empty(Y.shape[1], np.int64), 0
    for i in range(Y.shape[1]):
        if force[0, i] != 0.0 or force[1, i] != 0.0 or force[2, i] != 0.0:
            rows[count] = i
            count += 1
    add_rows(rows[:count], force, Y, q, q)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def hold(grip, moved):
    """Brings the forces up to date, given how far contacts would have moved without them, (3, m), which follows."""
    for axis in range(3):
        for i in range(moved.shape[1]):
            free = moved[axis, i]
            moved[axis, i] += grip.shift[axis, i]
            grip.shift[axis, i] = -free
    settle(grip.W, grip.normal, grip.goal, grip.friction, moved, grip.force, grip.tolerance, grip.passes)
    for axis in range(3):
        for i in range(moved.shape[1]):
            grip.shift[axis, i] += moved[axis, i]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def press(grip, q):
    """Brings coordinates q without contact, (3, r), to those with it, and the forces up to date.

    `grip` are the arrays of a `Grip` (contact/grip.py).
    """
    moved = np.empty_like(grip.force)
    evaluate(grip.start, grip.column, grip.value, grip.base, q, moved)
    hold(grip, moved)
    spread(grip.Y, grip.force, q)
