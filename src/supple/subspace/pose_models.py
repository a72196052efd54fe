"""What is known of a body in the poses of its rig: bases and frequencies, each found once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import TrainingError
from supple.linalg.ties import first_smallest
from supple.rig import Motion, PoseWeights, Rig, Root
from supple.subspace.alignment import ALIGNMENTS, Alignment, align_all, grow_tree
from supple.subspace.pose_bases import PoseBases
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_frequencies import COUNT, PoseFrequencies, PoseVibration
from supple.subspace.vertex_turns import find_vertex_turns

__all__ = ["PoseModels", "build_pose_bases"]

FloatArray = NDArray[np.float64]

_PER_MODE = 4  # columns for every frequency that is right even in a pose of its own


def build_pose_bases(
    body: Body,
    rig: Rig,
    poses: FloatArray,
    rank: int,
    *,
    alignments: tuple[Alignment, ...] = ALIGNMENTS,
    maker: PoseColumns | None = None,
) -> PoseBases:
    """Modes and derivatives about the shape of a rig in each of the poses (m, p), compressed to `rank` columns; where
    these are many, three of them are the static responses to an acceleration.

    They are aligned in the one of the ways allowed that is best half way between poses. In all poses no tet may be
    inside out: tets of a rig that turns some over are to be fitted first (`fit_tets`). A `maker` knows of regions and
    contact.
    """
    return PoseModels(body, rig, rank, alignments, maker).bases(np.asarray(poses, np.float64))


class _PoseModel(NamedTuple):
    """A body in one pose, seen from the root."""

    shape: FloatArray
    """[m], (n, 3)"""
    columns: FloatArray
    """(3 n, r), as the pose alone has them."""
    turns: FloatArray
    """From the neutral pose, (n, 3, 3)."""


class PoseModels:
    """Models of a rigged body in single poses, kept for when they are asked for again."""

    def __init__(
        self,
        body: Body,
        rig: Rig,
        rank: int,
        alignments: tuple[Alignment, ...] = ALIGNMENTS,
        maker: PoseColumns | None = None,
    ) -> None:
        if rig.rest.shape != body.mesh.vertices.shape:
            raise TrainingError(
                f"the rig moves {len(rig.rest):,} vertices and the body has {len(body.mass):,}: make the rig for them."
            )
        if not alignments or not set(alignments) <= set(ALIGNMENTS):
            raise TrainingError(f"alignments = {alignments!r} are not known: use some of {', '.join(ALIGNMENTS)}.")
        self.body, self.rig, self.rank, self.root = body, rig, rank, Root.of(rig)
        self._alignments, self._looked = alignments, min(COUNT, max(rank // _PER_MODE, 1))
        self._maker = maker or PoseColumns()
        self._owners = self._maker.owners(rank)
        self._models: dict[bytes, _PoseModel] = {}
        self._vibrations: dict[bytes, PoseVibration] = {}

    def bases(self, poses: FloatArray, between: FloatArray | None = None) -> PoseBases:
        """The bases of poses (m, p), aligned in the way that is best in the poses `between` them, (k, p).

        By default these are half way between any two of which one is aligned to the other, but for those in which a
        tet is inside out.
        """
        still = np.array([self.root.still(pose) for pose in poses])
        points = np.array([self.point(pose) for pose in still])
        first = first_smallest(np.linalg.norm(points - self.point(self.rig.neutral), axis=1))
        order, tree = grow_tree(points, first)
        between = self._halfway(still, tree) if between is None else between
        exact = np.array([self._aim(pose) for pose in between]).reshape(-1, self._looked)
        found = {one: self._align(still, order, tree, one) for one in self._alignments}
        weights = PoseWeights(points)
        reduced = {one: self._try(bases, weights, between) for one, bases in found.items()}
        frequencies = PoseFrequencies(between, exact, reduced)
        return replace(found[frequencies.best()], between=frequencies)

    def point(self, pose: FloatArray) -> FloatArray:
        """A pose among others [m], (e,), wherever its root is."""
        return self.rig.embed(self.root.still(pose))

    def _align(self, poses: FloatArray, order: list[int], tree: NDArray[np.int64], alignment: Alignment) -> PoseBases:
        models = [self._model(pose) for pose in poses]
        rest, columns, turns = (np.array(field) for field in zip(*models, strict=True))
        metric = np.repeat(self.body.mass, 3)
        aligned, angles = np.empty_like(columns), np.empty((len(columns), len(self._owners)))
        for region in np.unique(self._owners):
            own = np.flatnonzero(self._owners == region)
            aligned[:, :, own], angles[:, own] = align_all(
                columns[:, :, own], order, tree, metric, None if alignment == "world" else turns
            )
        kept = turns if alignment == "rotframe" else None
        return PoseBases(poses, rest, aligned, alignment, self.body.mass, tree, kept, angles, owners=self._owners)

    def _try(self, bases: PoseBases, weights: PoseWeights, between: FloatArray) -> FloatArray:
        """Frequencies of interpolated bases in poses (k, p) [Hz], (k, c)."""
        found = []
        for pose in between:
            still = self.root.still(pose)
            turns = None if bases.turns is None else find_vertex_turns(self.body, self.rig, still)
            columns = bases.at(weights.shares(self.rig.embed(still)), turns)
            found.append(self._vibration(pose).reduced(columns))
        return np.array(found).reshape(-1, self._looked)

    def _halfway(self, poses: FloatArray, tree: NDArray[np.int64]) -> FloatArray:
        ways = [Motion.of(self.rig, [0.0, 1.0], poses[[i, j]], "linear") for j, i in enumerate(tree) if i != j]
        middles = [way.at(0.5) for way in ways]
        return np.array([one for one in middles if self.body.can_rest(self.rig.positions(one))]).reshape(
            -1, poses.shape[1]
        )

    def _model(self, pose: FloatArray) -> _PoseModel:
        key = pose.tobytes()
        if key not in self._models:
            shape = self.rig.positions(pose)
            body = self.body.posed(shape, self._name(pose), pose)
            columns = self._maker.make(body, shape, self.rank)
            self._models[key] = _PoseModel(shape, columns, find_vertex_turns(self.body, self.rig, pose))
        return self._models[key]

    def _aim(self, pose: FloatArray) -> FloatArray:
        """The first frequencies that a basis is to have in a pose [Hz], (c,): the body's, or, where contact or regions
        allow less, those of a basis made for the very pose."""
        vibration = self._vibration(pose)
        if not self._maker.restricted:
            return vibration.exact
        return vibration.reduced(self._model(self.root.still(pose)).columns)

    def _vibration(self, pose: FloatArray) -> PoseVibration:
        still = self.root.still(pose)
        key = still.tobytes()
        if key not in self._vibrations:
            shape = self.rig.positions(still)
            self._vibrations[key] = PoseVibration(self.body, shape, self._name(still), self._looked, still)
        return self._vibrations[key]

    def _name(self, pose: FloatArray) -> str:
        most = int(np.argmax(np.abs(pose - self.rig.neutral)))
        return f"the pose with '{self.rig.controls[most]}' at {pose[most]:.3g}"
