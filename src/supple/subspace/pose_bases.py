"""Bases of several poses, and the basis of any pose between them ([XB16] 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError
from supple.subspace.alignment import Alignment, rotate_columns
from supple.subspace.pose_frequencies import PoseFrequencies

__all__ = ["PoseBases"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseBases:
    """Aligned mass-orthonormal bases at m poses, all seen from the rig's root: x = Φ(p) + R₀ U(p) q."""

    poses: FloatArray
    """With the root at rest, (m, p)."""
    rest: FloatArray
    """Rest shapes there [m], (m, n, 3)."""
    columns: FloatArray
    """U_i, (m, 3 n, r): aligned, mass-orthonormal in each pose and region, zero at pins and outside the region."""
    alignment: Alignment
    mass: FloatArray
    """Of the vertices [kg], (n,)."""
    tree: NDArray[np.int64]
    """The pose that each was aligned to, (m,); its own number for the first."""
    turns: FloatArray | None = None
    """Of the flesh at every vertex from the neutral pose to each of these, (m, n, 3, 3); only "rotframe" has them."""
    angles: FloatArray | None = None
    """Between the subspaces of each pose and the one it was aligned to [rad], (m, r). They do not tell how good the
    bases between are: their frequencies do."""
    between: PoseFrequencies | None = None
    """Frequencies of the bases between the poses, beside exact ones; None where nobody looked."""
    owners: NDArray[np.int64] | None = None
    """Region of every column, (r,), in ascending order; None: one region."""

    @property
    def rank(self) -> int:
        """Number of columns."""
        return int(self.columns.shape[2])

    @property
    def frequencies(self) -> dict[str, list[float]]:
        """The worst errors of the first frequencies between the poses, as shares, by alignment."""
        found = self.between
        return {} if found is None else {one: found.worst_errors(one).tolist() for one in found.reduced}

    @cached_property
    def blended(self) -> FloatArray:
        """What is summed by the weights, (m, 3 n, r): the columns, turned back to the neutral pose for "rotframe"."""
        if self.turns is None:
            return self.columns
        pairs = zip(self.columns, self.turns, strict=True)
        return np.array([rotate_columns(columns, turn.transpose(0, 2, 1)) for columns, turn in pairs])

    def at(self, weights: FloatArray, turns: FloatArray | None = None) -> FloatArray:
        """U(p), (3 n, r), of unit mass norm in every column, Eqs. (14) to (16), for weights of the poses, (m,).

        Only their ratios count; they are those of `PoseWeights.shares`. `turns` are those of the flesh
        at all vertices in the pose, (n, 3, 3), which "rotframe" needs.
        """
        if self.turns is not None and turns is None:
            raise TrainingError("a basis interpolated in turning frames needs the turns of the pose: give them.")
        active = np.flatnonzero(weights)
        columns = np.tensordot(weights[active], self.blended[active], 1)
        columns /= np.sqrt(np.einsum("ik,i,ik->k", columns, np.repeat(self.mass, 3), columns))
        return columns if self.turns is None or turns is None else rotate_columns(columns, turns)
