"""What one step of projective dynamics minimises: Eq. (2) of [BEH18], with damping and grabs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.constraint.local_step import LocalStep, Memory
from supple.linalg.jit import njit
from supple.solve.pull import Pull

__all__ = ["StepObjective"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StepObjective:
    """Φ(x) = 1/2 |x - s|² in the masses over h² + the energies of constraints, drag and grabs."""

    steps: Sequence[LocalStep]
    memories: Sequence[Memory]
    """What each step remembers; brought up to date in place."""
    inertia: FloatArray
    """Masses times (1/h² + α/h) [kg/s²], (n,)."""
    goal: FloatArray
    """s: where inertia, mass damping and outer forces alone would lead [m], (n, 3)."""
    held: NDArray[np.bool_]
    drag: FloatArray | None = None
    """β/h times the forces of the constraints as the step begins, turned along with it [N], (n, 3), where stiffness
    damps: β/h (∇E(x) - ∇E(x_n)) resists strain and not the turning of elements. The other half is in `steps`."""
    pull: Pull | None = None

    def evaluate(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Φ [J], up to a constant, and its gradient [N], zero where pins hold, (n, 3)."""
        forces = np.zeros_like(x)
        value = 0.0
        for step, memory in zip(self.steps, self.memories, strict=True):
            value += step.pull(x, memory, forces)
        value += _resist(x, self.goal, self.inertia, self.held, forces)
        if self.drag is not None:
            value += float(np.vdot(x - self.goal, self.drag))
            forces += np.where(self.held, 0.0, self.drag)
        if self.pull is not None:
            value += self.pull.energy(x)
            forces += np.where(self.held, 0.0, self.pull.terms(x)["grab"])
        return value, forces


@njit(cache=True)
def _resist(x, goal, inertia, held, forces):
    """Turn forces (n, 3) into the gradient, inertia included, in place; the energy of inertia comes back."""
    total = 0.0
    for v in range(len(x)):
        for i in range(3):
            gap = x[v, i] - goal[v, i]
            total += inertia[v] * gap * gap
            forces[v, i] = 0.0 if held[v, i] else inertia[v] * gap - forces[v, i]
    return 0.5 * total
