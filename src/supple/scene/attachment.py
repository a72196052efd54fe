"""Painted attachment: springs from flesh to where the rig has it, as strong as the paint says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.scene.marks import Marks
from supple.scene.rig_table import AttachTable
from supple.solve.pull import Anchors

__all__ = ["describe_attachment", "make_anchors"]

REACH = 0.1  #: share of the body's size
STRONGEST = 1e3  #: times the springs of paint 0.5
LEAST = 1e-3  #: paint that ties nothing


def make_anchors(table: AttachTable, body: Body, marks: Marks) -> Anchors:
    """Springs of k = E V p / ((1 - p) L²) at vertices of volume V and paint p that are not held.

    Springs of modulus E/L² a volume pull flesh of Young's modulus E over about the length L, the reach.
    """
    paint = np.clip(marks.paint(table.paint, "rig.attach").vertices, 0.0, 1.0)
    firm = np.zeros(len(body.mass))  # E V, with painted stiffness
    for part in body.parts:
        mu, lam = part.material.mu, part.material.lam
        young = mu * (3.0 * lam + 2.0 * mu) / (lam + mu)
        np.add.at(firm, part.tets, np.tile(0.25 * young * part.volume, (4, 1)))
    reach = table.reach or REACH * body.mesh.size()
    share = np.minimum(paint / np.maximum(1.0 - paint, 1e-12), STRONGEST)
    tied = np.flatnonzero(paint > LEAST)
    tied = tied[~np.isin(tied, body.pins.vertices)]
    stiffness: NDArray[np.float64] = firm[tied] * share[tied] / reach**2
    return Anchors(tied.astype(np.int32), stiffness)


def describe_attachment(anchors: Anchors) -> str:
    """How much is tied, in words."""
    if not len(anchors.vertices):
        return "attachment: the paint ties nothing to the rig"
    low, high = anchors.stiffness.min(), anchors.stiffness.max()
    return f"attachment: {len(anchors.vertices)} vertices tied to the rig by springs of {low:.3g} to {high:.3g} N/m"
