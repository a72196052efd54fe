"""The protocol that all methods share, so that one can be switched, compared and combined with another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.contact.result import Touch
from supple.method.measured import Measured
from supple.solve import Inputs

__all__ = ["Report", "Skip", "Solver", "largest"]

FloatArray = NDArray[np.float64]
Arrays = Mapping[str, NDArray[np.generic]]
State = TypeVar("State")


@dataclass(frozen=True)
class Skip:
    """What a method that skips steps did in one."""

    checked: bool = False
    """A reduced step whose error was estimated in full space."""
    rejected: bool = False
    """A full step in place of a reduced one that was refused."""
    corrected: bool = False
    """A step that ends where its check found the full one to end; the estimated error is that of before."""
    learned: bool = False
    """A full step after which a model was trained, or a reduced one that was taken again in a better subspace."""
    rank: int = 0
    """Of the subspace that is used or tested; 0 while there is none."""
    elements: int = 0
    """That forces of reduced steps come from; 0 in full space."""


@dataclass(frozen=True)
class Report:
    """How one step went."""

    milliseconds: dict[str, float] = field(default_factory=dict)
    """By phase, with `other` and `total`."""
    newton_iterations: int = 0
    linear_iterations: int = 0
    kind: Literal["full", "reduced", "hybrid"] = "full"
    full_share: float = 1.0
    """Share of the body's unknowns that were solved for in full space."""
    contacts: int = 0
    """That penetrate at the end of the step."""
    estimated_error: float | None = None
    """Relative to the full solver, measured in this step or since the last full one; None where nothing is measured."""
    residual: float | None = None
    """Of Newton's method, relative to the forces that act as the step begins; None where it is not measured."""
    halvings: int = 0
    """The step was split up to 2**halvings times."""
    contact_rounds: int = 0
    """Times that the step was solved with frozen contacts; 0 where there is nothing to touch."""
    contact_settled: bool = True
    """Whether a new look for contacts would have changed their forces no more."""
    touching: Touch | None = None
    """The contacts at the end of the step, None where there are none."""
    skip: Skip | None = None
    """None for methods that skip no steps."""
    converged: bool = True
    """Whether Newton's method met its tolerance, or was stopped before because its time was up; whether local and
    global steps came near enough to their minimum."""
    local_global_iterations: int = 0
    """Of projective dynamics."""
    change: float | None = None
    """Share of the step's way that these still had to go, estimated by their last changes; None for other methods."""
    linear_systems: int = 0
    """That were solved in a region of full space and the subspace about it; 0 for methods that have none."""
    linear_longest: int = 0
    """The most iterations that one of them took."""
    trained_error: float | None = None
    """Of the model on held-out cases of its training; None without a model, and once the run has left what the model
    was trained for."""


def largest(values: Iterable[float | None]) -> float | None:
    """The largest of those that are known; None where none is."""
    return max((value for value in values if value is not None), default=None)


class Solver(Protocol[State]):
    """A method: a state goes in, a state comes out."""

    name: str

    def start(self, inputs: Inputs | None = None) -> State:
        """The state at the beginning: at rest, pins where `inputs.begin` holds them."""

    def step(self, state: State, inputs: Inputs) -> tuple[State, Report]:
        """The state at the end of `inputs`."""

    def positions(self, state: State, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Positions of all or of chosen vertices [m], (k, 3)."""

    def to_full(self, state: State) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions [m], velocities [m/s] and accelerations [m/s²] of all vertices."""

    def measure(self, state: State, inputs: Inputs) -> Measured:
        """Energies and volume ratios at the end of `inputs`, at the method's own points."""

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> State:
        """The state nearest to given motion, in a pose where bones carry the state."""

    def pack(self, state: State) -> dict[str, NDArray[np.generic]]:
        """The state as arrays: what a checkpoint saves."""

    def unpack(self, arrays: Arrays) -> State:
        """The state that was packed, bit for bit."""

    def describe(self) -> list[str]:
        """What was chosen, in a user's words."""
