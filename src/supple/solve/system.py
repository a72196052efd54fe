"""The unknowns that a set of pins leaves, with everything that is worth keeping between steps."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Pins, StiffnessMap
from supple.linalg.blocks import BlockRows
from supple.solve.linear import LinearSolver, choose_linear_solver, make_linear_solver

__all__ = ["System"]

FloatArray = NDArray[np.float64]


class System:
    """Pattern, scratch matrix and linear solver of a body held by given pins."""

    def __init__(self, body: Body, pins: Pins, linear_solver: str, reach: float | None) -> None:
        self._body, self.reach = body, reach
        self.map = StiffnessMap.build(len(body.mass), body.parts, pins)
        self.solver_name, self.reason = linear_solver, "asked for"
        if linear_solver == "auto":
            self.solver_name, self.reason = choose_linear_solver(self.unknowns, reach)
        self.points = body.mesh.vertices[self.map.free]
        self.matrix = np.empty(self.map.pattern.nonzeros)
        self.is_stiff = False
        """Whether `matrix` is that of the present step, as it was at some positions."""

    @property
    def unknowns(self) -> int:
        """Number of scalar unknowns."""
        return self.map.pattern.size - len(self.map.locked)

    @cached_property
    def linear(self) -> LinearSolver:
        """The linear solver; its symbolic work is done when it is first asked for."""
        return make_linear_solver(self.solver_name, self.map.pattern, self.points, self.reach)

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
