"""The tet mesh of a rigged surface follows the rig ([XB16] 4.1)."""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.elastic import Body
from supple.errors import ConvergenceError, MeshError, SceneError, SuppleWarning
from supple.material import Material, StableNeoHookean
from supple.mesh.checks import plural
from supple.mesh.embed import Embedding, embed
from supple.mesh.quality import edge_lengths
from supple.mesh.tetmesh import TetMesh
from supple.rig.pose_space import PoseSpace
from supple.rig.pose_weights import PoseWeights
from supple.rig.rig import Rig
from supple.rig.shepard import Shepard
from supple.solve.events import Grab
from supple.solve.increment import Increment
from supple.solve.integrator import static
from supple.solve.newton import NewtonFailure, minimise
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["TetFit", "fit_tets"]

FloatArray = NDArray[np.float64]

_TOLERANCE = 0.5  # of an edge of the mesh: a finer surface cannot be met better than its tets bend
_FIRST_STIFFNESS = 1.0  # of the springs to the surface, in units of shear modulus times edge length
_ROUNDS = 8  # of stiffening the springs of vertices that are off
_STIFFER = 30.0  # at most, from one round to the next
_SOFTER = 0.1  # from one round to the next, near tets that are flat or inside out
_FLAT = 0.1  # of its volume at rest: what is left of such a tet
_NEWTON_TOLERANCE, _NEWTON_ITERATIONS = 1e-5, 60
_ASTRAY = 5.0  # heights of a tet by which a surface vertex may lie outside it
_ROUND_OFF = 1e-12  # forces below this share of the unit stiffness times the mesh's size are none


