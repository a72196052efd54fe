"""What a model was trained and judged for, beside what a run asks of it: warns of what lies outside, once of each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleWarning
from supple.method.novelty import GRAVITY, digest_load
from supple.method.reach import BEYOND
from supple.scene.stage import Built
from supple.solve import Gravity, Inputs, NodalForce

__all__ = ["TrainedRange"]

SAME = 1e-3  #: share by which a stiffness may differ from the trained one


class TrainedRange:
    """Watches steps, stiffness, gravity and the sizes of forces of a run in a trained subspace.

    What the subspace itself can tell (directions of loads, poses, how far it is bent) its solver warns of.
    """

    def __init__(self, built: Built) -> None:
        facts: Mapping[str, Any] = {} if built.model is None else built.model.facts
        self._has_model = built.model is not None
        self._known, self._sizes = set[str](), dict[str, float]()
        for entry in facts.get("loads", ()):
            if isinstance(entry, Mapping) and "size" in entry:
                self._sizes[entry["patch"]] = max(self._sizes.get(entry["patch"], 0.0), float(entry["size"]))
        steps, length = facts.get("heldout_steps"), facts.get("step_s")
        is_static = built.scene.time.integrator == "static"
        self._judged = None if steps is None or length is None or is_static else float(steps) * float(length)
        self._steps = steps
        self._names: dict[tuple[int, int], tuple[NDArray[Any], NDArray[Any], str]] = {}

    @property
    def is_left(self) -> bool:
        """Whether the run has left what the model is known for."""
        return bool(self._known)

    def check(self, frame: int, run_for: float, state: Any, inputs: Inputs) -> None:
        """Look at a frame that ends `run_for` [s] after the beginning of the run, pre-roll included."""
        if not self._has_model:
            return
        if self._judged is not None and run_for > self._judged * (1.0 + 1e-9):
            self._leave(
                "steps",
                f"frame {frame}: the run goes on past the {self._steps} steps ({self._judged:.3g} s) that its model "
                "was judged for, so its error is not known from here on: raise training.steps and train again.",
            )
        live = state.live
        if abs(live.stiffness - 1.0) > SAME:
            self._leave(
                f"stiffness {live.stiffness:.3g}",
                f"frame {frame}: the body is {live.stiffness:.3g} times as stiff as its model was trained for, so its "
                "error is not known: train with that stiffness, or use the full solver.",
            )
        for force in live.forces(inputs.end.forces):
            found = self._size_of(force)
            if found is None:
                continue
            what, patch, size = found
            trained = self._sizes.get(patch)
            if trained is not None and size > BEYOND * trained:
                self._leave(
                    f"size {patch}",
                    f"frame {frame}: {what} is {size / trained if trained else np.inf:.3g} times as strong as any in "
                    "training, so the error is not known: train with stronger loads (training.strength), or use the "
                    "full solver.",
                )

    def _size_of(self, force: object) -> tuple[str, str, float] | None:
        """What a force is called, what it acts on, and its size."""
        if isinstance(force, Gravity):
            return "gravity", GRAVITY, float(np.linalg.norm(force.acceleration))
        if type(force) is not NodalForce:
            return None
        key = id(force.vertices), id(force.weights)
        if key not in self._names:  # the arrays are kept too, so that no others can get their numbers
            patch = digest_load(force.vertices, force.weights)
            self._names[key] = np.asarray(force.vertices), np.asarray(force.weights), patch
        what = f"a force on {len(force.vertices)} vertices"
        return what, self._names[key][2], float(np.linalg.norm(force.vector))

    def _leave(self, kind: str, text: str) -> None:
        if kind not in self._known:
            self._known.add(kind)
            warnings.warn(text, SuppleWarning, stacklevel=4)
