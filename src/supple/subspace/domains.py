"""A body cut into domains, one for each bone: tets keep their numbers, a vertex on a border has a copy in each domain.

Nothing ties the copies together but springs (interface.py). To a solver the cut body is a body like any other, so that
bases and rules of single domains, side by side, are a basis and a rule of it ([TMDK15] 4.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from supple.elastic import Body, Pins
from supple.errors import MeshError

__all__ = ["Domains", "coordinates_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_FEWEST = 2  # tets of a domain: a single one has no shape of its own beside its neighbours'


@dataclass(frozen=True, eq=False)
class Domains:
    """A body, and the same body cut; vertices of the cut one are ordered by domain, then by their number in the whole.

    What is drawn of copies that came apart is their mean by mass (`gather`).
    """

    whole: Body
    body: Body
    """The cut body: as many tets, N vertices; pins and masses are those of the whole, masses shared out."""
    names: tuple[str, ...]
    """Of the domains, (d,)."""
    owners: IntArray
    """Domain of every tet, (m,)."""
    vertex_of: IntArray
    """Vertex of the whole body that each vertex of the cut one copies, (N,)."""
    start: IntArray
    """Vertices of domain k are start[k] to start[k + 1], (d + 1,)."""
    share: FloatArray
    """What each copy has of its vertex's mass, in proportion to its tets, (N,)."""

    @classmethod
    def of(cls, body: Body, owners: ArrayLike, names: Sequence[str] | None = None) -> "Domains":
        """A body cut by the label of each tet, (m,): numbers of `names`, or any integers where there are none."""
        numbers, called = _check_owners(np.asarray(owners), names, len(body.mesh.tets))
        count = len(body.mesh.vertices)
        keys, place = np.unique(numbers[:, None] * count + body.mesh.tets, return_inverse=True)
        tets = place.reshape(-1, 4).astype(np.int32)
        vertex_of = keys % count
        share = _share_mass(body, tets, vertex_of)
        start = np.searchsorted(keys, count * np.arange(len(called) + 1))
        mesh = replace(body.mesh, vertices=body.mesh.vertices[vertex_of], tets=tets)
        # Copies keep the order of their vertices, and sharing fewer of them breaks no colouring
        parts = tuple(
            replace(part, tets=np.searchsorted(keys, numbers[part.ids] * count + part.tets).astype(np.int32))
            for part in body.parts
        )
        pins = _copy_pins(body.pins, vertex_of)
        cut = Body(mesh, parts, body.mass[vertex_of] * share, pins, body.damping)
        return cls(body, cut, called, numbers, vertex_of, start, share)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def domain_of(self) -> IntArray:
        """Domain of every vertex of the cut body, (N,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def vertices(self, domain: int) -> slice:
        """The vertices of a domain in the cut body."""
        return slice(int(self.start[domain]), int(self.start[domain + 1]))

    def tets(self, domain: int) -> IntArray:
        """Numbers of a domain's tets, ascending, in the whole body as in the cut one."""
        return np.flatnonzero(self.owners == domain)

    def piece(self, domain: int) -> Body:
        """One domain as a body of its own; its vertices and tets are numbered in the order of the cut body."""
        own, chosen = self.vertices(domain), self.tets(domain)
        mesh = self.body.mesh
        tets = mesh.tets[chosen] - np.int32(own.start)
        cut = replace(mesh, vertices=mesh.vertices[own], tets=tets, regions=mesh.regions[chosen], notes=())
        parts = []
        for part in self.body.parts:
            ids = np.flatnonzero(np.isin(chosen, part.ids))
            if len(ids):
                parts.append(part.renumbered(cut.vertices, tets, ids, chosen))
        pins = self.body.pins
        inside = (pins.vertices >= own.start) & (pins.vertices < own.stop)
        held = Pins(pins.vertices[inside] - np.int32(own.start), pins.held[inside])
        return Body(cut, tuple(parts), self.body.mass[own], held, self.body.damping)

    def spread(self, field: FloatArray) -> FloatArray:
        """Values at the whole body's vertices, (n, ...), for all copies, (N, ...)."""
        return field[self.vertex_of]

    def spread_targets(self, targets: FloatArray) -> FloatArray:
        """Where the pins of the cut body are to be [m], (k, 3), given those of the whole one."""
        held = self.vertex_of[self.body.pins.vertices]
        return targets[np.searchsorted(self.whole.pins.vertices, held)]

    @cached_property
    def means(self) -> csr_array:
        """The matrix (n, N) that takes means of copies, each by its share of the mass."""
        shape = len(self.whole.mass), len(self.share)
        return csr_array((self.share, (self.vertex_of, np.arange(len(self.share)))), shape=shape)

    def gather(self, field: FloatArray) -> FloatArray:
        """Means over copies, by mass, of values at the cut body's vertices (N, ...), (n, ...): momentum is kept."""
        flat = self.means @ field.reshape(len(field), -1)
        return np.asarray(flat).reshape(-1, *field.shape[1:])


def coordinates_of(vertices: NDArray[np.integer]) -> IntArray:
    """Rows of a basis that belong to vertices (k,), (3 k,)."""
    return np.asarray(3 * vertices[:, None] + np.arange(3), np.int64).ravel()


def _check_owners(
    owners: NDArray[np.generic], names: Sequence[str] | None, tets: int
) -> tuple[IntArray, tuple[str, ...]]:
    """Domain of every tet, numbered without gaps, and names; refused where a domain could not be one."""
    if owners.shape != (tets,) or not np.issubdtype(owners.dtype, np.integer):
        raise MeshError(
            f"labels of shape {owners.shape} and type {owners.dtype} do not tell the domains of {tets:,} tets: give "
            "one integer for every tet."
        )
    if names is None:
        labels, owners = np.unique(owners, return_inverse=True)
        names = [f"domain {label}" for label in labels]
    elif not 0 <= int(owners.min()) <= int(owners.max()) < len(names):
        wrong = int(owners.min()) if owners.min() < 0 else int(owners.max())
        raise MeshError(f"label {wrong} names none of {len(names)} domains: use 0 to {len(names) - 1}.")
    numbers = owners.astype(np.int64)
    counts = np.bincount(numbers, minlength=len(names))
    few = np.flatnonzero(counts < _FEWEST)
    if few.size:
        has = "no tet" if counts[few[0]] == 0 else "one tet only"
        more = f", as have {few.size - 1} more domains few or none" if few.size > 1 else ""
        raise MeshError(
            f"'{names[few[0]]}' has {has} in which to deform{more}: mesh finer, move its bone into the body, or give "
            "its tets to a neighbour and leave it out."
        )
    return numbers, tuple(names)


def _share_mass(body: Body, tets: NDArray[np.int32], vertex_of: IntArray) -> FloatArray:
    """The part of its vertex's mass that each copy has from its tets, (N,)."""
    own = np.zeros(len(vertex_of))
    for part in body.parts:
        for corner in tets[part.ids].T:
            own += np.bincount(corner, part.mass / 4.0, minlength=len(own))
    return np.asarray(own / np.bincount(vertex_of, own)[vertex_of])


def _copy_pins(pins: Pins, vertex_of: IntArray) -> Pins:
    """All copies of held vertices, held along the same axes."""
    copies = np.flatnonzero(np.isin(vertex_of, pins.vertices))
    source = np.searchsorted(pins.vertices, vertex_of[copies])
    return Pins(copies.astype(np.int32), pins.held[source])
