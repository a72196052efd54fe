"""Contact that may open, in a subspace that changes with the pose: flesh of a pair goes no deeper than its rig.

With d the difference of its two points, seen from the root, a pair along its normal n keeps nᵀ(d(Φ(p)) + U(p) y) >= 0,
or, where the rig itself is beyond that, nᵀU(p) y >= 0: y = 0 is always allowed. These one-sided constraints are met by
an augmented Lagrangian: springs that only push, and pushes λ that take over from them round by round. A contact whose
push would have to pull is open.
"""

import numpy as np
from numba import njit

from supple.method.reduced_newton import CAPPED, CONVERGED, LoadLoops

__all__ = ["ONE_SIDED", "collect_pairs", "settle_touching"]

_FELT = (
    0.05  # least share of the poses in which a pair touches: elsewhere its points have nothing to do with each other
)
_IDLE = 1e-8  # of a motion of the whole body: a pair that the subspace moves less cannot be parted in it
_FIRM = 100.0  # stiffness of what pushes, as a multiple of that of the stiffest motion
_ROUNDS = 8

_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})


@_kernel
def collect_pairs(t, w, R, placed, J, room):
    """Fill J (k, r) with what coordinates do to the gaps of pairs that are felt, and room (k,) with the gaps [m] that
    the rig leaves; how many there are."""
    count = 0
    for k in range(t.pairs.shape[0]):
        n, share = np.zeros(3), 0.0
        for i in range(w.size):
            own = t.pair_normals[i, k]
            if w[i] > 0.0 and (own[0] != 0.0 or own[1] != 0.0 or own[2] != 0.0):
                n += w[i] * own
                share += w[i]
        size = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        if share < _FELT or not size > 0.1 * share:
            continue
        n /= size
        row, gap = J[count], -t.pair_thickness[k]
        row[:] = 0.0
        for i in range(w.size):
            if w[i] > 0.0:
                for a in range(3):
                    row += (w[i] * n[a]) * t.pair_rows[k, i, a]
        moved = 0.0
        for j in range(row.size):
            moved += row[j] * row[j]
        if moved * t.grip[1] < _IDLE:
            continue
        for a in range(3):
            along = R[a, 0] * n[0] + R[a, 1] * n[1] + R[a, 2] * n[2]
            for v in range(4):
                gap += along * t.pair_weights[k, v] * placed[t.pairs[k, v], a]
        room[count] = max(gap, 0.0)
        count += 1
    return count


def settle_touching(
    address, G, single, rest, table, bounds, S, load, begin, guess, settings, L, signs, stack, pieces, K, t, w, R,
    placed, scale,
):  # fmt: skip
    """What `minimise` finds under the one-sided constraints of the pairs; a template."""
    J, room = np.empty((t.pairs.shape[0], guess.size)), np.empty(t.pairs.shape[0])
    count = collect_pairs(t, w, R, placed, J, room)
    J, room, slack = J[:count], room[:count] - t.grip[2], t.grip[2]
    push, hold = np.zeros(count), np.empty(count)
    for k in range(count):
        hold[k] = _FIRM * scale * t.grip[0] / np.dot(J[k], J[k])
    if count:
        settings[5] = 0.0  # the stiffness that is there knows of no contact
    iterations, made, z = 0, 0, guess
    for _ in range(_ROUNDS):
        z, more, some, residual, elastic, status = minimise(
            address, G, single, rest, table, bounds, (S, load, J, room, push, hold), begin, z, settings, L, signs,
            stack, pieces, K,
        )  # fmt: skip
        iterations += more
        made += some
        if status not in (CONVERGED, CAPPED):
            break
        deepest = 0.0
        for k in range(count):
            gap = room[k] + np.dot(J[k], z)
            push[k] = max(push[k] - hold[k] * gap, 0.0)
            deepest = max(deepest, -gap)
        if deepest <= slack:
            break
        begin = z.copy()
    return z, iterations, made, residual, elastic, status


@_kernel
def _pull(z, data, g):
    S, load, J, room, push, hold = data
    np.dot(S, z, g)
    g -= load
    for k in range(room.size):
        force = push[k] - hold[k] * (room[k] + np.dot(J[k], z))
        if force > 0.0:
            g -= force * J[k]


@_kernel
def _stiffen(z, data, K):
    S, _, J, room, push, hold = data
    for i in range(z.size):
        for j in range(i + 1):
            K[i, j] += S[i, j]
    for k in range(room.size):
        row = J[k]
        if push[k] - hold[k] * (room[k] + np.dot(row, z)) > 0.0:
            for i in range(z.size):
                factor = hold[k] * row[i]
                for j in range(i + 1):
                    K[i, j] += factor * row[j]


@_kernel
def _height(z, data):
    S, load, J, room, push, hold = data
    smooth, work, pressed = 0.5 * np.dot(z, np.dot(S, z)), np.dot(load, z), 0.0
    for k in range(room.size):
        force = push[k] - hold[k] * (room[k] + np.dot(J[k], z))
        pressed += 0.5 * (max(force, 0.0) ** 2 - push[k] ** 2) / hold[k]
    return smooth - work + pressed, abs(smooth) + abs(work) + abs(pressed)


@_kernel
def _shift(z, d, t, out):
    for i in range(z.size):
        out[i] = z[i] + t * d[i]


#: Loads with springs that only push; data: S (r, r), load (r,), J (k, r), room, push and hold (k,).
ONE_SIDED = LoadLoops(_pull, _stiffen, _height, _shift, "one_sided")
