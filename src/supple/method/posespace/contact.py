"""Contact that may open, in a subspace that changes with the pose: one-sided constraints and Coulomb friction.

With d the difference of the two points of a pair, seen from the root, a pair along its normal n keeps
nᵀ(d(Φ(p)) + U(p) y) >= 0, or, where the rig itself is beyond that, nᵀU(p) y >= 0; a vertex keeps out of colliders in
the same way, whatever the rig does. The constraints are met by an augmented Lagrangian: springs that only push, and
pushes λ that take over from them round by round. A contact whose push would have to pull is open. Friction, by the law
of contact/friction.py, is a drag along the contact, by the push and the slide of the round before: it majorises the
law, so that rounds lower the energy.
"""

import numpy as np

from supple.linalg.jit import njit
from supple.method.posespace.gaps import Gaps, collect_pairs, collect_stops, tangents
from supple.method.reduced.newton import CAPPED, CONVERGED, LoadLoops

__all__ = ["ONE_SIDED", "settle_touching"]

_FIRM = 100.0  # stiffness of what pushes, as a multiple of that of the stiffest motion
_ROUNDS = 8
_RUBS = 24  # rounds where there is friction
_SETTLED = 0.02  # of the largest force of friction: a smaller change is none

_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})


def settle_touching(
    address, G, single, rest, table, bounds, S, load, begin, guess, settings, L, signs, stack, pieces, K, t, w, R,
    placed, scale, stops, b,
):  # fmt: skip
    """What `minimise` finds under the one-sided constraints of pairs and colliders; a template."""
    rank, most = guess.size, t.pairs.shape[0] + stops.start[b + 1] - stops.start[b]
    gaps = Gaps(
        np.empty((most, rank)), np.empty(most), np.empty((2 * most, rank)), np.empty(2 * most), np.empty(most),
        np.empty(most, np.int64),
    )  # fmt: skip
    count = collect_pairs(t, w, R, placed, stops.pairs[b], stops.own[b, 0], gaps)
    count = collect_stops(stops, b, t.grip[1], count, gaps)
    slack, slip = t.grip[2], stops.own[b, 1]
    J, room = gaps.J[:count], gaps.room[:count] - slack
    push, hold = np.zeros(count), np.empty(count)
    for k in range(count):
        hold[k] = _FIRM * scale * t.grip[0] / np.dot(J[k], J[k])
    if count:
        settings[5] = 0.0  # the stiffness that is there knows of no contact
    rubs = count > 0 and gaps.friction[:count].max() > 0.0
    drag, rub = np.zeros(count), np.zeros((count, 2))
    stiff, pull = (S.copy(), load.copy()) if rubs else (S, load)
    iterations, made, z = 0, 0, guess
    for _ in range(_RUBS if rubs else _ROUNDS):
        z, more, some, residual, elastic, status = minimise(
            address, G, single, rest, table, bounds, (stiff, pull, J, room, push, hold), begin, z, settings, L, signs,
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
        if not (rubs and _rub(gaps, z, push, slip, drag, rub)) and deepest <= slack:
            break
        if rubs:
            _add_drags(gaps, drag, S, load, stiff, pull)
        begin = z.copy()
    for k in range(count):
        if gaps.number[k] >= 0:
            _tell(stops, gaps, k, push[k], rub[k])
    return z, iterations, made, residual, elastic, status


@_kernel
def _rub(gaps, z, push, slip, drag, rub):
    """Renew drags (k,) [N/m] and forces (k, 2) of friction for pushes at z; whether these have changed."""
    largest = change = 0.0
    for k in range(push.size):
        limit = gaps.friction[k] * push[k]
        one = two = 0.0
        if gaps.friction[k] > 0.0:
            one = gaps.slide[2 * k] + np.dot(gaps.T[2 * k], z)
            two = gaps.slide[2 * k + 1] + np.dot(gaps.T[2 * k + 1], z)
        way = np.sqrt(one * one + two * two)
        drag[k] = limit * (2.0 - min(way / slip, 1.0)) / max(way, slip)
        change = max(change, abs(-drag[k] * one - rub[k, 0]), abs(-drag[k] * two - rub[k, 1]))
        rub[k, 0], rub[k, 1] = -drag[k] * one, -drag[k] * two
        largest = max(largest, limit)
    return change > _SETTLED * largest


@_kernel
def _add_drags(gaps, drag, S, load, stiff, pull):
    """Fill in springs and loads, (r, r) and (r,), with those given and the drags."""
    stiff[:], pull[:] = S, load
    for k in range(drag.size):
        if drag[k] > 0.0:
            for row in range(2 * k, 2 * k + 2):
                across = gaps.T[row]
                for i in range(pull.size):
                    factor = drag[k] * across[i]
                    if factor != 0.0:
                        pull[i] -= factor * gaps.slide[row]
                        for j in range(pull.size):
                            stiff[i, j] += factor * across[j]


@_kernel
def _tell(stops, gaps, k, push, rub):
    """Leave the force of gap k, whose contact with a collider is named in `gaps`."""
    number = gaps.number[k]
    n = stops.normal[number]
    first, second = tangents(n)
    for a in range(3):
        stops.force[number, a] = push * n[a] + rub[0] * first[a] + rub[1] * second[a]


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
                if factor != 0.0:  # columns of other regions
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
