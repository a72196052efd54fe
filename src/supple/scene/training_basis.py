"""The subspace of training motions: principal components, filled up with modes and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import TrainingError
from supple.linalg.ties import MARGIN, is_within
from supple.scene.training_motion import LocalMotion, Snapshots
from supple.subspace import Basis, diagonalise, linear_modes, modal_derivatives
from supple.subspace.derivatives import weigh_columns
from supple.subspace.pca import principal_columns
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["Span", "check_rank", "soft_modes", "span_motions"]

FloatArray = NDArray[np.float64]
MODES = 10
LOOKS = 20  #: shapes of a held-out motion whose energy is looked at
GROWTH = 1.2  #: factor between ranks that are looked at
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
    heldout: Sequence[LocalMotion]
    _known: dict[int, float] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """The largest rank."""
        return len(self.singular)

    def rank_for(self, error: float, excess: float) -> int:
        """The smallest rank found that misses at most this share and adds at most this energy, or the largest."""
        rank = self._rank_missing(error)
        while rank < self.most and not is_within(self.excess(rank), excess):
            rank = min(math.ceil(GROWTH * rank), self.most)
        return rank

    def is_thin(self, error: float, excess: float) -> bool:
        """Whether twice the rank that displacements ask for is still too stiff: other motions would help, not ranks."""
        return not is_within(self.excess(min(2 * self._rank_missing(error), self.most)), excess)

    def _rank_missing(self, error: float) -> int:
        enough = self.missed <= (1.0 + MARGIN) * error
        return int(np.argmax(enough)) + 1 if enough.any() else self.most

    def excess(self, rank: int) -> float:
        """Energy that projection to the first columns adds to the held-out motions, as a share; the worst case counts.

        A subspace may miss next to nothing of a motion and still be too stiff for it: what it misses may be strain in
        a thin part that all the rest hangs from.
        """
        if rank not in self._known:
            self._known[rank] = max(self._added(rank, motion) for motion in self.heldout)
        return self._known[rank]

    def _added(self, rank: int, motion: LocalMotion) -> float:
        columns, metric, rest = self.columns[:, :rank], np.repeat(self.body.mass, 3), self.body.mesh.vertices
        own = projected = 0.0
        for k in np.unique(np.linspace(1, len(motion.u) - 1, LOOKS).astype(int)):
            u = motion.u[k].ravel()
            lost = (u - columns @ (columns.T @ (metric * u))).reshape(-1, 3)
            view, seen = motion.views[k], rest + motion.d[k]
            own += self.body.energy(view.show(seen))
            projected += self.body.energy(view.show(seen - lost))
        return projected / own - 1.0 if own > 0.0 else 0.0

    def basis(self, rank: int) -> tuple[Basis, FloatArray]:
        """The first columns, turned so that their rest stiffness is diagonal; and the snapshots in them, (t, rank)."""
        columns = self.columns[:, :rank]
        basis = diagonalise(Basis(columns, self.body.mass, self.source, self.singular[:rank]), self.body)
        turn = columns.T @ (basis.metric[:, None] * basis.columns)
        return basis, self.coordinates[:, :rank] @ turn


def soft_modes(body: Body) -> Basis:
    """The first few modes of a body that is either held so that it cannot move as a whole, or not at all."""
    if not _unknowns(body):
        raise TrainingError(
            "the pins hold the whole body, so there is no motion to learn: select a part of it, or use a finer mesh "
            "where bones hold it."
        )
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
    return Span(body, columns, singular, missed, rows @ (metric[:, None] * columns), source, heldout)


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
