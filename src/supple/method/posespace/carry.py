"""Motion carried into the basis of the moment, and the inertia of the rig: the left of the step, Eq. (5) of [XB16]."""

import numpy as np

from supple.linalg.vectors import add_to, copy_into
from supple.method.posespace.products import mix_products, turn_away, turn_products
from supple.method.posespace.pushes import push_particles
from supple.method.posespace.turning import drag_particles, turn_particles

__all__ = ["carry_motion"]


def carry_motion(t, driven, b, w, turning, M, load):
    """Fill M (r, r) with the mass, add what the rig pushes to load (r,); U(p)ᵀ M û, that of what drag does not resist,
    and coordinates that go on as they do, (r,) each.

    A template of a compiled step (step.py), whose tables t and inputs of character b it takes.
    """
    h, ratio, moves = driven.scalars[b, :3]
    before, begin, R, placed, rank = driven.w[b], driven.y[b], driven.turns[b, 0], driven.placed[b], load.size
    ahead, carried, beside, guess = np.zeros(rank), np.zeros((2, rank)), np.zeros(rank), np.empty(rank)
    copy_into(begin[0], guess)
    if moves > 0.0:
        mix_products(t.gram, t.blocks, w, before, begin, M, carried)
    if turning:
        turn_particles(
            t.particles, t.masses, t.rows, t.reach, w, before, begin, driven.turns[b], placed, driven.places[b],
            driven.scalars[b], load, carried, ahead,
        )  # fmt: skip
    if moves > 0.0:
        if not turning and placed.shape[1] > 3:
            drag_particles(
                t.particles, t.masses, t.rows, t.reach, w, before[0], begin[0], driven.turns[b], placed,
                driven.places[b], h, load, beside,
            )  # fmt: skip
        elif not turning:
            push_particles(t.particles, t.masses, t.rows, t.reach, w, R, placed, driven.places[b], h, load)
        for i in range(rank):
            ahead[i] += (1.0 + ratio) * carried[0, i] - ratio * carried[1, i]
            guess[i] += ratio * (begin[0, i] - begin[1, i])
        turns = np.empty((2, 3, 3))
        if t.turned.shape[0] and turn_away(driven.turns[b], ratio, turns):
            turn_products(t.turned, t.blocks, w, before, begin, turns, ahead)
        add_to(carried[0], beside)
    return ahead, carried[0], guess
