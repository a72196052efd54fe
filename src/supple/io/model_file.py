"""Trained models as .npz: versioned, stamped with the body they serve, the same bytes for the same model; no pickle."""

from __future__ import annotations

import os
from pathlib import Path

from supple.cubature import Rule
from supple.elastic import Body
from supple.io.model_archive import REDUCED, check_shapes, describe_rule, has_layout, read, write
from supple.method.model import ReducedModel, fingerprint, refuse_other_body

__all__ = ["is_model_file", "load_model", "save_model"]


def save_model(path: str | os.PathLike[str], model: ReducedModel, body: Body) -> Path:
    """Write a model of this body as one .npz, in place of an older one only when it is whole; where it lies."""
    rule = model.rule
    values = {
        "reach": model.reach,
        "error": model.error,
        "rule": describe_rule(rule),
        "body": fingerprint(body),
        "facts": dict(model.facts),
    }
    arrays = {"members": rule.members, "weights": rule.weights, "carried": model.carried}
    return write(Path(path), REDUCED, values, model.basis, arrays)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether an .npz file holds a model of a body without a rig, of any version."""
    return has_layout(Path(path), REDUCED)


def load_model(path: str | os.PathLike[str], body: Body | None = None) -> ReducedModel:
    """The model in a file, bit for bit as it was saved; one for another body than the given one is refused."""
    file = Path(path)
    values, arrays, basis = read(file, REDUCED)
    check_shapes(file, arrays, {"carried": (len(basis.columns), -1)})
    if body is not None:
        refuse_other_body(values["body"], body, str(file))
    rule = Rule(arrays["members"], arrays["weights"], **values["rule"])
    return ReducedModel(basis, rule, arrays["carried"], values["reach"], values["error"], values["facts"])
