"""Any Python function as a rig."""

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, describe, refuse
from supple.errors import SceneError
from supple.rig.levers import measure_levers
from supple.rig.pose import check_pose

__all__ = ["BlackBox"]

FloatArray = NDArray[np.float64]

_AT_REST = 1e-4  # of the body's size: how far a function may put a vertex from rest in the neutral pose


class BlackBox:
    """A function from a pose to positions [m], (n, 3).

    If it also takes `vertices`, an array of vertex numbers, it is asked for those alone and gives (k, 3).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        rest: ArrayLike,
        neutral: ArrayLike,
        controls: Sequence[str],
        scales: ArrayLike | None = None,
    ) -> None:
        """`scales`: length [m] that a unit of each control stands for; None measures what it moves, see `embed`."""
        self._function = function
        self._name = getattr(function, "__name__", type(function).__name__)
        self._picks = _takes_vertices(function)
        if not callable(function):
            refuse("BlackBox(function)", describe(function), "a function of a pose")
        self.rest: FloatArray = as_floats(rest, "BlackBox(rest)", ("n", 3), unit="m")
        self.controls = tuple(controls)
        self.neutral: FloatArray = check_pose(neutral, self.controls)
        self._given = None if scales is None else _check_scales(scales, self.controls)
        away = np.linalg.norm(self.positions(self.neutral) - self.rest, axis=1)
        if away.max() > _AT_REST * np.linalg.norm(np.ptp(self.rest, axis=0)):
            raise SceneError(
                f"the rig function '{self._name}' puts vertex {away.argmax()} {away.max():.3g} m from its rest in the "
                "neutral pose: give the positions of that pose as rest."
            )

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        checked = check_pose(pose, self.controls).copy()  # the function may write into it
        if vertices is not None and self._picks:
            return self._check(self._function(checked, vertices=vertices), len(vertices))
        everything = self._check(self._function(checked), len(self.rest))
        return everything if vertices is None else everything[vertices]

    @cached_property
    def scales(self) -> FloatArray:
        """Length that a unit of each control stands for [m], (p,)."""
        levers = measure_levers(self) if self._given is None else self._given
        if not levers.all():
            name = self.controls[int(np.argmin(levers))]
            raise SceneError(f"control '{name}' of '{self._name}' moves nothing about the neutral pose: give scales.")
        return levers

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], (p,): each control by its scale, nothing taken for a full turn."""
        return check_pose(pose, self.controls) * self.scales

    def _check(self, result: Any, count: int) -> FloatArray:
        found = np.asarray(result, np.float64)
        if found.shape != (count, 3):
            raise SceneError(
                f"the rig function '{self._name}' returned shape {found.shape}: let it return ({count}, 3)."
            )
        if not np.isfinite(found).all():
            row = int(np.argmin(np.isfinite(found).all(axis=1)))
            raise SceneError(f"the rig function '{self._name}' returned no finite position in row {row}: correct it.")
        return found


def _takes_vertices(function: Callable[..., Any]) -> bool:
    try:
        return "vertices" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions may not tell what they take
        return False


def _check_scales(scales: ArrayLike, controls: tuple[str, ...]) -> FloatArray:
    return as_floats(scales, "BlackBox(scales)", (len(controls),), unit="m", above=0.0)
