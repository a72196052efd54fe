"""Compliances between contacts: what a force at one moves another, learnt when first needed and kept."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.sweep import couple

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
    """C A⁻¹ [m/N], (g, m, r): g is 1, or 3 where A differs from axis to axis."""
    W: SingleArray
    """C A⁻¹ Cᵀ [m/N], (g, m, m)."""


class Delassus:
    """W = C A⁻¹ Cᵀ for any contacts of one body, while its matrix A stays the same.

    Positions are rows @ q, where the coordinates q may be those of a subspace. Columns of A⁻¹ are solved for vertex by
    vertex as these begin to touch, and kept: a body that rests or rolls asks for few new ones in a step.
    """

    def __init__(self, rows: sp.csr_array, respond: Callable[[IntArray], FloatArray], axes: int = 1) -> None:
        """`rows` (n, r); `respond` gives what a unit force on each of k vertices moves the coordinates [m/N].

        That is (axes, k, r), where `axes` is 1, or 3 if pins hold single axes, so that A differs between them.
        """
        self._rows = sp.csr_array(rows)
        self._respond = respond
        self._slot = np.full(rows.shape[0], -1, np.int32)
        self._columns = np.empty((axes, 0, rows.shape[1]), np.float32)
        self._known = 0
        self._last: tuple[bytes, Linked] | None = None

    def link(self, contacts: Contacts) -> Linked:
        """Rows and compliances of the contacts; those of the last call are kept, because a resting body asks again."""
        key = contacts.vertices.tobytes() + contacts.weights.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._link(contacts)
        return self._last[1]

    def _link(self, contacts: Contacts) -> Linked:
        used = contacts.weights != 0.0
        count = len(contacts)
        self._learn(np.unique(contacts.vertices[used]))
        pick = sp.csr_array(
            (contacts.weights[used], contacts.vertices[used], np.concatenate([[0], np.cumsum(used.sum(axis=1))])),
            shape=(count, self._rows.shape[0]),
        )
        C = sp.csr_array(pick @ self._rows)
        slots = self._slot[contacts.vertices]
        Y = self._columns[:, slots[:, 0]]
        pairs = np.flatnonzero(used[:, 1:].any(axis=1))
        if len(pairs):
            slots, weights = np.where(used, slots, slots[:, :1])[pairs], contacts.weights[pairs].astype(np.float32)
            Y[:, pairs] = np.einsum("mk,gmkr->gmr", weights, self._columns[:, slots])
        start, column, value = C.indptr.astype(np.int32), C.indices.astype(np.int32), C.data.astype(np.float32)
        return Linked(start, column, value, Y, np.stack([couple(start, column, value, one) for one in Y]))

    def _learn(self, vertices: IntArray) -> None:
        """Columns of vertices that were not asked for before."""
        axes, room, width = self._columns.shape
        if 4 * axes * width * (self._known + len(vertices)) > _MEMORY:
            self._slot[:], self._known = -1, 0
        new = vertices[self._slot[vertices] < 0]
        if not len(new):
            return
        end = self._known + len(new)
        if end > room:
            grown = np.empty((axes, max(end, 2 * room), width), np.float32)
            grown[:, : self._known] = self._columns[:, : self._known]
            self._columns = grown
        self._columns[:, self._known : end] = self._respond(new)
        self._slot[new] = np.arange(self._known, end, dtype=np.int32)
        self._known = end
