"""The subspace of training motions: principal components, filled up with modes and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import TrainingError
from supple.scene.training_motion import LocalMotion, Snapshots
from supple.subspace import Basis, diagonalise, linear_modes, modal_derivatives
from supple.subspace.derivatives import weigh_columns
from supple.subspace.pca import principal_columns
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["Span", "check_rank", "soft_modes", "span_motions"]

FloatArray = NDArray[np.float64]
MODES = 10
SHARE = 0.05  #: size of the first mode beside that of the snapshots, at most; it is the tolerance where that is less


@dataclass(frozen=True, eq=False)
class Span:
    """Nested subspaces: the first r columns are the best of rank r."""

    body: Body
    columns: FloatArray
    """Mass-orthonormal, (3 n, most)."""
    singular: FloatArray
    """(most,)"""
    missed: FloatArray
    """Share of the held-out motions that the first r columns miss, for r = 1 ... most; the worst case counts."""
    coordinates: FloatArray
    """Of all snapshots in the columns, (t, most)."""
    source: str

    def rank_for(self, error: float) -> int:
        """The smallest rank that misses at most this share, or the largest there is."""
        enough = self.missed <= error
        return int(np.argmax(enough)) + 1 if enough.any() else len(self.missed)

    def basis(self, rank: int) -> tuple[Basis, FloatArray]:
        """The first columns, turned so that their rest stiffness is diagonal; and the snapshots in them, (t, rank)."""
        columns = self.columns[:, :rank]
        basis = diagonalise(Basis(columns, self.body.mass, self.source, self.singular[:rank]), self.body)
        turn = columns.T @ (basis.metric[:, None] * basis.columns)
        return basis, self.coordinates[:, :rank] @ turn


def soft_modes(body: Body) -> Basis:
    """The first few modes of a body that is either held so that it cannot move as a whole, or not at all."""
    if not _unknowns(body):
        raise TrainingError("the pins hold the whole body, so there is no motion to learn: select a part of it.")
    _refuse_loose_parts(body)
    rigid = RestStiffness(body).rigid.shape[1]
    if rigid and len(body.pins.vertices):
        raise TrainingError(
            f"the pins leave the body free to move as a whole in {rigid} ways, which no subspace of displacements "
            'holds: pin three vertices that are not in a line, or none, or use method.name = "full".'
        )
    return linear_modes(body, min(MODES, _unknowns(body) - rigid))


def _refuse_loose_parts(body: Body) -> None:
    """Refuse a body of several pieces of which one flies while another is held, or all do."""
    labels = body.mesh.components()
    pieces = int(labels.max()) + 1
    loose = pieces - len(np.unique(labels[body.pins.vertices]))
    if pieces > 1 and loose:
        raise TrainingError(
            f"{loose} of the {pieces} pieces of the body are held by no pin, and no subspace of displacements holds "
            'pieces that fly apart: pin them, join the mesh, or use method.name = "full".'
        )


def _unknowns(body: Body) -> int:
    return 3 * len(body.mass) - int(body.pins.held.sum())


def span_motions(
    body: Body,
    modes: Basis,
    train: Snapshots,
    heldout: Sequence[LocalMotion],
    tolerance: float,
    most: int,
) -> Span:
    """Subspaces of the training motions up to rank `most`, with what each misses of the held-out ones."""
    metric = modes.metric
    rows = train.u.reshape(len(train.u), -1)
    size = math.sqrt(float(np.einsum("ti,ti,i->", rows, rows, metric)) / len(rows))
    linear = weigh_columns(modes, modal_derivatives(body, modes))
    whole = np.concatenate([rows, min(tolerance, SHARE) * size * linear.T])
    columns, singular = principal_columns(whole.T, metric, most)
    del whole
    missed = np.max([_missed(columns, motion, metric) for motion in heldout], axis=0)
    source = f"{len(rows)} snapshots of {train.cases} cases with {modes.rank} modes and their derivatives"
    return Span(body, columns, singular, missed, rows @ (metric[:, None] * columns), source)


def _missed(columns: FloatArray, motion: LocalMotion, metric: FloatArray) -> FloatArray:
    """Relative error of a motion projected to the first 1, 2, ... columns, over all its steps, (most,)."""
    u, d = (field[1:].reshape(len(field) - 1, -1) for field in (motion.u, motion.d))
    coordinates = (u * metric) @ columns
    whole = float(np.einsum("ti,ti,i->", u, u, metric))
    left = np.maximum(whole - np.cumsum((coordinates**2).sum(axis=0)), 0.0)
    return np.asarray(np.sqrt(left / float(np.einsum("ti,ti,i->", d, d, metric))))


def check_rank(rank: int, span: Span) -> None:
    """Refuse a rank that the body or the snapshots do not have."""
    unknowns = _unknowns(span.body)
    if rank > unknowns:
        raise TrainingError(
            f"method.rank = {rank} is more than the {unknowns} coordinates the mesh moves in: lower it."
        )
    if rank > len(span.singular):
        raise TrainingError(
            f"method.rank = {rank} is more than the {len(span.singular)} directions that the training cases hold: "
            "lower it, or raise training.cases or training.steps."
        )
