"""The subspace below full vertices: where it has any vertex, and what a step asks of its coordinates alone.

Bodies differ in what moves beside the coordinates: nothing, or the bones of a skin. Full vertices do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.cubature.packed_elements import PackedElements
from supple.cubature.reduced_elements import ReducedElements
from supple.method.condensation.anchors import Anchor
from supple.method.solver import Arrays, Report
from supple.solve.inputs import Inputs
from supple.solve.live import Live

__all__ = [
    "Ahead", "Below", "Part", "Piece", "Ruled", "Stance", "Steps", "Subspace", "fit_left",
    "invert_left", "one_part", "one_piece",
]  # fmt: skip

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None
Ruled = ReducedElements | PackedElements
"""Elements of a rule in a subspace, or in one a domain."""
Quadratic = tuple[FloatArray, FloatArray]
"""M (r, r) and b (r,) of ½ qᵀ M q - b·q."""


class Piece(NamedTuple):
    """What some coordinates do to some of a list of vertices, and all others do not."""

    vertices: slice
    coordinates: slice
    U: FloatArray
    """(3 k, c)"""


class Part(NamedTuple):
    """What some coordinates do to vertices at some places of a list."""

    where: NDArray[np.intp]
    """Ascending, (k,)."""
    at: slice
    rows: FloatArray
    """(k, 3, c)"""


class Below(Protocol):
    """A state of the coordinates."""

    @property
    def time(self) -> float:
        """[s]"""

    @property
    def shapes(self) -> FloatArray:
        """Coordinates, velocities and accelerations, (3, r)."""

    @property
    def live(self) -> Live:
        """What events have changed."""


class Stance(Protocol):
    """Where the subspace has vertices at one moment: x = origin + rows q."""

    def rows(self, vertices: Vertices = None) -> FloatArray:
        """Derivatives of positions by q, (k, 3, r)."""

    def parts(self, vertices: NDArray[np.integer]) -> list["Part"]:
        """The same, one for every domain that has some of the vertices."""

    def pieces(self, copies: NDArray[np.integer]) -> list["Piece"]:
        """The same of vertices of the body cut into domains, ascending, a piece a domain that has some."""

    def origin(self, vertices: Vertices = None) -> FloatArray:
        """Positions at q = 0 [m], (k, 3)."""

    def place(self, q: FloatArray, vertices: Vertices = None) -> FloatArray:
        """Positions [m], (k, 3)."""

    def anchor(self, q: FloatArray, vertices: NDArray[np.int32]) -> Anchor:
        """What bounds how far chosen vertices are taken from where they are now."""

    def hold(self, q: FloatArray, vertices: NDArray[np.int32]) -> Anchor | None:
        """The same for as long as nothing but coordinates moves, with lengths that stay; None where a frame does."""


class Subspace(Protocol):
    """Reads states."""

    def stance(self, below: Any) -> Stance:
        """That of a state."""

    def coordinates(self, below: Any) -> FloatArray:
        """q of a state, as its stance takes it, (r,)."""

    def field(self, below: Any, level: int, vertices: Vertices = None) -> FloatArray:
        """Positions (level 0), velocities (1) or accelerations (2) as the subspace has them, (k, 3)."""

    def fold(self, below: Any, kept: NDArray[np.integer], gone: NDArray[np.integer], motion: FloatArray) -> Any:
        """The state that is nearest to what vertices `gone` do, motion (3, k, 3), which followed it no more and do now;
        `kept` still do not."""


def one_part(rows: FloatArray) -> list[Part]:
    """Rows (k, 3, r) that are not told apart by domains."""
    return [Part(np.arange(len(rows)), slice(0, rows.shape[2]), rows)]


def one_piece(rows: FloatArray) -> list[Piece]:
    """Of a body that is not cut, from its rows (k, 3, r)."""
    return [Piece(slice(0, len(rows)), slice(0, rows.shape[2]), rows.reshape(-1, rows.shape[2]))]


def fit_left(metric: FloatArray, rows: FloatArray, mass: FloatArray) -> FloatArray:
    """The inverse of the mass that coordinates move, (r, r), once vertices with given rows (k, 3, r) and masses [kg],
    (k,), are taken from all."""
    J = rows.reshape(-1, rows.shape[2])
    return invert_left(metric - J.T @ (np.repeat(mass, 3)[:, None] * J))


def invert_left(left: FloatArray) -> FloatArray:
    """The inverse of what is left of a mass, (r, r): what hardly has any cannot be told, and stays as it is."""
    return np.asarray(np.linalg.pinv(left, rcond=1e-9, hermitian=True), np.float64)


@dataclass(frozen=True, eq=False)
class Ahead:
    """A step as the coordinates see it, the whole body following them."""

    stance: Stance
    """Of its end."""
    elements: Ruled
    """Of the rule, there."""
    inertia: Quadratic
    """Inertia and drag by mass."""
    load: FloatArray
    """Forces on the coordinates, (r,)."""
    begin: FloatArray
    guess: FloatArray
    """Coordinates, (r,)."""
    carry: Callable[[FloatArray, NDArray[np.integer]], FloatArray]
    """Takes positions of vertices [m], (k, 3), along to the end's stance."""
    turn: Callable[[FloatArray], FloatArray]
    """Turns positions [m], (k, 3), along with what holds the body, as one piece."""
    resist: Callable[[Ruled], Quadratic]
    """Drag by stiffness of elements like those above."""
    untie: Callable[[NDArray[np.integer]], FloatArray] | None = None
    """Springs between copies of chosen vertices, (r, r), among the inertia; None where no vertex has copies."""


class Steps(Protocol):
    """A subspace that also moves."""

    @property
    def subspace(self) -> Subspace:
        """What reads its states."""

    def start(self, inputs: Inputs | None) -> Any:
        """The state at rest."""

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float, pose: FloatArray | None, last: Any | None
    ) -> Any:
        """The state nearest to given motion, after the state `last` where there was one."""

    def step(self, below: Any, inputs: Inputs) -> tuple[Any, Report]:
        """A step without any full vertex."""

    def prepare(self, below: Any, inputs: Inputs) -> Ahead:
        """The step from a state."""

    def serves(self, below: Any, ahead: Ahead, q: FloatArray) -> bool:
        """Whether its end at q is near enough to the stance; if not, the next `prepare` begins from there."""

    def arrive(self, below: Any, ahead: Ahead, q: FloatArray, inputs: Inputs) -> Any:
        """The state at the end of a step that ends at q."""

    def unpack(self, arrays: Arrays) -> Any:
        """The state that was packed."""
