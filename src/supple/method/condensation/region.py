"""A region of full vertices, cut out of a body: nothing here costs anything per vertex of the whole mesh.

Vertices of a region are numbered anew: first the full ones V_f, each with three unknowns of its own, then those around
them, which belong to the subspace but stand at the corners of tets that touch a full vertex (section 3.2 of [TMDK15]).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Elements, Pins, StiffnessMap
from supple.linalg.blocks import BlockRows
from supple.linalg.jit import njit
from supple.linalg.rigid_clusters import RigidClusters
from supple.mesh.patches import find_patches
from supple.method.condensation.still import StillSubspace
from supple.method.condensation.subspace import Subspace
from supple.subspace import Basis, DomainBases

__all__ = ["WHOLE", "Ground", "Region"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
WHOLE = 0.4  #: share of full unknowns above which every tet is integrated exactly, of a body or of a domain
_CLUSTERS = 4.0  # cube of the number of clusters by that of vertices
_CLUSTERED = 64  # vertices that a cluster has at least
_UNSEEN = 1.0 - 1e-4  # share of its mass that is full from which on a motion of the subspace is seen no more


class Ground:
    """What regions are cut from, made once."""

    def __init__(self, body: Body, basis: Basis | DomainBases, subspace: Subspace | None = None, more: int = 0) -> None:
        """`subspace` moves with `basis`, and `more` coordinates; by default that of pins that stand still."""
        mesh, count = body.mesh, len(body.mass)
        self.body, self.rest, self.mass = body, mesh.vertices, body.mass
        self.rank, self._basis = basis.rank + more, basis
        self.domains = basis.domains if isinstance(basis, DomainBases) else None
        if subspace is None:
            assert isinstance(basis, Basis)
            subspace = StillSubspace(body, basis)
        self.subspace = subspace
        self.neighbours = mesh.vertex_neighbours()
        corners = mesh.tets.ravel()
        self._tets = np.ascontiguousarray(mesh.tets, np.int32)
        self._tet_start = np.concatenate([[0], np.cumsum(np.bincount(corners, minlength=count))])
        self._tets_of = np.ascontiguousarray(np.argsort(corners, kind="stable") // 4, np.int32)
        self._part, self._place = np.empty(len(mesh.tets), np.int32), np.empty(len(mesh.tets), np.int64)
        for number, part in enumerate(body.parts):
            self._part[part.ids], self._place[part.ids] = number, np.arange(len(part.ids))
        self.movable = np.ones(count, np.bool_)
        """Vertices that no pin holds along any axis: only these are ever full, (n,)."""
        self.movable[body.pins.vertices] = False
        self.most = int(self.movable.sum())
        self._number = np.full(count, -1, np.int32)  # -1 again after every cut
        self._seen = np.zeros(len(mesh.tets), np.bool_)  # False again after every cut
        self._patches: tuple[IntArray, list[NDArray[np.intp]]] = np.zeros(0, np.int32), []

    def cut(self, full: IntArray, others: NDArray[np.integer] | None = None, *, whole: bool = False) -> "Region":
        """The region of the full vertices, ascending; `others` are numbered too, `whole`: all of the body is."""
        full = np.ascontiguousarray(full, np.int32)
        number, seen = self._number, self._seen
        number[full] = np.arange(len(full), dtype=np.int32)
        if whole:
            tets, filled = np.arange(len(self._tets), dtype=np.int32), np.zeros(0, np.int32)
            around = np.flatnonzero(number < 0).astype(np.int32)
            number[around] = len(full) + np.arange(len(around), dtype=np.int32)
        else:
            tets, around = _gather_tets(full, self._tet_start, self._tets_of, self._tets, seen, number)
            filled = self._find_filled(full)
            tets = np.union1d(tets, filled)
            more = np.concatenate([self._tets[filled].ravel(), np.zeros(0, np.int32) if others is None else others])
            if len(more):
                more = np.unique(more[number[more] < 0]).astype(np.int32)
                number[more] = len(full) + len(around) + np.arange(len(more), dtype=np.int32)
                around = np.concatenate([around, more])
        parts = self.choose(self.body, tets, number)
        number[full] = number[around] = -1
        return Region(parts, len(full) + len(around), self, full, around, np.sort(tets), filled, whole)

    def _find_filled(self, full: IntArray) -> IntArray:
        """All tets of domains of which so many vertices are full that little is left to a rule, ascending."""
        if self.domains is None:
            return np.zeros(0, np.int32)
        copies, movable = self._list_copies(full), self._copies[2]
        own = np.searchsorted(self.domains.start, copies, side="right") - 1
        filled = [
            self.domains.tets(k) for k in np.unique(own).tolist() if np.count_nonzero(own == k) > WHOLE * movable[k]
        ]
        return np.sort(np.concatenate([np.zeros(0, np.int32), *filled])).astype(np.int32)

    @cached_property
    def _copies(self) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.int64]]:
        """Where the copies of each vertex in domains begin, (n + 1,); all of them; and how many of each domain move."""
        assert self.domains is not None
        vertex_of = self.domains.vertex_of
        start = np.concatenate([[0], np.cumsum(np.bincount(vertex_of, minlength=len(self.mass)))])
        movable = np.bincount(self.domains.domain_of, self.movable[vertex_of], len(self.domains)).astype(np.int64)
        return start, np.argsort(vertex_of, kind="stable"), movable

    def list_patches(self, full: IntArray) -> list[NDArray[np.intp]]:
        """Places of full vertices, ascending, that edges join; the last ones are kept, for they often stay."""
        if self._patches[0] is not full:
            self._patches = full, find_patches(self.neighbours, full)
        return self._patches[1]

    def find_unseen(self, full: IntArray) -> FloatArray:
        """Directions of the coordinates that move hardly any other mass than that of full vertices, orthonormal,
        (r, u)."""
        basis, parts = self._basis, []
        if isinstance(basis, DomainBases):
            copies = self._list_copies(full)
            for one, own, at in basis.each():
                low, high = np.searchsorted(copies, (own.start, own.stop))
                if high > low and one.rank:
                    some = copies[low:high]
                    parts.append((at, one.rows(some - own.start), basis.domains.body.mass[some]))
        else:
            parts.append((slice(0, basis.rank), basis.rows(full), self.mass[full]))
        found = [np.zeros((self.rank, 0))]
        for at, rows, mass in parts:
            U = np.sqrt(np.repeat(mass, 3))[:, None] * rows.reshape(-1, rows.shape[2])
            if float(np.vdot(U, U)) > _UNSEEN:  # the sum of all shares: no single one can be so large else
                shares, vectors = np.linalg.eigh(U.T @ U)
                held = np.zeros((self.rank, int(np.count_nonzero(shares > _UNSEEN))))
                held[at] = vectors[:, shares > _UNSEEN]
                found.append(held)
        return np.concatenate(found, axis=1)

    def _list_copies(self, vertices: IntArray) -> NDArray[np.intp]:
        """All copies of vertices in domains, ascending."""
        start, copies, _ = self._copies
        counts = start[vertices + 1] - start[vertices]
        first = np.repeat(start[vertices] - (np.cumsum(counts) - counts), counts)
        return np.sort(copies[first + np.arange(len(first))])

    def renumber(self, known: IntArray, vertices: NDArray[np.integer]) -> IntArray:
        """Places of vertices in a list that has them all."""
        self._number[known] = np.arange(len(known), dtype=np.int32)
        found: IntArray = self._number[vertices]
        self._number[known] = -1
        return found

    def choose(self, body: Body, tets: IntArray, number: IntArray) -> tuple[Elements, ...]:
        """Tets of the body, or of the same one cut into domains, its vertices called by numbers."""
        parts = []
        for k, part in enumerate(body.parts):
            own = tets if len(body.parts) == 1 else tets[self._part[tets] == k]
            parts.append(part.chosen(np.sort(self._place[own]), number))
        return tuple(parts)


@dataclass(frozen=True, eq=False)
class Patch:
    """Elements over numbers of their own, and the matrix that they make."""

    parts: tuple[Elements, ...]
    count: int
    """Number of vertices."""

    @cached_property
    def map(self) -> StiffnessMap:
        """From the elements to a matrix over their vertices."""
        return StiffnessMap.build(self.count, self.parts, Pins.none())

    @cached_property
    def block_rows(self) -> BlockRows:
        """Both triangles of its pattern; columns ascend, so that those of full vertices come first."""
        return BlockRows.build(self.map.pattern)

    def stiffen(self, parts: tuple[Elements, ...], y: FloatArray, form: int, *, keep: bool = False) -> FloatArray:
        """Blocks of the elements' stiffness with its vertices at y [m], (l, 3); overwritten by the next call, unless
        they are to be kept."""
        data, blocks = self.scratch
        self.map.assemble(parts, y, data, form=form)
        return np.asarray(self.block_rows.fill(data, out=np.empty_like(blocks) if keep else blocks), np.float64)

    @cached_property
    def scratch(self) -> tuple[FloatArray, FloatArray]:
        """Memory for the upper triangle of its matrix, and for its blocks, (k, 9)."""
        return np.empty(self.map.pattern.nonzeros), np.empty((len(self.block_rows.columns), 9))


@dataclass(frozen=True, eq=False)
class Region(Patch):
    """Full vertices and what lies around them; its elements are those integrated exactly."""

    ground: Ground
    full: IntArray
    """V_f, ascending, (f,)."""
    around: IntArray
    """(a,)"""
    tets: IntArray
    """Those integrated exactly, ascending: they touch a full vertex, or are `filled`."""
    filled: IntArray
    """Those of domains in which all are exact, ascending."""
    whole: bool
    """Whether all tets are integrated exactly, so that no rule is needed."""

    @cached_property
    def size(self) -> int:
        """Number of full unknowns, 3 f."""
        return 3 * len(self.full)

    @property
    def share(self) -> float:
        """Share of the body's unknowns that are full."""
        return len(self.full) / max(self.ground.most, 1)

    @cached_property
    def vertices(self) -> IntArray:
        """All that are numbered, (l,)."""
        return np.concatenate([self.full, self.around])

    @cached_property
    def mass(self) -> FloatArray:
        """Of full vertices [kg], (f,)."""
        return self.ground.mass[self.full]

    @cached_property
    def unseen(self) -> FloatArray:
        """As `Ground.find_unseen` has it."""
        return self.ground.find_unseen(self.full)

    @cached_property
    def copies(self) -> IntArray | None:
        """Corners of its tets in the body cut into domains, ascending; None where it is in one piece."""
        domains = self.ground.domains
        return None if domains is None else np.unique(domains.body.mesh.tets[self._ruled]).astype(np.int32)

    @cached_property
    def _ruled(self) -> IntArray:
        """Exact tets of which rules have a share, ascending."""
        return np.setdiff1d(self.tets, self.filled, assume_unique=True).astype(np.int32)

    @cached_property
    def under(self) -> Patch:
        """Its elements where the subspace has them: over the same numbers, or over those of copies."""
        domains, copies = self.ground.domains, self.copies
        if domains is None or copies is None:
            return self
        number = np.full(len(domains.vertex_of), -1, np.int32)
        number[copies] = np.arange(len(copies), dtype=np.int32)
        return Patch(self.ground.choose(domains.body, self._ruled, number), len(copies))

    @cached_property
    def everyone(self) -> IntArray:
        """Its numbers, (l,)."""
        return np.arange(self.count, dtype=np.int32)

    @cached_property
    def diagonal(self) -> NDArray[np.intp]:
        """Places of the diagonal blocks of full rows."""
        rows, count = self.block_rows, len(self.full)
        row = np.repeat(np.arange(count), np.diff(rows.start[: count + 1]))
        return np.flatnonzero(rows.columns[: len(row)] == row)

    @cached_property
    def split(self) -> tuple[NDArray[np.int64], IntArray, IntArray]:
        """Where the columns of each block row leave the full vertices, (l,); the full vertices that have such columns;
        and the others."""
        rows, count = self.block_rows, len(self.full)
        inside = np.concatenate([[0], np.cumsum(rows.columns < count)])
        stop = rows.start[:-1] + np.diff(inside[rows.start])
        edge = np.flatnonzero(stop[:count] < rows.start[1 : count + 1]).astype(np.int32)
        return stop, edge, np.arange(count, self.count, dtype=np.int32)

    @cached_property
    def clusters(self) -> RigidClusters:
        """Of its full vertices: as many as take no longer to invert than a few iterations without them."""
        count = min(round(float(np.cbrt(_CLUSTERS * len(self.full)))), len(self.full) // _CLUSTERED)
        return RigidClusters.build(self.ground.rest[self.full], count)

    @cached_property
    def scale(self) -> FloatArray:
        """One over the roots of the masses of full unknowns [kg^-½], (3 f,)."""
        return np.repeat(1.0 / np.sqrt(self.mass), 3)

    def count_inverted(self, y: FloatArray) -> int:
        """How many exact tets are inside out with its vertices at y [m], (l, 3)."""
        corners = y[self.number(self.ground.body.mesh.tets[self.tets])]
        sides = corners[:, 1:] - corners[:, :1]
        return int(np.count_nonzero(np.einsum("ti,ti->t", sides[:, 0], np.cross(sides[:, 1], sides[:, 2])) <= 0.0))

    def spread(self, g: FloatArray) -> FloatArray:
        """Forces on full vertices, the first of g, as a field over all, for a diagnosis [N], (n, 3)."""
        field = np.zeros_like(self.ground.rest)
        field[self.full] = g[: self.size].reshape(-1, 3)
        return field

    def number(self, vertices: NDArray[np.integer]) -> IntArray:
        """What its vertices are called here."""
        return self.ground.renumber(self.vertices, vertices)


@njit(cache=True)
def _gather_tets(
    full: IntArray,
    start: NDArray[np.int64],
    tets_of: IntArray,
    tets: IntArray,
    seen: NDArray[np.bool_],
    number: IntArray,
) -> tuple[IntArray, IntArray]:
    """Tets that touch a full vertex, and their other vertices, which are numbered after the full ones."""
    most = 0
    for v in full:
        most += start[v + 1] - start[v]
    found, count = np.empty(most, np.int32), 0
    for v in full:
        for k in range(start[v], start[v + 1]):
            t = tets_of[k]
            if not seen[t]:
                seen[t] = True
                found[count] = t
                count += 1
    found = found[:count]
    around, more = np.empty(3 * count, np.int32), 0
    for t in found:
        seen[t] = False
        for k in range(4):
            v = tets[t, k]
            if number[v] < 0:
                number[v] = len(full) + more
                around[more] = v
                more += 1
    return found, around[:more].copy()
