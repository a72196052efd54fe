"""Trained models of bodies with a rig as .npz, stamped with the body and the rig they serve."""

from __future__ import annotations

import os
from pathlib import Path

from supple.cubature import Rule
from supple.elastic import Body
from supple.io.contact_rules_file import pack_contacts, unpack_contacts
from supple.io.model_archive import SKINNED, check_rule_content, check_shapes, describe_rule, has_layout, read, write
from supple.method.model import fingerprint, refuse_other_body
from supple.method.rig_fingerprint import fingerprint_rig, refuse_other_rig
from supple.method.skinned.model import SkinnedModel
from supple.rig import SkinnedRig

__all__ = ["is_skinned_file", "load_skinned", "save_skinned"]


def save_skinned(path: str | os.PathLike[str], model: SkinnedModel, body: Body, rig: SkinnedRig) -> Path:
    """Write a model of this body and rig as one .npz, in place of an older one only when it is whole; where it lies."""
    rule, particles = model.rule, model.particles
    values = {
        "reach": model.reach,
        "error": model.error,
        "rule": describe_rule(rule),
        "particles": describe_rule(particles),
        "body": fingerprint(body),
        "rig": fingerprint_rig(rig),
        "facts": dict(model.facts),
    }
    arrays = {
        "members": rule.members,
        "weights": rule.weights,
        "vertices": particles.members,
        "vertex_weights": particles.weights,
        "poses": model.poses,
        **pack_contacts(model.contacts),
    }
    return write(Path(path), SKINNED, values, model.basis, arrays)


def is_skinned_file(path: str | os.PathLike[str]) -> bool:
    """Whether an .npz file holds a model of a body with a rig, of any version."""
    return has_layout(Path(path), SKINNED)


def load_skinned(path: str | os.PathLike[str], body: Body | None = None, rig: SkinnedRig | None = None) -> SkinnedModel:
    """The model in a file, bit for bit as it was saved; one for another body or rig than the given is refused."""
    file = Path(path)
    values, arrays, basis = read(file, SKINNED)
    who, weights = arrays["vertices"], arrays["vertex_weights"]
    check_shapes(file, arrays, {"vertices": (len(who),), "vertex_weights": (len(who),), "poses": (-1, -1)})
    check_rule_content(file, who, weights, len(basis.mass), "vertices")
    if body is not None:
        refuse_other_body(values["body"], body, str(file))
    if rig is not None:
        refuse_other_rig(values["rig"], rig, str(file))
    rule = Rule(arrays["members"], arrays["weights"], **values["rule"])
    particles = Rule(who, weights, **values["particles"])
    return SkinnedModel(
        basis, rule, particles, values["reach"], arrays["poses"], values["error"], values["facts"],
        unpack_contacts(file, arrays, len(basis.mass)),
    )  # fmt: skip
