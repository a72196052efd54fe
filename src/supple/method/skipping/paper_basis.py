"""The basis of [KJ09] section 4.1: it grows by Gram–Schmidt, turns back to recent states when it is full, and keeps
pairs of displacements and forces that its cubature is trained on.

Lengths are in units of the body's longest side, norms those of masses: on an even mesh the paper's, on any other one
that does not see where its vertices crowd.
"""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.cubature.greedy import train_greedy
from supple.elastic import Pins
from supple.errors import SuppleWarning
from supple.linalg.orthonormal import remove_components
from supple.linalg.ties import settled_turn
from supple.method.skipping.carried import Carrier
from supple.method.skipping.measure import rms
from supple.method.skipping.model import Learned
from supple.method.skipping.paper_answers import Answers, pose_problem, record_answers
from supple.subspace import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["Grower", "Grown"]

FloatArray = NDArray[np.float64]
_CUBATURE = 0.01  # relative error of trained forces, as in the authors' code
_NOTHING = 1e-12  # singular values of recent states below this share of the first
_STILL = 1e-7  # displacements up to this share of the longest side are no motion


@dataclass(frozen=True, eq=False)
class Grown:
    """U and all that belongs to it; never changed in place."""

    learned: Learned | None = None
    """Columns, key elements with their weights, where pins hold; None while there is no column."""
    recent: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """A: coordinates of the last states, newest last, (r, k)."""
    poses: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """In which pose each of these is, (k, p)."""
    answers: Answers = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))
    """What every element answers to the displacement of each training pair, (m, d, pairs)."""

    @property
    def rank(self) -> int:
        """Columns of U."""
        return 0 if self.learned is None else self.learned.basis.rank


