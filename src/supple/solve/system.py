"""The unknowns that a set of pins leaves, with everything that is worth keeping between steps."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import PROJECTED, Body, Pins, StiffnessMap
from supple.linalg.blocks import BlockRows
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.pcg import ConjugateGradients
from supple.solve.linear import (
    LinearSolver,
    choose_linear_solver,
    is_worth_a_trial,
    make_linear_solver,
    most_trial_iterations,
)

__all__ = ["System"]

FloatArray = NDArray[np.float64]
_TRIAL = 1e-2  # digits of a trial, as many as Newton's method asks for


class System:
    """Pattern, scratch matrix and linear solver of a body held by given pins."""

    def __init__(self, body: Body, pins: Pins, linear_solver: str, reach: float | None) -> None:
        self._body, self.reach = body, reach
        self.map = StiffnessMap.build(len(body.mass), body.parts, pins)
        self.points = body.mesh.vertices[self.map.free]
        self.matrix = np.empty(self.map.pattern.nonzeros)
        self.solver_name, self.reason = linear_solver, "asked for"
        if linear_solver == "auto":
            is_held = self.unknowns < 3 * len(body.mass)
            tried = self._try() if reach is None and is_held and is_worth_a_trial(self.unknowns) else None
            self.solver_name, self.reason = choose_linear_solver(self.unknowns, reach, tried)
        self.is_stiff = False
        """Whether `matrix` is that of the present step, as it was at some positions."""

    def _try(self) -> int | None:
        """Iterations of conjugate gradients to the answer to a uniform load at rest, which bends what is slender; one
        more than serve where they are not enough; None where there is no answer."""
        most = most_trial_iterations(self.unknowns)
        trial = ConjugateGradients(self.map.pattern, self.points, max_iterations=most + 1)
        self.map.assemble(self._body.parts, self._body.mesh.vertices, self.matrix, form=PROJECTED)
        self.matrix[self.map.pattern.diagonal[self.map.locked]] += 1.0
        load = np.repeat(self._body.mass[self.map.free], 3)
        load[self.map.locked] = 0.0
        try:
            trial.prepare(self.matrix)
            trial.solve(load, _TRIAL)
        except NotPositiveDefinite:
            return None
        return trial.iterations

    @property
    def unknowns(self) -> int:
        """Number of scalar unknowns."""
        return self.map.pattern.size - len(self.map.locked)

    @cached_property
    def linear(self) -> LinearSolver:
        """The linear solver; its symbolic work is done when it is first asked for."""
        return make_linear_solver(
            self.solver_name, self.map.pattern, self.points, self.reach, follows_bends=self.reach is None
        )

    @cached_property
    def whole(self) -> StiffnessMap:
        """The map to the stiffness of all vertices, as if nothing were held."""
        return StiffnessMap.build(len(self._body.mass), self._body.parts, Pins.none())

    @cached_property
    def whole_rows(self) -> BlockRows:
        """Both triangles of the pattern of all vertices."""
        return BlockRows.build(self.whole.pattern)

    @cached_property
    def places_in_whole(self) -> NDArray[np.int64]:
        """Where the entries of the unknowns' matrix stand in that of all vertices."""
        return self.map.places_in(self.whole)
