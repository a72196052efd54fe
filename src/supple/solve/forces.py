"""Forces as small objects."""

from copy import copy
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from supple.arguments import as_floats, as_indices, remember
from supple.elastic import Body

__all__ = ["Force", "Gravity", "NodalForce", "PassingForce", "external_force", "initial_acceleration"]

FloatArray = NDArray[np.float64]


class Force(Protocol):
    """Something that pushes vertices, whatever their positions."""

    def add_to(self, total: FloatArray, mass: FloatArray) -> None:
        """Add to the forces on the vertices [N], (n, 3); mass [kg], (n,)."""

    def blend(self, other: Self, share: float) -> Self:
        """This force, `share` of the way to another of its kind."""


def _mix(a: FloatArray, b: FloatArray, share: float) -> FloatArray:
    return (1.0 - share) * np.asarray(a, float) + share * np.asarray(b, float)


@dataclass(frozen=True, eq=False)
class Gravity:
    """The same acceleration everywhere."""

    acceleration: FloatArray
    """[m/s²], (3,)"""

    def __post_init__(self) -> None:
        remedy = "Give it a direction, such as (0, -9.81, 0)." if np.ndim(self.acceleration) == 0 else ""
        where = "Gravity(acceleration)"
        remember(self, acceleration=as_floats(self.acceleration, where, (3,), unit="m/s²", remedy=remedy))

    def add_to(self, total: FloatArray, mass: FloatArray) -> None:
        total += mass[:, None] * np.asarray(self.acceleration)

    def blend(self, other: "Gravity", share: float) -> "Gravity":
        between = copy(self)
        remember(between, acceleration=_mix(self.acceleration, other.acceleration, share))
        return between


@dataclass(frozen=True, eq=False)
class NodalForce:
    """One force shared among vertices: a point (barycentric weights), a region (weights that add up to 1), or a
    body force (weights are masses, the vector an acceleration)."""

    vertices: NDArray[np.int32]
    """(k,)"""
    weights: FloatArray
    """(k,)"""
    vector: FloatArray
    """[N], (3,)"""

    def __post_init__(self) -> None:
        vertices = as_indices(self.vertices, "NodalForce(vertices)")
        weights = as_floats(self.weights, "NodalForce(weights)", (len(vertices),))
        vector = as_floats(self.vector, "NodalForce(vector)", (3,), unit="N")
        remember(self, vertices=vertices, weights=weights, vector=vector)

    def along(self, vector: FloatArray) -> Self:
        """The same with another force [N], (3,); vertices and weights are not checked again."""
        other = copy(self)
        remember(other, vector=as_floats(vector, "NodalForce(vector)", (3,), unit="N"))
        return other

    def add_to(self, total: FloatArray, mass: FloatArray) -> None:
        np.add.at(total, self.vertices, np.asarray(self.weights)[:, None] * np.asarray(self.vector))

    def blend(self, other: Self, share: float) -> Self:
        between = copy(self)
        remember(between, vector=_mix(self.vector, other.vector, share))
        return between


class PassingForce(NodalForce):
    """The same on vertices and with weights that come and go, as where bodies touch: nobody is to remember these."""

    @classmethod
    def of(cls, forces: FloatArray) -> "tuple[PassingForce, ...]":
        """Forces on all vertices [N], (n, 3), axis by axis; nothing where none acts."""
        vertices = np.flatnonzero(forces.any(axis=1)).astype(np.int32)
        if not len(vertices):
            return ()
        return tuple(cls(vertices, forces[vertices, axis], np.eye(3)[axis]) for axis in range(3))


def external_force(forces: tuple[Force, ...], mass: FloatArray) -> FloatArray:
    """Sum of the forces on the vertices [N], (n, 3)."""
    total = np.zeros((len(mass), 3))
    for force in forces:
        force.add_to(total, mass)
    return total


def initial_acceleration(body: Body, x: FloatArray, forces: tuple[Force, ...]) -> FloatArray:
    """Acceleration [m/s²], (n, 3), of a body that forces push at positions x [m]; zero where pins hold."""
    a = (external_force(forces, body.mass) + body.forces(x)) / body.mass[:, None]
    held = body.pins.vertices
    a[held] = np.where(body.pins.held, 0.0, a[held])
    return np.asarray(a)
