"""Iterations of projective dynamics whose contacts press: forces are frozen while one runs, and brought up to date."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.method.projective.contact import ContactStep
from supple.method.projective.quasi_newton import Descent, descend

__all__ = ["descend_pressing", "push_back"]

FloatArray = NDArray[np.float64]
Evaluate = Callable[[FloatArray], tuple[float, FloatArray]]


def descend_pressing(
    evaluate: Evaluate,
    precondition: Callable[[FloatArray], FloatArray],
    x: FloatArray,
    step: ContactStep,
    contacts: Contacts,
    held: NDArray[np.bool_],
    *,
    iterations: int,
    still: float = 0.0,
    bounded: bool = True,
) -> Descent:
    """What `descend` does, under the forces of a step's `contacts`, numbered as x (n, 3) is.

    An iteration sees the forces that the one before it left, and the last is followed by what they have changed since.
    """
    objectives: list[float] = []
    push, change, done = push_back(contacts, step.forces(), held), 0.0, 0
    for done in range(1, iterations + 1):
        descent = descend(_under(evaluate, push), precondition, x, iterations=1, bounded=bounded)
        x, change = descent.x, descent.change
        objectives += descent.objectives
        step.settle(contacts.gap(x) + contacts.offset)
        last, push = push, push_back(contacts, step.forces(), held)
        x = x if done < iterations and change > still else x + precondition(push - last)
        if change <= still:
            break
    return Descent(x, done, change, objectives)


def push_back(contacts: Contacts, forces: FloatArray, held: NDArray[np.bool_]) -> FloatArray:
    """Forces on contacts [N], (m, 3), as forces on the vertices, none where pins hold, (n, 3)."""
    return np.where(held, 0.0, contacts.scatter(forces, len(held)))


def _under(evaluate: Evaluate, push: FloatArray) -> Evaluate:
    """An objective and its gradient under a constant push [N], (n, 3)."""

    def pushed(x: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = evaluate(x)
        return value - float(np.vdot(push, x)), gradient - push

    return pushed
