"""Whether surfaces have passed through each other in a step: the check that `[contact] ccd` asks for."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.contact.ccd import Crossing, check_step
from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.errors import SuppleWarning
from supple.scene.build import Stage
from supple.solve import Inputs

__all__ = ["CrossingCheck", "make_check"]

FloatArray = NDArray[np.float64]


def make_check(stage: Stage) -> CrossingCheck | None:
    """The check, where the scene asks for it."""
    return CrossingCheck(stage) if stage.contact is not None and stage.contact.ccd else None


class CrossingCheck:
    """Counts what passed through something, step by step, and says so once.

    A surface that has sunk in and is pushed back by a contact has not passed: that is how penalty contact works. All
    else that met on the straight way from one step to the next counts. What a step without crossings promises is
    said in `supple.contact.ccd`.
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
        ).crossings
        passed = [crossing for crossing in found if not _is_held(crossing, touching)]
        if passed and not self._warned:
            self._warned = True
            self._warn(passed[0], len(passed), inputs.end.time)
        return len(passed)

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


def _is_held(crossing: Crossing, touching: Touch | None) -> bool:
    """Whether a contact with the same thing pushes back what crossed."""
    if touching is None:
        return False
    vertices = crossing.vertices + (crossing.others if crossing.source == SELF else ())
    held = touching.vertex[touching.source == crossing.source]
    return bool(np.isin(vertices, held).any())
