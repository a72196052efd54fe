"""The full solver on the same take, by which the error of a reduced method is known as it plays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.scene.build import full_solver
from supple.scene.simulate import advance, start_scene
from supple.view.take import MEMORY, Take

__all__ = ["Reference"]


class Reference:
    """Goes through a take's frames with the full solver, as far as it is asked to, under the same events."""

    def __init__(self, take: Take) -> None:
        self.take = take
        self._built = replace(take.built, solver=full_solver(take.built))
        self._now = start_scene(self._built)
        self._kept = max(2, MEMORY // (24 * len(take.built.mesh.vertices)))
        self._x = {self._now.frame: self._built.solver.positions(self._now.state)}

    def positions(self, frame: int, say: Callable[[str], None]) -> NDArray[np.float64] | None:
        """Where vertices are in a frame of the take [m], (n, 3); None for one that is not kept any more."""
        while self._now.frame < frame:
            if frame - self._now.frame > 1:
                say(f"the full solver is at frame {self._now.frame} of {frame} ...")
            self._now = advance(self._built, self._now, self.take.log.get(self._now.frame, ()))
            self._x[self._now.frame] = self._built.solver.positions(self._now.state)
            self._x.pop(self._now.frame - self._kept, None)
        return self._x.get(frame)
