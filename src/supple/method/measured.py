"""Energies and volume ratios of a state at a method's own points: all tets, or the elements of a rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.solve.forces import Force, Gravity, NodalForce

__all__ = [
    "LoadPoints",
    "Measured",
    "VolumeCheck",
    "check_volumes",
    "find_load_points",
    "join_measured",
    "kinetic_energy",
    "measure_body",
]

FloatArray = NDArray[np.float64]


class VolumeCheck(NamedTuple):
    """Volume ratios J of some tets."""

    checked: int
    """How many tets these are."""
    inverted: int
    """How many of them have J <= 0."""
    least: float
    """The least J."""
    worst: int
    """Number of the tet that has it."""


class LoadPoints(NamedTuple):
    """Forces that act, and the points they move: the work of a force is its vector times the way of its point."""

    vectors: FloatArray
    """[N], for gravity [m/s²], (k, 3)"""
    points: FloatArray
    """The sum of w x over what a force acts on [m], for gravity of m x [kg m], (k, 3)."""

    def work_from(self, before: "LoadPoints") -> float | None:
        """Work [J] that the forces did since `before`, by the trapezoidal rule; None where they are others."""
        if len(self.points) != len(before.points):
            return None
        return float(0.5 * np.vdot(before.vectors + self.vectors, self.points - before.points))


@dataclass(frozen=True)
class Measured:
    """What a method knows of a state without placing all vertices."""

    kinetic_energy: float
    """[J]"""
    elastic_energy: float
    """[J]"""
    volumes: VolumeCheck | None
    """Of the method's own tets; None where it has none."""
    is_whole: bool
    """Whether these are all tets of the body."""
    loads: LoadPoints


def check_volumes(ratios: FloatArray, tets: NDArray[np.integer] | None = None) -> VolumeCheck | None:
    """What there is to say of volume ratios (m,) of `tets` (m,), by default all; None where there are none."""
    if not len(ratios):
        return None
    worst = int(np.argmin(ratios))
    number = worst if tets is None else int(tets[worst])
    return VolumeCheck(len(ratios), int(np.count_nonzero(~(ratios > 0.0))), float(ratios[worst]), number)


def find_load_points(
    forces: Sequence[Force],
    find_centre: Callable[[], FloatArray],
    find_point: Callable[[NDArray[np.integer], FloatArray], FloatArray],
) -> LoadPoints:
    """What forces act on: `find_centre()` is the sum of m x [kg m], `find_point(vertices, weights)` that of w x [m]."""
    vectors, points = [], []
    for force in forces:
        if isinstance(force, Gravity):
            vectors.append(np.asarray(force.acceleration, np.float64))
            points.append(find_centre())
        elif isinstance(force, NodalForce):
            vectors.append(np.asarray(force.vector, np.float64))
            points.append(find_point(np.asarray(force.vertices), np.asarray(force.weights, np.float64)))
    return LoadPoints(np.array(vectors).reshape(-1, 3), np.array(points).reshape(-1, 3))


def kinetic_energy(mass: FloatArray, v: FloatArray) -> float:
    """½ Σ m |v|² [J] of masses [kg] (n,) and velocities [m/s] (n, 3)."""
    return float(0.5 * mass @ np.einsum("ij,ij->i", v, v))


def measure_body(body: Body, x: FloatArray, v: FloatArray, forces: Sequence[Force], stiffness: float = 1.0) -> Measured:
    """The measures of a whole body at positions x [m] and velocities v [m/s], (n, 3), `stiffness` times as stiff."""
    return Measured(
        kinetic_energy(body.mass, v),
        stiffness * body.energy(x),
        check_volumes(body.jacobians(x)),
        True,
        find_load_points(forces, lambda: body.mass @ x, lambda vertices, weights: weights @ x[vertices]),
    )


def join_measured(parts: Sequence[Measured], tets: Sequence[int]) -> Measured:
    """The measures of several bodies together, of which each has so many tets."""
    firsts = np.cumsum([0, *tets]).tolist()
    checks = [
        one.volumes._replace(worst=one.volumes.worst + first)
        for one, first in zip(parts, firsts, strict=False)
        if one.volumes is not None
    ]
    least = min(checks, key=lambda check: check.least, default=None)
    return Measured(
        sum(one.kinetic_energy for one in parts),
        sum(one.elastic_energy for one in parts),
        None
        if least is None
        else VolumeCheck(
            sum(check.checked for check in checks),
            sum(check.inverted for check in checks),
            least.least,
            least.worst,
        ),
        all(one.is_whole for one in parts),
        LoadPoints(
            np.concatenate([one.loads.vectors for one in parts]), np.concatenate([one.loads.points for one in parts])
        ),
    )
