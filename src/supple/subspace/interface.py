"""Springs between the copies of a vertex in different domains: Eqs. (14)-(20) of [TMDK15].

Copies of a vertex are skinned by the same rotation, so the springs may as well be measured before skinning: their
energy is ½ qᵀ K_s q with a constant K_s, in every pose.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError
from supple.subspace.basis import Basis
from supple.subspace.domains import Domains, coordinates_of

__all__ = ["BOND", "FITTING", "Interface"]

FloatArray = NDArray[np.float64]

BOND = 10.0
"""Stiffness of a spring by default, as a multiple of Young's modulus times edge length at the borders.

Springs then give way as a tenth of a layer of elements would, less than a basis misses: with a tenth of it a beam of
four domains is too soft by 2 %, with a hundred times it domains that do not fit exactly begin to lock.
"""

FITTING = 100.0
"""The same for bases that fit each other, such as parts of one basis of the whole body: these do not lock.

Beside recorded bends of a rod, `BOND` is off by 3 % of what flesh moves there, and this by 1 %, as is the basis.
"""


@dataclass(frozen=True, eq=False)
class Interface:
    """One spring for every two copies of a vertex; it pulls them to the same place."""

    domains: Domains
    pairs: NDArray[np.int64]
    """Vertices of the cut body, that of the lower domain first, (p, 2)."""
    stiffness: float
    """Of each spring [N/m]."""

    @classmethod
    def of(cls, domains: Domains, stiffness: float | None = None, *, bond: float = BOND) -> "Interface":
        """Springs of a stiffness [N/m], by default `bond` times E ℓ of the tets at the borders (E their mean Young's
        modulus, ℓ the edge of a regular tet of their mean volume); [TMDK15]'s authors used 1e5."""
        if stiffness is not None and not (np.isfinite(stiffness) and stiffness >= 0.0):
            raise SceneError(f"a spring stiffness of {stiffness:g} N/m ties nothing together: give 0 or more.")
        pairs = _pair_copies(domains)
        if stiffness is None:
            stiffness = bond * _border_stiffness(domains.body, np.unique(pairs)) if len(pairs) else 0.0
        return cls(domains, pairs, float(stiffness))

    def energy(self, x: FloatArray) -> float:
        """Energy [J] of the springs at positions, or displacements, of the cut body [m], (N, 3)."""
        gap = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        return 0.5 * self.stiffness * float(np.einsum("pi,pi->", gap, gap))

    def forces(self, x: FloatArray) -> FloatArray:
        """Forces of the springs [N] at positions, or displacements, of the cut body [m], (N, 3)."""
        first, second = self.pairs.T
        pull = self.stiffness * (x[second] - x[first])
        out = np.zeros_like(x)
        np.add.at(out, first, pull)
        np.add.at(out, second, -pull)
        return out

    def widest(self, x: FloatArray) -> float:
        """The largest distance of two copies [m] at positions of the cut body (N, 3): what the drawn mean hides."""
        gaps = np.linalg.norm(x[self.pairs[:, 0]] - x[self.pairs[:, 1]], axis=1)
        return float(gaps.max(initial=0.0))

    def reduce(self, bases: Sequence[Basis]) -> FloatArray:
        """K_s, (r, r), for coordinates of one basis a domain, side by side: Eq. (20) and its terms between domains."""
        domains, owner = self.domains, self.domains.domain_of[self.pairs]
        ends = np.concatenate([[0], np.cumsum([basis.rank for basis in bases])])
        K = np.zeros((ends[-1], ends[-1]))
        for a, b in np.unique(owner, axis=0):
            tied = self.pairs[(owner == (a, b)).all(axis=1)] - domains.start[[a, b]]
            U, V = (bases[k].columns[coordinates_of(own)] for k, own in zip((a, b), tied.T, strict=True))
            at, to = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            K[at, at] += self.stiffness * (U.T @ U)
            K[to, to] += self.stiffness * (V.T @ V)
            cross = self.stiffness * (U.T @ V)
            K[at, to] -= cross
            K[to, at] -= cross.T
        return K


def _pair_copies(domains: Domains) -> NDArray[np.int64]:
    """Every two copies of the same vertex, (p, 2)."""
    order = np.argsort(domains.vertex_of, kind="stable")  # copies together, lower domains first
    vertex = domains.vertex_of[order]
    pairs = []
    for apart in range(1, len(domains)):
        same = np.flatnonzero(vertex[apart:] == vertex[:-apart])
        if not same.size:  # no vertex has so many copies
            break
        pairs.append(np.column_stack([order[same], order[same + apart]]))
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)


def _border_stiffness(body: Body, border: NDArray[np.int64]) -> float:
    """E ℓ [N/m] of the tets that have a corner among given vertices."""
    count, volume, energy = 0, 0.0, 0.0
    for part in body.parts:
        near = np.isin(part.tets, border).any(axis=0)
        mu, lam = part.material.mu, part.material.lam
        young = mu * (3.0 * lam + 2.0 * mu) / (lam + mu)
        count += int(near.sum())
        volume += float(part.size[near].sum())
        energy += young * float(part.volume[near].sum())
    return energy / volume * float(np.cbrt(6.0 * np.sqrt(2.0) * volume / count))
