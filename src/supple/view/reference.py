"""The full solver on the same take, by which the error of a reduced method is known as it plays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.scene.change import carry
from supple.scene.simulate import advance, start_scene
from supple.scene.solvers import full_solver
from supple.scene.stage import Built
from supple.view.take import MEMORY, Take

__all__ = ["Reference"]


class Reference:
    """Goes through a take's frames with the full solver, as far as it is asked to, under the same events."""

    def __init__(self, take: Take) -> None:
        self.take = take
        self._made_of, self._built = take.scene, _in_full(take.scene)
        self._now = start_scene(self._built)
        self._kept = max(2, MEMORY // (24 * len(take.scene.mesh.vertices)))
        self._x = {self._now.frame: self._built.solver.positions(self._now.state)}

    def positions(self, frame: int, say: Callable[[str], None]) -> NDArray[np.float64] | None:
        """Where vertices are in a frame of the take [m], (n, 3); None for one that is not kept any more."""
        while self._now.frame < frame:
            if frame - self._now.frame > 1:
                say(f"the full solver is at frame {self._now.frame} of {frame} ...")
            self._advance()
            self._x[self._now.frame] = self._built.solver.positions(self._now.state)
            self._x.pop(self._now.frame - self._kept, None)
        return self._x.get(frame)

    def _advance(self) -> None:
        """One more frame, of the scene as the take then has it."""
        version, old = self.take.versions.at(self._now.frame + 1), self._built
        state, events = self._now.state, self.take.log.get(self._now.frame, ())
        if version is not self._made_of:
            self._made_of, self._built = version, _in_full(version)
            state, told = carry(old, self._built, state)
            events = (*told, *events)
        self._now = advance(self._built, self._now._replace(state=state), events)


def _in_full(built: Built) -> Built:
    """The scene under the full solver."""
    return replace(built, scene=built.scene.under("full"), solver=full_solver(built), model=None)