class Grower:
    """Algorithms 1 and 2 for a body held by given pins."""

    def __init__(
        self,
        carrier: Carrier,
        pins: Pins,
        *,
        max_rank: int,
        discard: float,
        offset: FloatArray | None = None,
        stiffness: float = 1.0,
    ) -> None:
        """`offset` [m], (n, 3): where pins hold; `stiffness`: by events."""
        body = carrier.body
        self._carrier, self._body, self._pins, self._stiffness = carrier, body, pins, stiffness
        self._offset = np.zeros_like(body.mesh.vertices) if offset is None else offset
        self._max_rank, self._discard = max_rank, discard
        self._rest = RestStiffness(body.pinned(pins))
        self._side = float(np.ptp(body.mesh.vertices, axis=0).max())

    def rms(self, u: FloatArray) -> float:
        """‖u‖_RMS of a field (n, 3): the root of the mean square of its numbers, in units of the longest side.

        Section 4.1 prints ‖u‖₂ over the count of its numbers; only its root fits line 20 of Algorithm 6.
        """
        return float(rms(u, self._body.mass) / (np.sqrt(3.0) * self._side))

    def coordinate_rms(self, q: float) -> float:
        """The same of one column times q."""
        return float(abs(q) / np.sqrt(3.0 * self._body.mass.sum()) / self._side)

    def displacement(self, x: FloatArray, pose: FloatArray) -> FloatArray:
        """u of positions x [m], (n, 3), in a pose: zero where pins hold."""
        return self._carrier.displacement(x - self._offset, pose, self._pins)

    def modify(self, grown: Grown, u: FloatArray, pose: FloatArray) -> tuple[Grown, float]:
        """Algorithm 1: U with what u [m], (n, 3), in a pose adds to it, and ‖u_⊥‖_RMS.

        The basis is downdated only once u is known to be needed.
        """
        beside = self._beside(grown, u)  # line 4
        length = self.rms(beside)
        if not length > max(self._discard * self.rms(u), _STILL):  # line 5
            return grown, length
        if grown.rank >= self._max_rank:  # lines 2, 3
            grown = self.downdate(grown)
            beside = self._beside(grown, u)
            length = self.rms(beside)
        return self._append(grown, beside, u, pose), length

    def downdate(self, grown: Grown) -> Grown:
        """Algorithm 2: the directions of the last r_max/2 states alone.

        Their displacements take the place of the training pairs, which the new basis cannot all reproduce: without any
        there would be nothing to train on.
        """
        assert grown.learned is not None
        old = grown.learned.basis
        R, sizes, _ = np.linalg.svd(grown.recent, full_matrices=False)  # line 4
        R = R @ settled_turn(sizes, R)
        R = R[:, sizes > _NOTHING * sizes.max(initial=0.0)][:, : self._max_rank // 2]
        basis = old.rotated(R, np.ones(R.shape[1]))  # line 5
        states = zip(grown.recent.T, grown.poses, strict=True)
        halved = replace(
            grown,
            recent=np.zeros((R.shape[1], 0)),
            poses=grown.poses[:0],
            answers=np.concatenate([self._record(old.lift(q), pose) for q, pose in states], axis=2),
        )
        return self._train(halved, basis)  # line 6

    def with_error_column(self, grown: Grown, d: FloatArray, u: FloatArray, pose: FloatArray) -> Learned | None:
        """U with one more column for what d [m], (n, 3), adds, as line 12 of Algorithm 6 has it; None where that is
        too little. u + d in the pose is one more training pair.

        The column is not counted among r_max: it is only lent, and must not push states out.
        """
        beside = self._beside(grown, d)
        if not self.rms(beside) > self._discard * self.rms(d):
            return None
        return self._append(grown, beside, u + d, pose).learned

    def remember(self, grown: Grown, q: FloatArray, pose: FloatArray) -> Grown:
        """A with one more state."""
        keep = self._max_rank // 2
        recent = np.column_stack([grown.recent, q[: grown.rank]])[:, -keep:]
        return replace(grown, recent=recent, poses=np.array([*grown.poses, pose])[-keep:])

    def _beside(self, grown: Grown, u: FloatArray) -> FloatArray:
        """u_⊥, (n, 3)."""
        if grown.learned is None:
            return u
        basis = grown.learned.basis
        return remove_components(u.ravel(), basis.columns, basis.metric).reshape(-1, 3)

    def _append(self, grown: Grown, beside: FloatArray, u: FloatArray, pose: FloatArray) -> Grown:
        """Lines 6 to 11 of Algorithm 1: a column more, and the pair [f(u), u] with u as the new basis holds it."""
        mass = self._body.mass
        column = beside.ravel() / (rms(beside, mass) * np.sqrt(mass.sum()))
        old = np.zeros((len(column), 0)) if grown.learned is None else grown.learned.basis.columns
        columns = np.column_stack([old, column])
        basis = Basis(columns, mass, "Gram–Schmidt of full steps", np.ones(columns.shape[1]))
        pair = self._record(basis.lift(basis.project(u)), pose)
        answers = np.concatenate([grown.answers, pair], axis=2) if grown.answers.size else pair
        recent = np.concatenate([grown.recent, np.zeros((1, grown.recent.shape[1]))])
        return self._train(replace(grown, recent=recent, answers=answers), basis)

    def _record(self, u: FloatArray, pose: FloatArray) -> Answers:
        """The forces of a training pair: pins hold where they do."""
        return record_answers(self._carrier, u + self._offset, pose)

    def _train(self, grown: Grown, basis: Basis) -> Grown:
        """Line 10 of Algorithm 1: An et al.'s greedy cubature from the key elements so far; those of no weight go."""
        warm = None if grown.learned is None else grown.learned.rule
        if not basis.rank:
            return Grown()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # the paper's tests judge the model
            problem = pose_problem(self._carrier, basis, grown.answers)
            rule = train_greedy(problem, _CUBATURE, np.random.default_rng(0), warm)
        columns = self._rest.gather(basis.columns)
        stiff = np.einsum("ij,ij->j", columns, self._rest.matrix @ columns)
        return replace(grown, learned=Learned(replace(basis, importance=stiff), rule, self._offset, self._stiffness))
