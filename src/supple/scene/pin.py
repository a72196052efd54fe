"""The `[[pin]]` table: vertices that are held, moved, turned or let go."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from supple.scene.motion import Move, Turn, carry
from supple.scene.section import Section, Unit
from supple.scene.select import Select

__all__ = ["Pin"]


class Pin(Section):
    """Vertices whose positions are given; the rest of the body follows."""

    name: str | None = Field(default=None, description="a name for messages")
    select: Select = Field(description='which vertices, such as "min x" (see selections)')
    axes: str = Field(default="xyz", description='axes that are held, such as "y" for a sliding foot')
    move: Move | None = Field(default=None, description="translation: a list of keys { t, by }, or { velocity }")
    turn: Turn | None = Field(
        default=None, description="rotation: { axis, about, keys = [{ t, degrees }] } or { axis, speed }"
    )
    from_: Annotated[float | None, Unit("s")] = Field(
        default=None,
        alias="from",
        description="time at which it takes hold of its vertices where they are (default: the start)",
    )
    until: Annotated[float | None, Unit("s")] = Field(
        default=None, description="time at which it lets go (default: never)"
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> Pin:
        axes = self.axes
        if not axes or set(axes) - set("xyz") or len(set(axes)) != len(axes):
            raise ValueError(f'has axes = "{axes}": name each of x, y and z at most once, such as "xyz" or "y"')
        check_interval(self.from_, self.until)
        if self.from_ is not None and (self.move or self.turn):
            raise ValueError("has from, so it holds its vertices where they are then: remove move and turn")
        return self

    def holds(self, time: float) -> bool:
        """Whether the pin holds its vertices during a step that begins at `time` [s]."""
        return is_within(time, self.from_, self.until)

    def targets(self, rest: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        """Where vertices with these rest positions [m], shape (k, 3), are held at `time` [s]."""
        return carry(rest, rest.mean(axis=0), self.move, self.turn, time)


def check_interval(begin: float | None, end: float | None) -> None:
    """Refuse an interval that ends before it begins."""
    if begin is not None and end is not None and end <= begin:
        raise ValueError(f"ends (until = {end:g}) before it begins (from = {begin:g}): swap them")


def is_within(time: float, begin: float | None, end: float | None) -> bool:
    """Whether `time` lies in [begin, end), with a slack that forgives rounding of frame times."""
    slack = 1e-9
    return (begin is None or time >= begin - slack) and (end is None or time < end - slack)
