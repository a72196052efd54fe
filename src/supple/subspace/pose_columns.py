"""How the columns of a pose are made: for the whole body or region by region, free or kept from passing through itself.

Columns of a region are zero outside it, and those of equal region are aligned to each other only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.subspace.contact_modes import contact_columns
from supple.subspace.derivatives import count_modes, modal_basis
from supple.subspace.modes import linear_modes
from supple.subspace.regions import Regions
from supple.subspace.self_touch import SelfTouch
from supple.subspace.static_responses import LED_FROM, RESPONSES, lead_with_responses, static_responses

__all__ = ["PoseColumns"]

FloatArray = NDArray[np.float64]

LED_IN_REGIONS = 2 * RESPONSES  #: columns of a region that responses lead: without them its neighbours' would break off


@dataclass(frozen=True, eq=False)
class PoseColumns:
    """Modes, derivatives and static responses about the shape of a pose."""

    touch: SelfTouch | None = None
    """Finds contacts, which are kept; None: flesh may pass through itself."""
    regions: Regions | None = None
    """None: the whole body at once."""

    @property
    def restricted(self) -> bool:
        """Whether columns are others than those of the body by itself."""
        return self.touch is not None or self.regions is not None

    def owners(self, rank: int) -> NDArray[np.int64]:
        """Region of every column, (r,)."""
        ranks = (rank,) if self.regions is None else self.regions.share(rank)
        return np.repeat(np.arange(len(ranks)), ranks)

    def make(self, body: Body, shape: FloatArray, rank: int) -> FloatArray:
        """Columns (3 n, r) of a body at rest in a shape [m], (n, 3), mass-orthonormal in every region."""
        contacts = None if self.touch is None else self.touch.find(shape)
        if self.regions is None and not contacts:
            return _free_columns(body, shape, rank)
        rows, opens = np.zeros((0, 3 * len(body.mass))), False
        if self.touch is not None and contacts is not None:
            rows, opens = self.touch.forbid(contacts), self.touch.binding == "opens"
        if self.regions is None:
            return contact_columns(body, shape, rank, rows, opens=opens)
        found = []
        whole = static_responses(body, shape)
        for weights, part, own in zip(self.regions.weights, self.regions.parts, self.regions.share(rank), strict=True):
            felt = rows[np.abs(rows) @ np.repeat(weights, 3) > 0.0]
            # Cut, so that all regions together respond as the body does: of their own they would not where they overlap
            led = own >= LED_IN_REGIONS and part.any() and not len(felt)
            cut = np.repeat(part, 3)[:, None] * whole if led else None
            found.append(contact_columns(body, shape, own, felt, weights=weights, opens=opens, responses=cut))
        return np.column_stack(found)


def _free_columns(body: Body, shape: FloatArray, rank: int) -> FloatArray:
    modes = linear_modes(body, count_modes(rank), x=shape)
    basis = modal_basis(body, modes, rank, x=shape)
    return basis.columns if rank < LED_FROM else lead_with_responses(basis, body, shape)
