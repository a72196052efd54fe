"""Columns that let a subspace be dented where the body touches itself: its contact forces, placed first ([TOK14] 5.1).

What contact moves is little of all that moves, and principal components leave it out.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.self_contact import SelfContact
from supple.elastic import Body
from supple.linalg.orthonormal import orthonormalise
from supple.linalg.ties import BEYOND, MARGIN, settled_turn
from supple.rig import SkinnedRig
from supple.subspace.basis import Basis

__all__ = ["contact_columns", "lead_with_contacts"]

FloatArray = NDArray[np.float64]
_MISSED = 0.1  # share of the forces, each of size one, that the columns may miss


def contact_columns(
    body: Body, rig: SkinnedRig, poses: FloatArray, positions: Sequence[FloatArray] | FloatArray, own: SelfContact
) -> FloatArray:
    """Principal components (3 n, c) of M⁻¹ f, f the contact forces of positions (k, n, 3) [m] in poses (k, p), at rest;
    none where nothing touches."""
    mass, moves = np.repeat(body.mass, 3), np.ones((len(body.mass), 3))
    moves[body.pins.vertices] = ~body.pins.held
    pushes = [(moves * _push(rig, pose, x, own)).ravel() for pose, x in zip(poses, positions, strict=True)]
    found = np.array([push / np.sqrt(mass) for push in pushes if push.any()]).reshape(-1, len(mass))
    if not len(found):
        return np.zeros((len(mass), 0))
    _, sizes, shapes = np.linalg.svd(found / np.linalg.norm(found, axis=1, keepdims=True), full_matrices=False)
    missed = 1.0 - np.cumsum(sizes**2) / (sizes**2).sum()
    count = int(np.argmax(missed <= (1.0 + MARGIN) * _MISSED**2)) + 1
    first = shapes[: count + BEYOND].T
    first = first @ settled_turn(sizes[: count + BEYOND], first)[:, :count]
    return np.asarray(first / np.sqrt(mass)[:, None])


def lead_with_contacts(basis: Basis, columns: FloatArray) -> Basis:
    """The basis with columns (3 n, c) before its own, mass-orthonormal."""
    if not columns.shape[1]:
        return basis
    whole = orthonormalise(np.column_stack([columns, basis.columns]), basis.metric)
    importance = np.concatenate([np.full(whole.shape[1] - basis.rank, basis.importance[0]), basis.importance])
    return replace(basis, columns=whole, importance=importance, source=f"contact forces and {basis.source}")


def _push(rig: SkinnedRig, pose: FloatArray, x: FloatArray, own: SelfContact) -> FloatArray:
    """Contact forces of one shape as they act at rest, for a stiffness of 1 Pa/m, (n, 3)."""
    touching = own.find(x)
    contacts = own.to_contacts(touching, x)
    sizes = contacts.area * np.maximum(touching.depth, 0.0)
    force = contacts.scatter(sizes[:, None] * touching.normal, len(x))
    A, _ = rig.frames(pose)
    return np.asarray((force[:, None, :] @ A)[:, 0])
