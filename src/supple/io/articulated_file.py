"""Trained models of bodies with a rig in domains as .npz, stamped with the body and the rig they serve."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.elastic import Body
from supple.errors import FileFormatError
from supple.io.contact_rules_file import pack_contacts, unpack_contacts
from supple.io.model_archive import (
    ARTICULATED,
    TRAIN_AGAIN,
    check_rule_content,
    check_shapes,
    describe_rule,
    has_layout,
    read_members,
    refuse,
    write_members,
)
from supple.method.articulated.model import ArticulatedModel
from supple.method.model import fingerprint, refuse_other_body
from supple.method.rig_fingerprint import fingerprint_rig, refuse_other_rig
from supple.rig import SkinnedRig
from supple.subspace import Basis, DomainBases, Domains, Interface

__all__ = ["is_articulated_file", "load_articulated", "save_articulated", "tell_articulated"]

FloatArray = NDArray[np.float64]


def save_articulated(path: str | os.PathLike[str], model: ArticulatedModel, body: Body, rig: SkinnedRig) -> Path:
    """Write a model of this body and rig as one .npz, in place of an older one only when it is whole; where it lies."""
    rule, particles, bases = model.rule, model.particles, model.basis
    values = {
        "source": bases.source,
        "sources": [basis.source for basis in bases.bases],
        "names": list(bases.domains.names),
        "spring_stiffness": model.interface.stiffness,
        "reach": model.reach,
        "error": model.error,
        "rule": describe_rule(rule),
        "particles": describe_rule(particles),
        "body": fingerprint(body),
        "rig": fingerprint_rig(rig),
        "facts": {**model.tell(), **model.facts},
    }
    arrays = {
        "owners": bases.domains.owners,
        "ranks": np.array([basis.rank for basis in bases.bases], np.int64),
        "columns": np.concatenate([basis.columns.ravel() for basis in bases.bases]),  # without zeros of other domains
        "importance": bases.importance,
        "members": rule.members,
        "weights": rule.weights,
        "vertices": particles.members,
        "vertex_weights": particles.weights,
        "poses": model.poses,
        **pack_contacts(model.contacts),
    }
    return write_members(Path(path), ARTICULATED, values, arrays)


def is_articulated_file(path: str | os.PathLike[str]) -> bool:
    """Whether an .npz file holds a model of a body with a rig in domains, of any version."""
    return has_layout(Path(path), ARTICULATED)


def load_articulated(path: str | os.PathLike[str], body: Body, rig: SkinnedRig) -> ArticulatedModel:
    """The model in a file, bit for bit as it was saved; one for another body or rig than the given is refused.

    Masses and shapes of the domains are those of the given body, which the file does not repeat.
    """
    file = Path(path)
    values, arrays = _read(file)
    refuse_other_body(values["body"], body, str(file))
    refuse_other_rig(values["rig"], rig, str(file))
    domains = Domains.of(body, arrays["owners"], values["names"])
    check_rule_content(file, arrays["members"], arrays["weights"], len(arrays["owners"]), "elements")
    check_rule_content(file, arrays["vertices"], arrays["vertex_weights"], len(domains.vertex_of), "vertices")
    return ArticulatedModel(
        DomainBases(domains, _read_bases(file, domains, arrays, values["sources"])),
        Interface.of(domains, values["spring_stiffness"]),
        Rule(arrays["members"], arrays["weights"], **values["rule"]),
        Rule(arrays["vertices"], arrays["vertex_weights"], **values["particles"]),
        values["reach"],
        arrays["poses"],
        values["error"],
        values["facts"],
        unpack_contacts(file, arrays, len(body.mass)),
    )


def tell_articulated(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file says of its model, without the body that it serves."""
    values, arrays = _read(Path(path))
    return {
        "vertices": values["body"]["vertices"],
        "basis": values["source"],
        "lowest_frequency_hz": float(np.sqrt(arrays["importance"].min()) / (2.0 * np.pi)),
        "trainer": values["rule"]["trainer"],
        "elements": len(arrays["members"]),
        "error": values["error"],
        **values["facts"],
    }


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    values, arrays = read_members(path, ARTICULATED)
    names, sources, ranks, k = (
        values.get("names"),
        values.get("sources"),
        arrays["ranks"],
        values.get("spring_stiffness"),
    )
    if (
        not isinstance(names, list)
        or not isinstance(sources, list)
        or not isinstance(k, float | int)
        or not len(names) == len(sources) == len(ranks)
        or not all(isinstance(word, str) for word in (*names, *sources))
        or not 0.0 <= k < np.inf
    ):
        raise FileFormatError(f"{path}: its description is damaged; {TRAIN_AGAIN}.")
    c, v, r, d = len(arrays["members"]), len(arrays["vertices"]), int(ranks.sum()), len(names)
    shapes = {"owners": (values["body"]["tets"],), "ranks": (d,), "columns": (-1,), "importance": (r,)}
    rules = {"members": (c,), "weights": (c,), "vertices": (v,), "vertex_weights": (v,), "poses": (-1, -1)}
    check_shapes(path, arrays, {**shapes, **rules})
    owners, importance = arrays["owners"], arrays["importance"]
    refuse(
        path,
        {
            "its subspaces have no columns": not r or bool((ranks < 0).any()),
            "its subspaces have stiffnesses that are not above zero": bool((importance <= 0.0).any()),
            "its rule has no elements": not c,
            "its domains are not those it names": sorted(set(owners.tolist())) != list(range(d)),
        },
    )
    return values, arrays


def _read_bases(path: Path, domains: Domains, arrays: dict[str, NDArray[Any]], sources: list[str]) -> tuple[Basis, ...]:
    """The bases of the domains, from their columns one after another."""
    counts, ranks = 3 * np.diff(domains.start), arrays["ranks"]
    begins = np.concatenate([[0], np.cumsum(counts * ranks)])
    check_shapes(path, arrays, {"columns": (int(begins[-1]),)})
    ends, found = np.concatenate([[0], np.cumsum(ranks)]), []
    for k, source in enumerate(sources):
        columns = arrays["columns"][begins[k] : begins[k + 1]].reshape(counts[k], ranks[k])
        mass = domains.body.mass[domains.vertices(k)]
        found.append(Basis(columns, mass, source, arrays["importance"][ends[k] : ends[k + 1]]))
    return tuple(found)
