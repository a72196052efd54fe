"""The tet mesh of a rigged surface follows the rig ([XB16] 4.1)."""

import warnings
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import ConvergenceError, MeshError, SceneError, SuppleWarning
from supple.material import Material, StableNeoHookean
from supple.material.barrier import Barrier
from supple.mesh.checks import plural
from supple.mesh.embed import Embedding, embed
from supple.mesh.quality import edge_lengths
from supple.mesh.tetmesh import TetMesh
from supple.rig.pose_space import PoseSpace
from supple.rig.pose_weights import PoseWeights
from supple.rig.rig import Rig
from supple.rig.shepard import Shepard
from supple.rig.spring_fit import SpringFit

__all__ = ["TetFit", "fit_tets"]

FloatArray = NDArray[np.float64]

_TOLERANCE = 0.5  # of an edge of the mesh: a finer surface cannot be met better than its tets bend
_FIRST_STIFFNESS = 1.0  # of the springs to the surface, in units of shear modulus times edge length
_ROUNDS = 8  # of stiffening the springs of vertices that are off
_STIFFER = 30.0  # at most, from one round to the next
_SOFTER = 0.1  # from one round to the next, near tets that are flat or inside out
_FLAT = 0.1  # of its volume at rest: what is left of such a tet
_EXACT, _ROUGH = 1e-5, 1e-3  # residuals at which a fit is done, and one in which the tolerance does not count
_ASTRAY = 5.0  # heights of a tet by which a surface vertex may lie outside it
_CREASED = 0.05  # of its volume at rest: with less left of a tet a fit is made anew
_PRESS = 3.0  # stiffness of the springs where tets are pressed flat rather than turned inside out
_ROOMY, _KEPT = 0.5, 0.5  # of its volume: what a tet beside which springs are stiffened has, what it must not lose
_STRIDE = 3.0  # edges that the surface moves in one step then


