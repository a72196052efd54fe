"""Poses in which a rig drives a body into itself, put right before anything is learned from them ([XB16] 5 and 6)."""

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.linalg.ties import first_largest, first_smallest
from supple.method.full.solver import FullSolver
from supple.rig import PoseSpace, Rig, Root
from supple.solve.inputs import Inputs, Moment

__all__ = ["find_corrections", "part_poses", "pick_touching"]

FloatArray = NDArray[np.float64]

_DEPTH = 0.01  # of a mean edge of the surface: less is touching, not passing through
_APART = 0.05  # of a mean edge: how far apart flesh is pressed, so that a pose ends a hair before contact, not in it
_TRIES = 4


def part_poses(body: Body, rig: Rig, poses: ArrayLike, contact: ContactSettings | None = None) -> Rig:
    """The rig, corrected in those of the poses (k, p) in which its shape passes through itself.

    The other poses stay as they are, and in between corrections are interpolated. Without such a pose it is the rig
    that was given.
    """
    corrections = find_corrections(body, rig, poses, contact)
    return PoseSpace(rig, poses, corrections) if len(corrections) else rig


def find_corrections(body: Body, rig: Rig, poses: ArrayLike, contact: ContactSettings | None = None) -> FloatArray:
    """What to add to a rig in poses (k, p) so that the body does not pass through itself there [m], (k, n, 3).

    Flesh is pressed apart until it is in equilibrium with itself, held where pins are. None at all if no pose needs it.
    """
    settings = contact or ContactSettings(self_contact=True)
    root, finder = Root.of(rig), _finder(body, settings)
    still = [root.still(pose) for pose in np.asarray(poses, np.float64)]
    shapes = [rig.positions(pose) for pose in still]
    deep = [_depth(finder, shape) > _DEPTH for shape in shapes]
    if not any(deep):
        return np.zeros((0, *rig.rest.shape))
    corrections = np.zeros((len(still), *rig.rest.shape))
    for k in np.flatnonzero(deep):
        room = _APART * finder.edge
        for _ in range(_TRIES):  # contact gives way a little: flesh that is pressed hard needs more room
            apart = replace(settings, thickness=settings.thickness + room)
            solver = FullSolver(body, integrator="static", contact=apart, rig=rig, rest="posed")
            corrections[k] = _press_apart(solver, still[k], shapes[k], int(k)) - shapes[k]
            if _depth(finder, shapes[k] + corrections[k]) == 0.0:
                break
            room *= 2.0
    return corrections


def pick_touching(
    body: Body, rig: Rig, poses: FloatArray, most: int, contact: ContactSettings | None = None
) -> FloatArray:
    """At most `most` of the poses (k, p) in which the body passes through itself, far from each other, the deepest
    first; and to each the nearest one in which it does not: where contact begins."""
    settings = contact or ContactSettings(self_contact=True)
    root, finder = Root.of(rig), _finder(body, settings)
    still = np.array([root.still(pose) for pose in poses])
    points = np.array([rig.embed(pose) for pose in still])
    depths = np.array([_depth(finder, rig.positions(pose)) for pose in still])
    deep, clear = np.flatnonzero(depths > _DEPTH), np.flatnonzero(depths <= _DEPTH)
    chosen: list[int] = []
    apart = depths[deep]
    while len(chosen) < min(most, len(deep)) and apart.max() > 0.0:
        chosen.append(int(deep[first_largest(apart)]))
        apart = np.min([np.linalg.norm(points[deep] - points[k], axis=1) for k in chosen], axis=0)
    nearest = (
        [clear[first_smallest(np.linalg.norm(points[clear] - points[k], axis=1))] for k in chosen] if len(clear) else []
    )
    return np.asarray(still[[*chosen, *sorted({int(k) for k in nearest})]])


def _finder(body: Body, settings: ContactSettings) -> SelfContact:
    return SelfContact(body.mesh, thickness=settings.thickness, ignored=settings.ignored)


def _depth(finder: SelfContact, shape: FloatArray) -> float:
    """How deep a body is in itself, in mean edges of its surface."""
    return float(finder.find(shape).depth.max(initial=0.0)) / finder.edge


def _press_apart(solver: FullSolver, pose: FloatArray, shape: FloatArray, number: int) -> FloatArray:
    """Where the flesh of a pose, at rest in its shape (n, 3) [m], comes to lie beside itself [m], (n, 3)."""
    targets = shape[solver.body.pins.vertices]
    still = Inputs(Moment(0.0, targets, pose=pose), Moment(1.0, targets, pose=pose))
    state, report = solver.step(solver.start(still), still)
    if not report.contact_settled:
        warnings.warn(
            f"the body still changes where it touches itself in pose {number}: mend that pose, or mesh finer.",
            SuppleWarning,
            stacklevel=3,
        )
    return solver.positions(state)
