"""A body whose surface springs draw to where it should be: the energy of Eq. (3) of [XB16]."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import ConvergenceError
from supple.material import Material
from supple.mesh.embed import Embedding
from supple.mesh.quality import edge_lengths
from supple.mesh.tetmesh import TetMesh
from supple.solve.events import Grab
from supple.solve.increment import Increment
from supple.solve.integrator import static
from supple.solve.newton import NewtonFailure, minimise
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["SpringFit"]

FloatArray = NDArray[np.float64]

_ITERATIONS = 60  # of Newton's method
_ROUND_OFF = 1e-12  # forces below this share of the unit stiffness times the mesh's size are none


class SpringFit:
    """Elastic energy of the tets plus springs from their embedded surface to targets."""

    def __init__(self, mesh: TetMesh, surface: Embedding, material: Material, tolerance: float) -> None:
        """`tolerance` is the residual, relative to the forces there are, at which a search ends."""
        self.body = Body.build(mesh, material)
        self.surface = surface
        self.unit = float(edge_lengths(mesh).mean()) * max(part.material.mu for part in self.body.parts)
        """Shear modulus times edge length [N/m]: what springs are measured by."""
        self._tolerance = tolerance
        self._system = System(self.body, self.body.pins, "auto", None)

    def relax(self, x: FloatArray, targets: FloatArray, stiffness: FloatArray, name: str) -> FloatArray:
        """Positions [m], (n, 3), of least energy from x on, with springs [N/m] to targets [m], (k, 3)."""
        corners, weights = self.surface.corners.tolist(), self.surface.weights.tolist()
        springs = tuple(
            Grab(str(k), tuple(corners[k]), tuple(weights[k]), (goal[0], goal[1], goal[2]), stiff)
            for k, (goal, stiff) in enumerate(zip(targets.tolist(), stiffness.tolist(), strict=True))
        )
        step = Increment(
            self.body.parts, self.body.mass, static(x, x, x, 0.0), 0.0, None, np.zeros_like(x), springs,
            self._system.map,
        )  # fmt: skip
        floor = _ROUND_OFF * self.unit * self.body.mesh.size()
        reference = sum(float(np.linalg.norm(force)) for force in step.terms(x).values())
        try:
            return minimise(
                step, self._system, x, step.gradient(x), reference=max(reference, floor), floor=floor,
                tolerance=self._tolerance, max_iterations=_ITERATIONS, watch=Stopwatch(),
            ).x  # fmt: skip
        except NewtonFailure as failure:
            if np.isfinite(step.gradient(failure.x)).all():
                return failure.x  # not the very least, but all that counts is the distance to the surface
            raise ConvergenceError(
                f"the material of the tet fit cannot follow the rig in {name} ({failure.reason}): choose one that "
                "bears inversion, such as stable_neo_hookean."
            ) from failure

    def away(self, x: FloatArray, targets: FloatArray) -> FloatArray:
        """Distances [m] of the embedded surface from its targets, (k,)."""
        return np.asarray(np.linalg.norm(self.surface.apply(x) - targets, axis=1))
