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
    """U_i, (m, 3 n, r): aligned, mass-orthonormal in each pose, zero at pins."""
    alignment: Alignment
    mass: FloatArray
    """Of the vertices [kg], (n,)."""
    tree: NDArray[np.int64]
    """The pose that each was aligned to, (m,); its own number for the first."""
    turns: FloatArray | None = None
    """Of the flesh at every vertex from the neutral pose to each of these, (m, n, 3, 3); only "rotframe" has them."""
    angles: FloatArray | None = None
    """Between the subspaces of each pose and the one it was aligned to [rad], (m, r). They do not tell how good the
    bases between are: `frequencies` do."""
    frequencies: PoseFrequencies | None = None
    """Of the bases between the poses, beside exact ones; None where nobody looked."""

    @property
    def rank(self) -> int:
        """Number of columns."""
        return int(self.columns.shape[2])

    @cached_property
    def blended(self) -> FloatArray:
        """What is summed by the weights, (m, 3 n, r): the columns, turned back to the neutral pose for "rotframe"."""
        if self.turns is None:
            return self.columns
        pairs = zip(self.columns, self.turns, strict=True)
        return np.array([rotate_columns(columns, turn.transpose(0, 2, 1)) for columns, turn in pairs])

    def at(self, weights: FloatArray, turns: FloatArray | None = None) -> FloatArray:
        """U(p), (3 n, r), of unit mass norm in every column, Eqs. (14) to (16), for weights of the poses, (m,).

        Only their ratios count; those below 0 are better left out. `turns` are those of the flesh
        at all vertices in the pose, (n, 3, 3), which "rotframe" needs.
        """
        if self.turns is not None and turns is None:
            raise TrainingError("a basis interpolated in turning frames needs the turns of the pose: give them.")
        active = np.flatnonzero(weights)
        columns = np.tensordot(weights[active], self.blended[active], 1)
        columns /= np.sqrt(np.einsum("ik,i,ik->k", columns, np.repeat(self.mass, 3), columns))
        return columns if self.turns is None or turns is None else rotate_columns(columns, turns)

    @cached_property
    def products(self) -> FloatArray:
        """U_iᵀ M U_j of what is blended, by pairs of axes: (3, 3, m, m, r, r).

        Their sum over equal axes are the products of Eq. (16). Weighed by a turn R they say what a basis is to one
        that has turned as a whole: U_iᵀ M R U_j is the sum of R_kl times the products of axes k and l.
        """
        count, rank = len(self.poses), self.rank
        rows = self.blended.reshape(count, len(self.mass), 3, rank) * np.sqrt(self.mass)[:, None, None]
        flat = rows.transpose(2, 0, 3, 1).reshape(3 * count * rank, len(self.mass))
        found = (flat @ flat.T).reshape(3, count, rank, 3, count, rank)
        return np.ascontiguousarray(found.transpose(0, 3, 1, 4, 2, 5))

    @cached_property
    def gram(self) -> FloatArray:
        """U_iᵀ M U_j of what is blended, (m, m, r, r)."""
        return np.asarray(np.einsum("kkijab->ijab", self.products))

    def reduced_mass(self, weights: FloatArray) -> FloatArray:
        """U(p)ᵀ M U(p) from the products alone, Eq. (16), (r, r); its diagonal is 1."""
        whole = np.einsum("i,j,ijab->ab", weights, weights, self.gram)
        scale = 1.0 / np.sqrt(np.diag(whole))
        return np.asarray(scale[:, None] * whole * scale)
