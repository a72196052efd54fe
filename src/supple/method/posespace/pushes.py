"""What pushes a subspace that changes with the pose: forces and springs at handles, and the acceleration of the rig."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["find_reach", "push_handles", "push_particles"]

_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})


def find_reach(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """The first column that moves a particle and the end of those that do, (i, 2), of columns (i, m, 3, r)."""
    moved = np.asarray(rows.any(axis=(1, 2)))
    ends = moved.shape[1] - moved[:, ::-1].argmax(axis=1)
    return np.column_stack([moved.argmax(axis=1), np.where(moved.any(axis=1), ends, 0)]).astype(np.int64)


@_kernel
def push_handles(handles, w, R, pulls, stiffness, S, load):
    """Add the springs at handles (k, m, 3, r) to S (r, r), and what pulls them to load (r,).

    Both are along the world's axes, (k, 3); handles move by R J y with J the handle of the moment.
    """
    rank = load.size
    J, row = np.empty((3, rank)), np.empty(rank)
    for k in range(pulls.shape[0]):
        held = stiffness[k, 0] > 0.0 or stiffness[k, 1] > 0.0 or stiffness[k, 2] > 0.0
        if not held and pulls[k, 0] == 0.0 and pulls[k, 1] == 0.0 and pulls[k, 2] == 0.0:
            continue
        J[:] = 0.0
        for i in range(w.size):
            if w[i] > 0.0:
                J += w[i] * handles[k, i]
        for a in range(3):
            for j in range(rank):
                row[j] = R[a, 0] * J[0, j] + R[a, 1] * J[1, j] + R[a, 2] * J[2, j]
            load += pulls[k, a] * row
            if stiffness[k, a] > 0.0:
                for i in range(rank):
                    for j in range(rank):
                        S[i, j] += stiffness[k, a] * row[i] * row[j]


@_kernel
def push_particles(particles, masses, rows, reach, w, R, placed, places, h, load):
    """Add -U(p)ᵀ M a to load (r,), a the acceleration of the rig over a step of h [s] that ends at `placed` (v, 3).

    It is the difference of velocities that backward Euler sees: places (2, i, 3) has places and velocities of the
    particles at the beginning. masses (m, i), rows (i, m, 3, r), of which those of `reach` (i, 2) are not zero.
    """
    rank = load.size
    total = np.zeros(rank, np.float32)
    for k in range(particles.size):
        mass = 0.0
        for i in range(w.size):
            mass += w[i] * masses[i, k]
        a = np.empty(3)
        for i in range(3):
            a[i] = ((placed[particles[k], i] - places[0, k, i]) / h - places[1, k, i]) / h
        for i in range(w.size):
            if w[i] > 0.0:
                for j in range(3):
                    push = np.float32(-w[i] * mass * (R[0, j] * a[0] + R[1, j] * a[1] + R[2, j] * a[2]))
                    line, own = rows[k, i, j, reach[k, 0] : reach[k, 1]], total[reach[k, 0] : reach[k, 1]]
                    for l in range(line.size):
                        own[l] += push * line[l]
    for l in range(rank):
        load[l] += total[l]
