"""Compliances between contacts: what a force at one moves another, learnt when first needed and kept."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.links import couple, gather_columns, gather_compliances, gather_rows

__all__ = ["Delassus", "Linked"]

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
_MEMORY = 400e6  # bytes of columns after which they are learnt anew


class Linked(NamedTuple):
    """m contacts as compiled loops take them; rows of C are sparse over the r coordinates of a method."""

    start: IntArray
    """(m + 1,)"""
    column: IntArray
    value: SingleArray
    Y: SingleArray
    """C A⁻¹ [m/N], (g, m, r): g is 1, or 3 where A differs from axis to axis; or C A⁻¹Gᵀ of what is seen, G q."""
    W: SingleArray
    """C A⁻¹ Cᵀ [m/N], (g, m, m)."""


class Delassus:
    """W = C A⁻¹ Cᵀ for any contacts of one body, while its matrix A stays the same.

    Positions are rows @ q, where the coordinates q may be those of a subspace. Columns of A⁻¹ are solved for vertex by
    vertex as these begin to touch, and kept: a body that rests or rolls asks for few new ones in a step.
    """

    def __init__(
        self,
        rows: sp.csr_array,
        respond: Callable[[IntArray], FloatArray],
        axes: int = 1,
        seen: sp.csr_array | None = None,
    ) -> None:
        """`rows` (n, r); `respond` gives what a unit force on each of k vertices moves the coordinates [m/N].

        That is (axes, k, r), where `axes` is 1, or 3 if pins hold single axes, so that A differs between them. Of the
        coordinates a method may only look at what is `seen`, rows G (s, r).
        """
        rows = sp.csr_array(rows)
        self._rows = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data
        self._respond, self._seen = respond, seen
        width = rows.shape[1] if seen is None else seen.shape[0]
        self._slot = np.full(rows.shape[0], -1, np.int32)
        self._columns = np.empty((axes, 0, width), np.float32)
        self._table = np.empty((axes, 0, 0), np.float32)
        self._known = np.zeros(0, np.int32)
        self._last: tuple[bytes, Linked] | None = None

    def link(self, contacts: Contacts) -> Linked:
        """Rows and compliances of the contacts; those of the last call are kept, because a resting body asks again."""
        key = contacts.vertices.tobytes() + contacts.weights.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._link(contacts.vertices, contacts.weights)
        return self._last[1]

    def _link(self, vertices: IntArray, weights: FloatArray) -> Linked:
        used = weights != 0.0
        self._learn(np.unique(vertices[used]))
        slots = self._slot[np.where(used, vertices, vertices[:, :1])]
        Y = [gather_columns(slots, weights, columns) for columns in self._columns]
        W = [gather_compliances(slots, weights, table, len(self._known)) for table in self._table]
        start, column, value = gather_rows(vertices, weights, *self._rows)
        return Linked(start, column, value, np.stack(Y), np.stack(W))

    def _learn(self, vertices: IntArray) -> None:
        """Columns of vertices that were not asked for before, and compliances between them and all others."""
        axes, room, width = self._columns.shape
        if 4 * axes * (width + room) * (len(self._known) + len(vertices)) > _MEMORY:
            self._slot[:], self._known = -1, self._known[:0]
        new = vertices[self._slot[vertices] < 0]
        if not len(new):
            return
        begin, end = len(self._known), len(self._known) + len(new)
        if end > room:
            room = max(end, 2 * room)
            columns, table = np.empty((axes, room, width), np.float32), np.empty((axes, room, room), np.float32)
            columns[:, :begin] = self._columns[:, :begin]
            table[:, :begin, :begin] = self._table[:, :begin, :begin]
            self._columns, self._table = columns, table
        moved = self._respond(new)
        for axis, own in enumerate(moved):
            self._columns[axis, begin:end] = own if self._seen is None else (self._seen @ own.T).T
        self._slot[new] = np.arange(begin, end, dtype=np.int32)
        self._known = np.concatenate([self._known, new])
        for own, table in zip(moved.astype(np.float32), self._table, strict=True):
            table[:end, begin:end] = couple(self._known, *self._rows, own)
            table[begin:end, :begin] = table[:begin, begin:end].T
