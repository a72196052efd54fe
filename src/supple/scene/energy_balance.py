"""Does a body gain energy that nothing fed into it?"""

from __future__ import annotations

import warnings

import numpy as np

from supple.contact.result import Touch
from supple.errors import SuppleWarning
from supple.method import CoupledInputs
from supple.solve import Inputs, Moment

__all__ = ["EnergyBalance", "is_fed"]

ALLOWED = 0.1  #: of the largest energy so far: integrators and rules are off by a few percent
SLOW = 1e-3  #: body sizes per second: below the kinetic energy of such a motion all is round-off


def is_fed(inputs: Inputs) -> bool:
    """Whether a step is given energy that the work of its forces does not count: by events, or by pins, colliders or
    bones that move."""
    if isinstance(inputs, CoupledInputs):
        return bool(inputs.events) or any(is_fed(part) for part in inputs.parts)
    return bool(inputs.events) or _moves(inputs.begin, inputs.end)


def _moves(begin: Moment, end: Moment) -> bool:
    if begin.pose is not None and end.pose is not None and not np.array_equal(begin.pose, end.pose):
        return True
    if not np.array_equal(begin.targets, end.targets):
        return True
    return any(
        not (np.array_equal(one.rotation, other.rotation) and np.array_equal(one.translation, other.translation))
        for one, other in zip(begin.colliders, end.colliders, strict=True)
    )


class EnergyBalance:
    """Energy of a run beside what it began with and what forces did since; said once.

    Contacts give back what they stored: energy is counted from the last frame in which something was fed, with what
    contacts held then.
    """

    def __init__(self, mass: float, size: float, remedy: str) -> None:
        """For a body of a mass [kg] and a size [m]."""
        self._least, self._remedy = 0.5 * mass * (SLOW * size) ** 2, remedy
        self._given: float | None = None
        self._peak, self._warned = 0.0, False

    def restart(self, energy: float, touching: Touch | None) -> None:
        """Count from a frame with this energy [J] on."""
        self._given = energy + _stored(touching)
        self._peak = max(self._peak, energy)

    def check(self, frame: int, energy: float, work: float | None, touching: Touch | None, *, fed: bool) -> None:
        """Take in a frame that ends with an energy [J] after forces did `work` [J]; warn where too much is there."""
        if fed or work is None or self._given is None:
            self.restart(energy, touching)
            return
        self._given += work
        self._peak = max(self._peak, energy)
        if self._warned or energy - self._given <= ALLOWED * self._peak + self._least:
            return
        self._warned = True
        given = max(self._given, 0.0)
        times = f"{energy / given:.3g} times " if given > 0.0 else ""
        warnings.warn(
            f"frame {frame}: the body has {energy:.3g} J of energy, {times}the {given:.3g} J that it began with and "
            f"that forces added, so its motion is wrong from here on: {self._remedy} (said once: reports tell the "
            "energies and the work of every frame).",
            SuppleWarning,
            stacklevel=3,
        )


def _stored(touching: Touch | None) -> float:
    """What penalty springs of contacts hold [J]."""
    if touching is None:
        return 0.0
    return 0.5 * float(np.linalg.norm(touching.force, axis=1) @ np.maximum(touching.depth, 0.0))
