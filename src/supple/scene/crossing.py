"""Whether surfaces have passed through each other in a step: the check that `[contact] ccd` asks for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.contact.ccd import Crossing, check_step
from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.errors import SuppleWarning
from supple.scene.stage import Stage
from supple.solve import Inputs, Placement

__all__ = ["CrossingCheck", "make_check"]

FloatArray = NDArray[np.float64]
_TURNED = -1e-6  # cosine below which the nearest side faces more than a right angle away from the one touched


def make_check(stage: Stage) -> CrossingCheck | None:
    """The check, where the scene asks for it."""
    return CrossingCheck(stage) if stage.contact is not None and stage.contact.ccd else None


class CrossingCheck:
    """Counts what passed through something, step by step, and says so once.

    A surface that has sunk in and is pushed back by a contact has not passed: that is how penalty contact works. What
    has gone beyond the middle of a collider has, for it will be pushed out on the far side. All else that met on the
    straight way from one step to the next counts. What a step without crossings promises is said in
    `supple.contact.ccd`.
    """

    def __init__(self, stage: Stage) -> None:
        self._triangles = stage.mesh.surface_triangles()
        self._colliders = stage.drive.colliders
        self._itself = stage.contact is not None and stage.contact.self_contact
        self._names = [obstacle.key for obstacle in stage.drive.obstacles]
        self._metres = stage.scene.metres
        self._warned = False

    def count(self, begin: FloatArray, end: FloatArray, inputs: Inputs, touching: Touch | None) -> int:
        """Passages in a step between positions [m], (n, 3), that ends with these contacts."""
        found = check_step(
            self._triangles, begin, end, self._colliders, inputs.begin.colliders, inputs.end.colliders, self._itself
        )
        held = [] if touching is None or not found else self._find_held(end, inputs.end.colliders, touching)
        passed = [crossing for crossing in found if not _is_held(crossing, held)]
        if passed and not self._warned:
            self._warned = True
            self._warn(passed[0], len(passed), inputs.end.time)
        return len(passed)

    def _find_held(self, x: FloatArray, placements: Sequence[Placement], touching: Touch) -> list[NDArray[np.int32]]:
        """Vertices that contacts push back at x [m], (n, 3): those of every collider, at last those of the body."""
        held = []
        for number, (collider, placement) in enumerate(zip(self._colliders, placements, strict=True)):
            own = touching.source == number
            vertices, normal = touching.vertex[own], touching.normal[own]
            nearest = placement.turn(collider.closest(placement.localise(x[vertices])).normal)
            held.append(vertices[np.einsum("mi,mi->m", nearest, normal) > _TURNED])
        return [*held, touching.vertex[touching.source == SELF]]

    def _warn(self, first: Crossing, count: int, time: float) -> None:
        place = ", ".join(f"{value / self._metres:.4g}" for value in first.place)
        what = "itself" if first.source == SELF else self._names[first.source]
        warnings.warn(
            f"in the step to {time:.6g} s the body passed through {what} at ({place}), with {count} pairs of vertices, "
            "edges and triangles: use more substeps, a finer mesh or a stiffer contact (said once: reports count the "
            "crossings of every frame).",
            SuppleWarning,
            stacklevel=3,
        )


def _is_held(crossing: Crossing, held: Sequence[NDArray[np.int32]]) -> bool:
    """Whether a contact with the same thing pushes back what crossed."""
    vertices = crossing.vertices + (crossing.others if crossing.source == SELF else ())
    return bool(held) and bool(np.isin(vertices, held[crossing.source]).any())