class TetFit:
    """Physical fits of a tet mesh to a rigged surface, Eq. (3) of [XB16].

    The elastic energy plus springs that draw the embedded surface to where the rig has it is least. The springs of
    vertices that stay farther off than the tolerance are stiffened until none does; what it leaves is used to unfold
    tets.
    """

    def __init__(
        self, mesh: TetMesh, rig: Rig, material: Material | None = None, tolerance: float | None = None
    ) -> None:
        """`rig` moves a surface in the mesh; `tolerance` [m] is half a mean edge of the mesh unless given.

        Only how the material shears and keeps its volume matters, not how stiff it is.
        """
        edge = float(edge_lengths(mesh).mean())
        self.tolerance = _TOLERANCE * edge if tolerance is None else float(tolerance)
        if not (np.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise SceneError(f"tolerance = {tolerance} of the tet fit is no length: give metres above 0.")
        self._rig = rig
        self.rough = Shepard(rig, mesh.vertices)
        """The mesh as the nearest surface vertices carry it; where a fit begins."""
        self._surface = _embed_surface(mesh, rig.rest)
        self._body = Body.build(mesh, material or StableNeoHookean(young=1e4, poisson=0.4, density=1e3))
        self._system = System(self._body, self._body.pins, "auto", None)
        self._unit = edge * max(part.material.mu for part in self._body.parts)

    def fit(self, pose: FloatArray, name: str = "the pose") -> FloatArray:
        """Tet vertices [m], (n, 3), whose embedded surface lies within the tolerance of the rig in a pose.

        Errors and warnings call the pose by its `name`.
        """
        targets = self._rig.positions(pose)
        stiffness = np.full(len(targets), _FIRST_STIFFNESS * self._unit)
        x, best, worst = self.rough.positions(pose), np.inf, 0
        for _ in range(_ROUNDS):
            x = self._relax(x, targets, stiffness, name)
            off = np.linalg.norm(self._surface.apply(x) - targets, axis=1)
            if off.max() <= self.tolerance:
                return self._unfold(x, targets, stiffness, name)
            best, worst = min((best, worst), (float(off.max()), int(off.argmax())))
            stiffness *= np.clip((2.0 * off / self.tolerance) ** 2, 1.0, _STIFFER)
        raise ConvergenceError(
            f"in {name} the tets bring vertex {worst} of the surface no nearer than {best:.3g} m to its place in the "
            f"rig, where the fit asks for {self.tolerance:.3g} m: mesh finer, or give a larger tolerance."
        )

    def _unfold(self, x: FloatArray, targets: FloatArray, stiffness: FloatArray, name: str) -> FloatArray:
        """The fit, its springs softened near tets that are flat or inside out as long as the tolerance allows."""
        tets = self._body.mesh.tets
        for _ in range(_ROUNDS):
            flat = self._body.jacobians(x) < _FLAT
            if not flat.any():
                break
            near = np.isin(self._surface.corners, tets[flat]).any(axis=1)
            stiffness = np.where(near, _SOFTER * stiffness, stiffness)
            softer = self._relax(x, targets, stiffness, name)
            if np.linalg.norm(self._surface.apply(softer) - targets, axis=1).max() > self.tolerance:
                break
            x = softer
        self._warn_of_inverted_tets(x, name)
        return x

    def _relax(self, x: FloatArray, targets: FloatArray, stiffness: FloatArray, name: str) -> FloatArray:
        """Positions of least energy, elastic and of springs [N/m] of every surface vertex to its target [m]."""
        corners, weights = self._surface.corners.tolist(), self._surface.weights.tolist()
        springs = tuple(
            Grab(str(k), tuple(corners[k]), tuple(weights[k]), (goal[0], goal[1], goal[2]), stiff)
            for k, (goal, stiff) in enumerate(zip(targets.tolist(), stiffness.tolist(), strict=True))
        )
        step = Increment(
            self._body.parts, self._body.mass, static(x, x, x, 0.0), 0.0, None, np.zeros_like(x), springs,
            self._system.map,
        )  # fmt: skip
        floor = _ROUND_OFF * self._unit * self._body.mesh.size()
        reference = sum(float(np.linalg.norm(force)) for force in step.terms(x).values())
        try:
            return minimise(
                step, self._system, x, step.gradient(x), reference=max(reference, floor), floor=floor,
                tolerance=_NEWTON_TOLERANCE, max_iterations=_NEWTON_ITERATIONS, watch=Stopwatch(),
            ).x  # fmt: skip
        except NewtonFailure as failure:
            if np.isfinite(step.gradient(failure.x)).all():
                return failure.x  # not the very least, but all that counts is the distance to the surface
            raise ConvergenceError(
                f"the material of the tet fit cannot follow the rig in {name} ({failure.reason}): choose one that "
                "bears inversion, such as stable_neo_hookean."
            ) from failure

    def _warn_of_inverted_tets(self, x: FloatArray, name: str) -> None:
        volumes = self._body.jacobians(x)
        if volumes.min() <= 0.0:
            warnings.warn(
                f"the fit to {name} turns {plural(int((volumes <= 0.0).sum()), 'tet')} inside out, tet "
                f"{volumes.argmin()} most: mend the pose where the surface passes through itself, or mesh finer.",
                SuppleWarning,
                stacklevel=4,
            )


def _embed_surface(mesh: TetMesh, points: FloatArray) -> Embedding:
    """The rig's surface in the mesh; it may stick out by less than it is carried astray."""
    found = embed(mesh, points)
    least = found.weights.min(axis=1)
    if least.min() < -_ASTRAY:
        raise MeshError(
            f"vertex {least.argmin()} of the rig lies far outside the tet mesh: give both in the same place and unit."
        )
    return found


def fit_tets(
    mesh: TetMesh, rig: Rig, poses: ArrayLike, material: Material | None = None, tolerance: float | None = None
) -> PoseSpace:
    """A rig over the tet vertices that follows the surface of another one.

    In the given poses, (k, p), and the neutral one the embedded surface is within the tolerance [m] of that rig;
    between them the differences to Shepard's interpolation are interpolated in pose space.
    """
    fit = TetFit(mesh, rig, material, tolerance)
    chosen = np.asarray(poses, np.float64)
    PoseWeights([rig.embed(pose) for pose in chosen])  # poses given twice are told before any is fitted
    fits = [fit.fit(pose, f"pose {k}") for k, pose in enumerate(chosen)]
    rough = [fit.rough.positions(pose) for pose in chosen]
    return PoseSpace(fit.rough, chosen, np.subtract(fits, rough))
