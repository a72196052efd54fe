"""Tetrahedra fitted to where a rig has their surface, so that none is turned inside out ([XB16] 4.1)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleWarning
from supple.mesh import TetMesh
from supple.rig import PoseSpace, Rig, TetFit
from supple.rig.motion import root_columns
from supple.rig.turns import find_turns

__all__ = ["Fitting"]

FloatArray = NDArray[np.float64]

CHOSEN = 4  #: poses of a motion that are fitted in any case, where they are asked for
ALIKE = 0.1  #: of how far the poses of a motion are apart: nearer ones are not both chosen
MOST = 16  #: poses that are fitted until none is left with a tet inside out
FLAT = 0.005  #: of its volume at rest: a tet with less is as good as inside out
NEAR = 1e-3  #: of the way that poses are apart: nearer than this to a fit another one makes no sense


@dataclass(eq=False)
class Fitting:
    """A rig of the mesh's vertices with fits in some poses; their differences are interpolated in pose space."""

    mesh: TetMesh
    base: Rig
    """Moves the mesh's vertices, perhaps so that tets are inside out."""
    skin: Rig
    """Moves the surface that tets are fitted to."""
    notes: list[str] = field(default_factory=list)
    """What the fits could not do."""

    def __post_init__(self) -> None:
        self.rig: Rig = self.base
        turning = find_turns(self.base, self.base.neutral) is not None
        self._root = root_columns(self.base.controls) if turning else []
        self._volumes = _edge_volumes(self.mesh, self.mesh.vertices)
        self._poses: list[FloatArray] = []
        self._corrections: list[FloatArray] = []
        self._fit: TetFit | None = None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All fits: poses, (k, p), what is added there [m], (k, n, 3), and notes."""
        shape = (len(self._poses), *self.mesh.vertices.shape)
        return {
            "poses": np.reshape(self._poses, (len(self._poses), len(self.base.controls))),
            "corrections": np.reshape(self._corrections, shape),
            "notes": np.array(self.notes, np.str_),
        }

    def taking(self, fits: Mapping[str, NDArray[Any]]) -> Rig:
        """The rig with fits that `arrays` returned."""
        return PoseSpace(self.base, fits["poses"], fits["corrections"]) if len(fits["poses"]) else self.base

    def add(self, pose: FloatArray, name: str) -> None:
        """One more fit, in a pose that messages call by its name."""
        self._fit = self._fit or TetFit(self.mesh, self.skin)
        still = self._settle(pose)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", SuppleWarning)
            fitted = self._fit.fit(still, name)
        self.notes += [str(warning.message) for warning in said]
        self._poses.append(still)
        self._corrections.append(fitted - self.base.positions(still))
        self.rig = PoseSpace(self.base, self._poses, self._corrections)

    def choose(self, poses: Sequence[FloatArray], times: Sequence[float]) -> None:
        """Fits in the poses of a motion that differ most."""
        spread = float(self._away(poses).max())
        for _ in range(CHOSEN):
            away = self._away(poses)
            if away.max() <= ALIKE * spread:
                return
            self.add(poses[int(away.argmax())], _name(times[int(away.argmax())]))

    def unfold(self, poses: Sequence[FloatArray], times: Sequence[float]) -> None:
        """Fits until no pose is left that turns a tet inside out, each in the one that is farthest from all others."""
        while len(self._poses) < MOST:
            folded = [k for k, pose in enumerate(poses) if self.least_volume(pose) <= FLAT]
            if not folded:
                return
            away = self._away([poses[k] for k in folded])
            if away.max() <= NEAR * self._away(poses).max():  # fitted, and still folded
                return
            worst = folded[int(away.argmax())]
            self.add(poses[worst], _name(times[worst]))

    def least_volume(self, pose: FloatArray) -> float:
        """What is left of the flattest tet in a pose, as a share of its volume at rest."""
        return float((_edge_volumes(self.mesh, self.rig.positions(pose)) / self._volumes).min())

    def _settle(self, pose: FloatArray) -> FloatArray:
        """The pose without where the root goes, if all turns with it."""
        still = np.array(pose, np.float64)
        still[self._root] = self.base.neutral[self._root]
        return still

    def _away(self, poses: Sequence[FloatArray]) -> FloatArray:
        """How far [m] each pose is from the nearest one that is fitted, or from rest, (k,)."""
        known = np.array([self.base.embed(pose) for pose in (self.base.neutral, *self._poses)])
        points = np.array([self.base.embed(self._settle(pose)) for pose in poses])
        return np.asarray(np.linalg.norm(points[:, None] - known, axis=2).min(axis=1))


def _edge_volumes(mesh: TetMesh, x: FloatArray) -> FloatArray:
    """Six times the signed volumes of tets with vertices at x [m], (m,)."""
    corners = x[mesh.tets]
    return np.asarray(np.linalg.det(corners[:, 1:] - corners[:, :1]))


def _name(time: float) -> str:
    return f"the pose of {time:.3g} s"
