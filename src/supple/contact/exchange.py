"""Forces at contacts between bodies whose solvers know nothing of each other.

All a body tells is how it yields: with forces f on its vertices it comes to x, with other ones f' to about
x + C (f' - f). Over the contacts of all bodies that is a small linear model of their gaps, with which the forces are
looked for that the law of contact asks for: the springs of Eq. (6) of [TOK14] along normals, Coulomb's friction across.
"""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["solve_forces"]


@njit(cache=True)
def solve_forces(gap, slide, compliance, normal, along, friction, force, sweeps, tolerance):
    """Change `force` (m, 3) [N] into what the law asks for; how many sweeps that took.

    gap, slide: d and how far contacts have slid where `force` acts [m], (m, 3). compliance W [m/N], (3 m, 3 m): both
    grow by W times a change of the forces. along: k a [N/m], (m,). friction: μ, (m,). Contacts are solved in turn until
    a sweep changes no force by more than `tolerance` [N].
    """
    count = len(normal)
    moved = np.zeros(3 * count)  # W times what the forces have changed by
    change = np.empty(3)
    for sweep in range(sweeps):
        largest = 0.0
        for m in range(count):
            n, block = normal[m], compliance[3 * m : 3 * m + 3, 3 * m : 3 * m + 3]
            height, pressed, stiff, trace = 0.0, 0.0, 0.0, 0.0
            for i in range(3):
                height += n[i] * (gap[m, i] + moved[3 * m + i])
                pressed += n[i] * force[m, i]
                trace += block[i, i]
                for j in range(3):
                    stiff += n[i] * block[i, j] * n[j]
            # λ = k a max(0, -n·d), where n·d = height + stiff (λ - pressed)
            new = max(0.0, (stiff * pressed - height) / (stiff + 1.0 / along[m]))
            aside = max(trace - stiff, 0.0)  # no less than how far the contact yields along the surface
            length = 0.0
            for i in range(3):
                across = force[m, i] - pressed * n[i]
                if aside > 0.0:
                    across -= (slide[m, i] + moved[3 * m + i]) / aside
                change[i] = across
            lean = n[0] * change[0] + n[1] * change[1] + n[2] * change[2]
            for i in range(3):
                change[i] -= lean * n[i]
                length += change[i] * change[i]
            length, limit = np.sqrt(length), friction[m] * new
            share = 1.0 if length <= limit else limit / length
            for i in range(3):
                wanted = new * n[i] + share * change[i]
                change[i] = wanted - force[m, i]
                force[m, i] = wanted
                largest = max(largest, abs(change[i]))
            for row in range(3 * count):
                for i in range(3):
                    moved[row] += compliance[row, 3 * m + i] * change[i]
        if largest <= tolerance:
            return sweep + 1
    return sweeps
