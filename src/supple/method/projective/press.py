"""Iterations of projective dynamics whose contacts press: forces are frozen while one runs, and brought up to date."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.method.projective.contact import ContactStep
from supple.method.projective.quasi_newton import NOTHING, Descent, descend
from supple.method.projective.stopping import ONCE, Stopping, find_change

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
    stopping: Stopping,
    still: float = 0.0,
    bounded: bool = True,
) -> Descent:
    """What `descend` does, under the forces of a step's `contacts`, numbered as x (n, 3) is.

    An iteration sees the forces that the one before it left, and the last is followed by what they have changed since.
    """
    objectives: list[float] = []
    push, done, left = push_back(contacts, step.forces(), held), 0, 0.0
    start, changes, nothing = x, np.zeros(stopping.most), max(NOTHING * float(np.abs(x).max(initial=0.0)), still)
    for done in range(1, stopping.most + 1):
        descent = descend(_under(evaluate, push), precondition, x, stopping=ONCE, bounded=bounded)
        change, x = float(np.abs(descent.x - x).max(initial=0.0)), descent.x
        changes[done - 1] = change
        left = find_change(changes, done, float(np.abs(x - start).max(initial=0.0)), nothing)
        is_last = done == stopping.most or change <= still or stopping.is_enough(done, left)
        objectives += descent.objectives
        step.settle(contacts.gap(x) + contacts.offset)
        last, push = push, push_back(contacts, step.forces(), held)
        if is_last:
            x = x + precondition(push - last)
            break
    return Descent(x, done, left, objectives)


def push_back(contacts: Contacts, forces: FloatArray, held: NDArray[np.bool_]) -> FloatArray:
    """Forces on contacts [N], (m, 3), as forces on the vertices, none where pins hold, (n, 3)."""
    return np.where(held, 0.0, contacts.scatter(forces, len(held)))


def _under(evaluate: Evaluate, push: FloatArray) -> Evaluate:
    """An objective and its gradient under a constant push [N], (n, 3)."""

    def pushed(x: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = evaluate(x)
        return value - float(np.vdot(push, x)), gradient - push

    return pushed
