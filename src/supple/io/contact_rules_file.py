"""The contact rules of a trained model as plain arrays of its file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature.contact_rules import ContactRules, PairRules
from supple.io.model_archive import CONTACTS, check_shapes, refuse
from supple.rig.relative_poses import COMPONENTS, RelativePoses

__all__ = ["pack_contacts", "unpack_contacts"]

Arrays = Mapping[str, NDArray[Any]]


def pack_contacts(contacts: ContactRules | None) -> dict[str, NDArray[Any]]:
    """Arrays by name: one row for two bones, then one for each of their poses, then one for each contact."""
    if contacts is None:
        return {}
    rules = contacts.rules
    empty = {"contact_at": np.zeros((0, COMPONENTS)), "contact_pairs": np.zeros((0, 2), np.int32)}
    return {
        "contact_bones": np.array([rule.bones for rule in rules], np.int64).reshape(-1, 2),
        "contact_roots": np.array([rule.seen.root for rule in rules]).reshape(-1, 4, 4),
        "contact_means": np.array([rule.seen.mean for rule in rules]).reshape(-1, 12),
        "contact_axes": np.array([rule.seen.axes for rule in rules]).reshape(-1, COMPONENTS, 12),
        "contact_reach": np.array([rule.reach for rule in rules]),
        "contact_poses": np.array([len(rule.at) for rule in rules], np.int64),
        "contact_at": np.concatenate([empty["contact_at"], *(rule.at for rule in rules)]),
        "contact_sizes": np.concatenate([np.zeros(0, np.int64), *(np.diff(rule.start) for rule in rules)]),
        "contact_pairs": np.concatenate([empty["contact_pairs"], *(rule.pairs for rule in rules)]).astype(np.int64),
        "contact_weights": np.concatenate([np.zeros(0), *(rule.weights for rule in rules)]),
    }


def unpack_contacts(path: Path, arrays: Arrays, vertices: int) -> ContactRules | None:
    """The rules in the arrays of a file of a body with so many vertices; None where it has none."""
    if not set(CONTACTS) <= set(arrays):
        return None
    bones, poses, sizes, pairs, weights = (
        arrays[f"contact_{name}"] for name in ("bones", "poses", "sizes", "pairs", "weights")
    )
    k, total, m = len(bones), len(sizes), len(weights)
    shapes = {"bones": (k, 2), "roots": (k, 4, 4), "means": (k, 12), "axes": (k, COMPONENTS, 12), "reach": (k,)}
    more = {"poses": (k,), "at": (total, COMPONENTS), "sizes": (total,), "pairs": (m, 2), "weights": (m,)}
    check_shapes(path, arrays, {f"contact_{name}": shape for name, shape in {**shapes, **more}.items()})
    refuse(
        path,
        {
            "its contact rules have no poses": bool((poses < 1).any()) or int(poses.sum()) != total,
            "its contact rules have other contacts than they count": bool((sizes < 0).any()) or int(sizes.sum()) != m,
            "its contact rules name vertices that are not there": bool(
                (pairs < 0).any() or (pairs[:, 0] >= vertices).any()
            ),
            "its contact rules have weights below zero": bool((weights < 0.0).any()),
            "its contact rules name bones that are not there": bool((bones < 0).any()),
        },
    )
    found, pose, first = [], 0, 0
    for row in range(k):
        own = slice(pose, pose + int(poses[row]))
        start = np.concatenate([[0], np.cumsum(sizes[own])]).astype(np.int64)
        some = slice(first, first + int(start[-1]))
        roots, means, axes = (arrays[f"contact_{name}"][row] for name in ("roots", "means", "axes"))
        seen = RelativePoses(int(bones[row, 0]), int(bones[row, 1]), roots, means, axes)
        rule = PairRules(
            seen, arrays["contact_at"][own], start, pairs[some].astype(np.int32), weights[some],
            float(arrays["contact_reach"][row]),
        )  # fmt: skip
        found.append(rule)
        pose, first = own.stop, some.stop
    return ContactRules(tuple(found))