class TetFit:
    """Physical fits of a tet mesh to a rigged surface, Eq. (3) of [XB16].

    The elastic energy plus springs that draw the embedded surface to where the rig has it is least. The springs of
    vertices that stay farther off than the tolerance are stiffened until none does; what it leaves is used to unfold
    tets. Where the surface passes through itself no fit within the tolerance has all tets the right way round; then
    the mesh is led there from rest, its tets pressed flat if need be, and the tolerance does not hold at the crease.
    """

    def __init__(
        self, mesh: TetMesh, rig: Rig, material: Material | None = None, tolerance: float | None = None
    ) -> None:
        """`rig` moves a surface in the mesh; `tolerance` [m] is half a mean edge of the mesh unless given.

        Only how the material shears and keeps its volume matters, not how stiff it is.
        """
        self._edge = float(edge_lengths(mesh).mean())
        self.tolerance = _TOLERANCE * self._edge if tolerance is None else float(tolerance)
        if not (np.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise SceneError(f"tolerance = {tolerance} of the tet fit is no length: give metres above 0.")
        self._rig = rig
        self.rough = Shepard(rig, mesh.vertices)
        """The mesh as the nearest surface vertices carry it; where a fit begins."""
        surface = _embed_surface(mesh, rig.rest)
        flesh = material or StableNeoHookean(young=1e4, poisson=0.4, density=1e3)
        self._soft = SpringFit(mesh, surface, flesh, _EXACT)
        self._fits = [(rig.neutral, mesh.vertices)]  # poses, and shapes without a tet inside out, to begin from

    def fit(self, pose: FloatArray, name: str = "the pose") -> FloatArray:
        """Tet vertices [m], (n, 3), whose embedded surface lies within the tolerance of the rig in a pose.

        Errors and warnings call the pose by its `name`.
        """
        targets = self._rig.positions(pose)
        stiffness = np.full(len(targets), _FIRST_STIFFNESS * self._soft.unit)
        x, best, worst = self.rough.positions(pose), np.inf, 0
        for _ in range(_ROUNDS):
            x = self._soft.relax(x, targets, stiffness, name)
            off = self._soft.away(x, targets)
            if off.max() <= self.tolerance:
                return self._keep(pose, self._unfold(x, targets, stiffness, name), name)
            best, worst = min((best, worst), (float(off.max()), int(off.argmax())))
            stiffness *= np.clip((2.0 * off / self.tolerance) ** 2, 1.0, _STIFFER)
        raise ConvergenceError(
            f"in {name} the tets bring vertex {worst} of the surface no nearer than {best:.3g} m to its place in the "
            f"rig, where the fit asks for {self.tolerance:.3g} m: mesh finer, or give a larger tolerance."
        )

    def _keep(self, pose: FloatArray, x: FloatArray, name: str) -> FloatArray:
        """The fit, or where it has tets inside out or nearly so, the one that was led there, if that is better."""
        least = float(self._soft.body.jacobians(x).min())
        if least < _CREASED:
            led = self._press(pose, name)
            if self._soft.body.jacobians(led).min() > least:
                x = led
            self._warn(x, self._rig.positions(pose), name)
        self._fits.append((np.array(pose, np.float64), x))
        return x

    def _unfold(self, x: FloatArray, targets: FloatArray, stiffness: FloatArray, name: str) -> FloatArray:
        """The fit, its springs softened near tets that are flat or inside out as long as the tolerance allows."""
        tets = self._soft.body.mesh.tets
        for _ in range(_ROUNDS):
            flat = self._soft.body.jacobians(x) < _FLAT
            if not flat.any():
                break
            near = np.isin(self._soft.surface.corners, tets[flat]).any(axis=1)
            stiffness = np.where(near, _SOFTER * stiffness, stiffness)
            softer = self._soft.relax(x, targets, stiffness, name)
            if self._soft.away(softer, targets).max() > self.tolerance:
                break
            x = softer
        return x

    @cached_property
    def _hard(self) -> SpringFit:
        rubber = Barrier(young=1e4, poisson=0.3, density=1e3)
        return SpringFit(self._soft.body.mesh, self._soft.surface, rubber, _ROUGH)

    def _press(self, pose: FloatArray, name: str) -> FloatArray:
        """The mesh led to a pose from the nearest fit, in steps so short that no tet is turned inside out."""
        here = self._rig.embed(pose)
        start, x = min(self._fits, key=lambda fit: float(np.linalg.norm(self._rig.embed(fit[0]) - here)))
        targets = self._rig.positions(pose)
        way = float(np.linalg.norm(targets - self._rig.positions(start), axis=1).max())
        stiffness = np.full(len(targets), _PRESS * self._hard.unit)
        for share in np.linspace(0.0, 1.0, 1 + max(int(np.ceil(way / (_STRIDE * self._edge))), 1))[1:]:
            x = self._hard.relax(x, self._rig.positions(start + share * (pose - start)), stiffness, name)
        return self._firm(x, targets, stiffness, name)

    def _firm(self, x: FloatArray, targets: FloatArray, stiffness: FloatArray, name: str) -> FloatArray:
        """The same with stiffer springs wherever there is room, so that only the crease stays behind."""
        volumes = self._hard.body.jacobians(x)
        tight = np.isin(self._hard.surface.corners, self._hard.body.mesh.tets[volumes < _ROOMY]).any(axis=1)
        firm = self._hard.relax(x, targets, np.where(tight, stiffness, _STIFFER * stiffness), name)
        return firm if self._hard.body.jacobians(firm).min() > _KEPT * volumes.min() else x

    def _warn(self, x: FloatArray, targets: FloatArray, name: str) -> None:
        off, volumes = self._hard.away(x, targets), self._hard.body.jacobians(x)
        if volumes.min() <= 0.0:
            warnings.warn(
                f"the fit to {name} turns {plural(int((volumes <= 0.0).sum()), 'tet')} inside out, tet "
                f"{volumes.argmin()} most: mend the pose where the surface passes through itself, or mesh finer.",
                SuppleWarning,
                stacklevel=4,
            )
        elif off.max() > self.tolerance:
            count = int((off > self.tolerance).sum())
            warnings.warn(
                f"in {name} the surface passes through itself, so that {plural(count, 'vertex', 'vertices')} of it "
                f"had to stay up to {off.max():.3g} m away: mend the pose there, or mesh finer.",
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
