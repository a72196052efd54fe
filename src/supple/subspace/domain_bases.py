"""A basis for every domain of a cut body: displacements of a domain depend on its own coordinates only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.errors import TrainingError
from supple.linalg.jit import njit
from supple.linalg.ties import settled_turn
from supple.subspace.basis import Basis
from supple.subspace.domains import Domains
from supple.subspace.growth import empty_basis
from supple.subspace.interface import Interface
from supple.subspace.pca import principal_basis
from supple.subspace.recorded import check_recorded
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["DomainBases"]

FloatArray = NDArray[np.float64]

_RIGID = 1e-10  # of the stiffness of a domain: vibrations softer than this are rigid motions
_SLIGHT = 0.03  # of the least size of a whole basis' coordinates: a domain that moves less needs no column for it
_LEAST = 3e-4  # of the largest of these sizes: below it shapes differ by what they were not solved to
_PART = 0.1  # of a shape that a domain has to have if it keeps it whatever was recorded
_PICKED = 8  # lists of vertices whose rows are kept
_STILL = 1e-9  # a domain that moves less than this share of what the body moves has nothing to learn from


class Share(NamedTuple):
    """What the coordinates of a domain do to some of a list of vertices, by their share in the mean of copies."""

    where: NDArray[np.intp]
    """Places in the list, ascending, (k,)."""
    at: slice
    rows: FloatArray
    """(k, 3, c)"""


@dataclass(frozen=True, eq=False)
class DomainBases:
    """Bases of the domains, each over its own vertices; coordinates q stand side by side, domain by domain."""

    domains: Domains
    bases: tuple[Basis, ...]
    """Mass-orthonormal, zero at pins, (d,); of rank 0 where a domain does not move."""

    _picked: "list[tuple[NDArray[np.integer], list[Share]]]" = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        if len(self.bases) != len(self.domains):
            raise TrainingError(
                f"{len(self.bases)} bases do not serve {len(self.domains)} domains: give one for each of them."
            )
        for domain, basis in enumerate(self.bases):
            basis.check_vertices(int(self.domains.start[domain + 1] - self.domains.start[domain]))

    @classmethod
    def principal(
        cls, domains: Domains, displacements: FloatArray, *, rank: int | None = None, tolerance: float | None = None
    ) -> "DomainBases":
        """Principal components of each domain's part of displacements of the whole body (k, n, 3) [m].

        These are snapshots, or modes and derivatives of the whole body. `rank` is the largest of a domain, `tolerance`
        the share that each may miss of its part.
        """
        check_recorded(displacements, len(domains.whole.mass))
        if rank is not None and rank < 1:
            raise TrainingError(f"bases of rank {rank} hold no motion: ask for 1 or more a domain.")
        moved = displacements.copy()
        pins = domains.whole.pins
        moved[:, pins.vertices] = np.where(pins.held, 0.0, moved[:, pins.vertices])
        still = _STILL * float(np.abs(moved).max())
        bases = []
        for domain in range(len(domains)):
            own = domains.vertices(domain)
            part, mass = moved[:, domains.vertex_of[own]], domains.body.mass[own]
            if np.abs(part).max() <= still:
                bases.append(empty_basis(mass))
                continue
            basis = principal_basis(part, mass, tolerance=tolerance)
            bases.append(basis if rank is None else basis.truncated(rank))
        return cls(domains, tuple(bases))

    @classmethod
    def cut(
        cls, domains: Domains, basis: Basis, coordinates: FloatArray, also: FloatArray | None = None
    ) -> "DomainBases":
        """Parts, in every domain, of one basis of the whole body in which shapes were recorded at coordinates (r, k).

        All that the whole basis holds they hold without a gap between copies: springs, however stiff, do not lock it.
        Directions in which shapes hardly moved a domain, beside the least of the whole, are left out; but of shapes
        `also` (r, c), each of size one, those stay of which a domain has a tenth or more.
        """
        recorded = np.linalg.svd(coordinates, compute_uv=False)
        slight = _SLIGHT * max(float(recorded[-1]), _LEAST * float(recorded[0]))
        if also is not None:
            coordinates = np.column_stack([coordinates, slight / _PART * also])
        turn, sizes, _ = np.linalg.svd(coordinates, full_matrices=False)
        fields = (basis.columns @ (turn * sizes)).T.reshape(len(sizes), -1, 3)
        bases = []
        for one in cls.principal(domains, fields).bases:
            kept = int(np.count_nonzero(one.importance >= slight))
            bases.append(replace(one.truncated(kept), source=f"parts of {basis.source}"))
        return cls(domains, tuple(bases))

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Coordinates of domain k are ends[k] to ends[k + 1], (d + 1,)."""
        return np.concatenate([[0], np.cumsum([basis.rank for basis in self.bases])]).astype(np.int64)

    @property
    def rank(self) -> int:
        """Number of coordinates of all domains."""
        return int(self.ends[-1])

    @property
    def mass(self) -> FloatArray:
        """Vertex masses of the whole body [kg], (n,)."""
        return self.domains.whole.mass

    @property
    def importance(self) -> FloatArray:
        """That of all coordinates, (r,)."""
        return np.concatenate([basis.importance for basis in self.bases])

    @property
    def source(self) -> str:
        """What made them, in a user's words."""
        sources = ", ".join(dict.fromkeys(basis.source for basis in self.bases if basis.rank))
        return sources if len(self.bases) == 1 else f"{sources} in each of {len(self.bases)} domains"

    def each(self) -> Iterator[tuple[Basis, slice, slice]]:
        """Every domain's basis, its vertices and its coordinates."""
        for domain, basis in enumerate(self.bases):
            yield basis, self.domains.vertices(domain), slice(int(self.ends[domain]), int(self.ends[domain + 1]))

    def joined(self) -> Basis:
        """One basis of the cut body, (3 N, r), whose columns are zero outside their domain."""
        columns = np.zeros((3 * len(self.domains.body.mass), self.rank))
        for basis, own, at in self.each():
            columns[3 * own.start : 3 * own.stop, at] = basis.columns
        return Basis(columns, self.domains.body.mass, self.source, self.importance)

    def lift_copies(self, q: FloatArray) -> FloatArray:
        """Displacements of the cut body [m], (N, 3)."""
        return np.concatenate([basis.lift(q[at]) for basis, _, at in self.each()])

    def lift(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Displacements of the whole body's vertices, all or chosen ones, [m], (k, 3): means of their copies."""
        if vertices is None:
            return self.domains.gather(self.lift_copies(q))
        means = self.domains.means
        found: FloatArray = _lift_some(
            np.asarray(vertices), means.indptr, means.indices, means.data, self.domains.domain_of, self.ends,
            *self._flat, np.asarray(q),
        )  # fmt: skip
        return found

    @cached_property
    def _flat(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """All columns one after another, row by row, and where the rows of every copy begin."""
        ranks, start = np.diff(self.ends), self.domains.start
        counts = np.repeat(3 * ranks, np.diff(start))
        begin = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
        return np.concatenate([basis.columns.ravel() for basis in self.bases]), begin

    def pick(self, vertices: NDArray[np.integer]) -> "list[Share]":
        """What the coordinates of every domain do to chosen vertices of the whole body, where they do anything.

        The last lists of vertices are known by who they are: a region is asked for dozens of times.
        """
        for known, shares in self._picked:
            if known is vertices:
                return shares
        means = self.domains.means[vertices]
        row = np.repeat(np.arange(len(vertices)), np.diff(means.indptr))
        order = np.argsort(means.indices, kind="stable")  # copies ascend domain by domain
        order = order[np.lexsort((row[order], self.domains.domain_of[means.indices[order]]))]
        copies, row, weights = means.indices[order], row[order], means.data[order]
        shares = []
        for basis, own, at in self.each():
            low, high = np.searchsorted(self.domains.domain_of[copies], [len(shares), len(shares) + 1])
            some = slice(int(low), int(high))
            rows = weights[some, None, None] * basis.rows(copies[some] - own.start)
            shares.append(Share(row[some], at, rows))
        shares = [one for one in shares if one.rows.size]
        self._picked.append((vertices, shares))
        del self._picked[:-_PICKED]
        return shares

    def rows(self, vertices: NDArray[np.integer]) -> FloatArray:
        """What all coordinates do to chosen vertices of the whole body, (k, 3, r): means of their copies."""
        needed, means = self._copies_of(vertices)
        copies = self.copy_rows(needed).reshape(len(needed), 3 * self.rank)
        return np.asarray(means @ copies).reshape(len(vertices), 3, self.rank)

    def copy_rows(self, copies: NDArray[np.integer]) -> FloatArray:
        """What all coordinates do to chosen vertices of the cut body, (k, 3, r)."""
        rows, owner = np.zeros((len(copies), 3, self.rank)), self.domains.domain_of[copies]
        for domain, (basis, own, at) in enumerate(self.each()):
            chosen = owner == domain
            rows[chosen, :, at] = basis.rows(copies[chosen] - own.start)
        return rows

    def _copies_of(self, vertices: NDArray[np.integer]) -> tuple[NDArray[np.integer], csr_array]:
        """Copies of chosen vertices of the whole body, ascending, (c,), and the matrix (k, c) of their means."""
        means = self.domains.means[vertices]
        needed, place = np.unique(means.indices, return_inverse=True)
        return needed, csr_array((means.data, place, means.indptr), shape=(len(vertices), len(needed)))

    def even(self) -> FloatArray:
        """Sum over the cut body's vertices by their masses [kg], (3, r): what a uniform acceleration does to q."""
        return np.concatenate([basis.even() for basis in self.bases], axis=1)

    def project(self, u: FloatArray) -> FloatArray:
        """Coordinates of the displacements nearest to u of the whole body [m], (n, 3), domain by domain, (r,)."""
        copies = self.domains.spread(u)
        return np.concatenate([basis.project(copies[own]) for basis, own, _ in self.each()])

    def project_all(self, displacements: FloatArray) -> FloatArray:
        """Coordinates of many displacements of the whole body (k, n, 3) [m], (r, k)."""
        copies = (displacements[:, self.domains.vertex_of[own]] for _, own, _ in self.each())
        return np.concatenate([basis.project_all(u) for basis, u in zip(self.bases, copies, strict=True)])

    def diagonalised(self, interface: Interface) -> "DomainBases":
        """The same subspaces, each turned so that UᵀK₀U of its domain is diagonal, softest first.

        Importance is that diagonal [1/s²], but nowhere below the softest vibration of the domains tied together: a
        domain alone resists its rigid motions not at all, and how far they go is decided by what it hangs from.
        """
        blocks = self._rest_stiffness()
        turned = []
        for basis, block in zip(self.bases, blocks, strict=True):
            values, turn = np.linalg.eigh(block)
            turned.append(basis.rotated(turn @ settled_turn(values, basis.columns @ turn, basis.metric), values))
        softest = self._vibrations(interface, blocks)[0][0]
        return replace(
            self, bases=tuple(replace(basis, importance=np.maximum(basis.importance, softest)) for basis in turned)
        )

    def tied(self, interface: Interface) -> Basis:
        """What is drawn of the vibrations of the domains tied together, softest first: a basis of the whole body.

        Importance is their stiffness at rest [1/s²]. Columns are mass-orthonormal where no copies come apart.
        """
        values, turn = self._vibrations(interface, self._rest_stiffness())
        drawn = self.rows(np.arange(len(self.mass))).reshape(-1, self.rank)
        return Basis(drawn @ turn, self.mass, self.source, values)

    def _vibrations(self, interface: Interface, blocks: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Stiffnesses [1/s²], ascending, (v,), and coordinates, (r, v), of the domains tied together, but for rigid
        motions; `blocks` are the stiffnesses of domains by themselves."""
        values, turn = np.linalg.eigh(interface.reduce(self.bases) + scipy.linalg.block_diag(*blocks))
        moves = values > _RIGID * max(float(np.trace(block)) for block in blocks)
        return values[moves], turn[:, moves]

    def _rest_stiffness(self) -> list[FloatArray]:
        """UᵀK₀U of every domain by itself [1/s²], (d,)."""
        found = []
        for domain, basis in enumerate(self.bases):
            if not basis.rank:
                found.append(np.zeros((0, 0)))
                continue
            stiffness = RestStiffness(self.domains.piece(domain))
            U = stiffness.gather(basis.columns)
            found.append(np.asarray(U.T @ (stiffness.matrix @ U)))
        return found


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def _lift_some(
    vertices: NDArray[np.integer],
    start: NDArray[np.integer],
    copies: NDArray[np.integer],
    shares: FloatArray,
    domain_of: NDArray[np.integer],
    ends: NDArray[np.int64],
    columns: FloatArray,
    begin: NDArray[np.int64],
    q: FloatArray,
) -> FloatArray:
    """Displacements of chosen vertices [m], (k, 3), sums over their copies start[v] to start[v + 1] by shares."""
    out = np.zeros((len(vertices), 3))
    for k in range(len(vertices)):
        for entry in range(start[vertices[k]], start[vertices[k] + 1]):
            domain = domain_of[copies[entry]]
            own = q[ends[domain] : ends[domain + 1]]
            rank, row = len(own), begin[copies[entry]]
            for axis in range(3):
                values, moved = columns[row + axis * rank : row + (axis + 1) * rank], 0.0
                for j in range(rank):
                    moved += values[j] * own[j]
                out[k, axis] += shares[entry] * moved
    return out
