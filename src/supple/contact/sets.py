"""Sets of contacts: chosen from, joined, and followed from round to round of a step."""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.anisotropy import split
from supple.contact.contacts import SELF, Contacts

__all__ = ["NO_PAIRS", "SAME_SIDE", "anchor", "choose", "is_in", "join", "keep_areas", "list_pairs", "merge", "share"]

FloatArray = NDArray[np.float64]
NO_PAIRS: NDArray[np.int32] = np.zeros((0, 2), np.int32)  #: nothing is known to touch
_FIELDS = tuple(field.name for field in fields(Contacts))
SAME_SIDE = 0.85  #: cosine between normals above which two triangles are of one side, not of a fold


def choose(contacts: Contacts, rows: NDArray[np.bool_] | NDArray[np.integer]) -> Contacts:
    """The contacts of some rows."""
    return Contacts(*(getattr(contacts, name)[rows] for name in _FIELDS))


def join(sets: Sequence[Contacts]) -> Contacts:
    """All contacts of several sets, sorted by source, then vertex."""
    sets = [one for one in sets if len(one)]
    if len(sets) < 2:
        return sets[0] if sets else Contacts.none()
    whole = Contacts(*(np.concatenate([getattr(one, name) for one in sets]) for name in _FIELDS))
    return choose(whole, np.lexsort((whole.vertices[:, 0], whole.source)))  # stable


def merge(
    old: Contacts,
    new: Contacts,
    x: FloatArray,
    *,
    refresh: bool = True,
    drop: bool = True,
    several: bool = False,
    back: Contacts | None = None,
) -> Contacts:
    """A new detection at positions x [m], and what earlier rounds of the step found.

    Contacts found again get their new geometry (`refresh`) or keep the old. A vertex that touches another triangle than
    before has moved on, or it lies in a fold where it touches both: so it does if it already had several contacts, and
    in later rounds (`several`). A vertex not found again keeps its contacts while they are open at x: they do nothing
    and may close again. One that would push there though a new look finds nothing is a plane continued beyond what is
    touched: it goes (`drop`), or stays so that it cannot come and go, as those do that have gone and come `back`.
    """
    if not len(old) or (refresh and np.array_equal(*_keys(old, new, True))):
        return new
    if not refresh:
        return join((old, choose(new, ~is_in(new, old, places=several))))
    again, found = is_in(old, new, places=True), is_in(old, new, places=False)
    stays = several | _is_crowded(old)
    keep = (old.depth(x) <= 0.0) | (found & stays)
    if back is not None and len(back):
        known = is_in(old, back, places=True)
        stays, keep = stays | known, keep | known
    if not drop:
        keep[:] = True
    return join((new, choose(old, keep & ~again & (stays | ~found))))


def share(contacts: Contacts, x: FloatArray) -> Contacts:
    """The same, where contacts of one vertex that push the same way at positions x [m], (n, 3), share its area.

    A vertex on an edge or a corner of what it touches lies on several triangles; all of them together carry it once.
    """
    rows = np.flatnonzero(_is_crowded(contacts))
    if not len(rows):
        return contacts
    one = choose(contacts, rows)
    keys, _ = _keys(one, one, False)
    order = np.argsort(keys, kind="stable")
    keys, normal, pressed = keys[order], one.normal[order], (one.depth(x) > 0.0)[order]
    count = np.ones(len(rows))
    for apart in range(1, int(np.unique(keys, return_counts=True)[1].max())):
        alike = keys[apart:] == keys[:-apart]
        alike &= np.einsum("mi,mi->m", normal[apart:], normal[:-apart]) > SAME_SIDE
        count[:-apart] += alike & pressed[apart:]
        count[apart:] += alike & pressed[:-apart]
    area = contacts.area.copy()
    area[rows[order]] /= count
    return replace(contacts, area=area)


def list_pairs(contacts: Contacts) -> NDArray[np.int32]:
    """Vertices and triangles of contacts of the body with itself, those of edges left out, (k, 2)."""
    own = (contacts.source == SELF) & (contacts.weights[:, 0] == 1.0)
    return np.column_stack([contacts.vertices[own, 0], contacts.feature[own]])


def anchor(new: Contacts, old: Contacts, x: FloatArray) -> Contacts:
    """A new detection at positions x [m] in which known contacts are as deep as found, but seen from where they were.

    A touched point is found below its vertex: without an anchor nothing would ever be felt along a surface.
    """
    rows, again = _match(new, old)
    before, normal = choose(old, again), new.normal[rows]
    weights, offset = new.weights.copy(), new.offset.copy()
    weights[rows] = before.weights
    height, _ = split(normal, before.gap(x) + before.offset)
    offset[rows] = (height + new.depth(x)[rows])[:, None] * normal + split(normal, before.offset)[1]
    return replace(new, weights=weights, offset=offset)


def keep_areas(new: Contacts, old: Contacts) -> Contacts:
    """A new detection in which known contacts stand for as much as before: a step is not to change what it solves."""
    rows, again = _match(new, old)
    area = new.area.copy()
    area[rows] = old.area[again]
    return replace(new, area=area)


def _match(new: Contacts, old: Contacts) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of new contacts that were known, by what they touch as well, and rows of the old ones they were."""
    keys = _keys(old, new, True)
    if np.array_equal(*keys):
        return np.arange(len(new)), np.arange(len(old))
    labels = np.unique(np.concatenate(keys), return_inverse=True)[1]
    row = np.full(len(old) + len(new), -1)
    row[labels[: len(old)]] = np.arange(len(old))
    again = row[labels[len(old) :]]
    rows = np.flatnonzero(again >= 0)
    return rows, again[rows]


def is_in(contacts: Contacts, others: Contacts, *, places: bool) -> NDArray[np.bool_]:
    """Which contacts are known among others, (m,): by source and vertex, by `places` also by what they touch of it."""
    keys, known = _keys(contacts, others, places)
    if not len(known):
        return np.zeros(len(keys), np.bool_)
    known = np.sort(known, kind="stable")  # they nearly are
    return np.asarray(known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys)


def _is_crowded(contacts: Contacts) -> NDArray[np.bool_]:
    """Which contacts are not the only one of their vertex with their source, (m,)."""
    if contacts.are_of_vertices:  # sorted by source, then vertex
        keys = contacts.numbers
        same = np.concatenate([[False], keys[1:] == keys[:-1], [False]])
        return np.asarray(same[1:] | same[:-1])
    _, label, count = np.unique(_keys(contacts, contacts, False)[0], return_inverse=True, return_counts=True)
    return np.asarray(count[label] > 1)


def _keys(one: Contacts, other: Contacts, places: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the contacts of two sets that are the same where contacts are."""
    if one.are_of_vertices and other.are_of_vertices:
        return _number(one, places), _number(other, places)
    ends = []
    for contacts in (one, other):
        own = contacts.weights[:, 0] == 1.0
        keys = np.column_stack([contacts.source, contacts.vertices])
        keys[own, 2:] = -1  # contacts of edges are known by their four ends
        if places:
            keys[own, 2] = contacts.feature[own]
        ends.append(keys)
    labels = np.unique(np.concatenate(ends), axis=0, return_inverse=True)[1].astype(np.int64).ravel()
    return labels[: len(one)], labels[len(one) :]


def _number(contacts: Contacts, places: bool) -> NDArray[np.int64]:
    """Numbers of contacts of vertices, by source, vertex and perhaps triangle."""
    return contacts.numbers + contacts.feature if places else contacts.numbers
