"""One kind of thing that is wrong with a mesh: how often, where, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flaw", "locate"]

LISTED = 5  # of the offenders that a message names

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Flaw:
    """What a check found; `error` means that the mesh is refused as it is."""

    kind: str  #: such as "inverted tets"
    severity: Severity
    count: int
    where: tuple[int, ...]  #: numbers of the first, or the worst, offenders
    near: tuple[tuple[float, float, float], ...]  #: where these lie, in the file's unit
    what: str  #: in a user's words
    then: str  #: what will happen if the mesh is used as it is
    fix: str  #: what the repair does about it, or what else helps

    def text(self) -> str:
        """All of it as a sentence."""
        places = ", ".join(
            f"{number} near ({', '.join(f'{value:.4g}' for value in point)})"
            for number, point in zip(self.where, self.near, strict=False)
        )
        listed = f" [{places}{', ...' if self.count > len(self.where) else ''}]" if places else ""
        return f"{self.what}{listed}: {self.then}; {self.fix}."

    def facts(self) -> dict[str, Any]:
        """The same for programs."""
        return asdict(self)


def locate(
    vertices: NDArray[np.float64],
    cells: Sequence[NDArray[np.integer]] | NDArray[np.integer],
    numbers: NDArray[np.integer],
) -> tuple[tuple[int, ...], tuple[tuple[float, float, float], ...]]:
    """The first few of these cells, and the middle of each as far as its corners lie anywhere."""
    first = tuple(int(number) for number in numbers[:LISTED])
    near = []
    for number in first:
        corners = np.asarray(cells[number])
        inside = corners[(corners >= 0) & (corners < len(vertices))]
        points = vertices[inside]
        points = points[np.isfinite(points).all(axis=1)]
        x, y, z = points.mean(axis=0) if len(points) else (0.0, 0.0, 0.0)
        near.append((float(x), float(y), float(z)))
    return first, tuple(near)
