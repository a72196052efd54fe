"""Models of characters in pose space as .npz, stamped with the body and the rig they serve; docs/files.md has the
layout."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from supple.cubature.element_map import ElementMap
from supple.elastic import Body
from supple.errors import TrainingError
from supple.io.model_archive import (
    POSESPACE,
    check_rule_content,
    check_shapes,
    has_layout,
    read_members,
    refuse,
    write_members,
)
from supple.method.model import fingerprint, refuse_other_body
from supple.method.posespace.model import CORNERS, PoseSpaceModel
from supple.rig import Rig
from supple.rig.turns import find_turns

__all__ = ["is_posespace_file", "load_posespace", "save_posespace"]

_SAME = 1e-6  # of the body's size: how far the rig may have its vertices from where it had them


def save_posespace(path: str | os.PathLike[str], model: PoseSpaceModel, body: Body, rig: Rig) -> Path:
    """Write a model of this body and rig as one .npz, in place of an older one only when it is whole; where it lies."""
    names = [part.material.response.name for part in body.parts]
    materials = list(dict.fromkeys(names))
    kinds = np.array([materials.index(name) for name in names])[ElementMap(body).part[model.elements]]
    values = {
        "source": str(model.facts.get("alignment", "")),
        "reach": 0.0,
        "error": model.error,
        "stiffest": model.stiffest,
        "materials": materials,
        "damping": [body.damping.mass, body.damping.stiffness],
        "body": fingerprint(body),
        "rig": {"controls": list(rig.controls), "turns": find_turns(rig, rig.neutral, model.particles[:1]) is not None},
        "facts": dict(model.facts),
    }
    placed = np.array([rig.positions(pose, model.watched) for pose in model.poses])
    return write_members(Path(path), POSESPACE, values, {**model.arrays(), "kinds": kinds, "placed": placed})


def is_posespace_file(path: str | os.PathLike[str]) -> bool:
    """Whether an .npz file holds a model in pose space, of any version."""
    return has_layout(Path(path), POSESPACE)


def load_posespace(path: str | os.PathLike[str], body: Body | None = None, rig: Rig | None = None) -> PoseSpaceModel:
    """The model in a file, bit for bit as it was saved; one for another body or rig than the given is refused."""
    file = Path(path)
    values, arrays = read_members(file, POSESPACE)
    placed, kinds = arrays.pop("placed"), arrays.pop("kinds")
    given = values.get("stiffest")
    stiffest = given if isinstance(given, float) else 0.0
    refuse(file, {"its description is damaged": not 0.0 < stiffest < np.inf})
    check_shapes(file, arrays, {"columns": (-1, -1, 3, -1)})
    m, n, _, r = arrays["columns"].shape
    pairs, c, i = m * (m + 1) // 2, len(arrays["elements"]), len(arrays["particles"])
    k, q = len(arrays["pairs"]), len(arrays["corrections"])
    turned, stiffened = (count if len(arrays[name]) else 0 for name, count in (("turned", pairs), ("stiffness", m)))
    check_shapes(
        file,
        {**arrays, "placed": placed, "kinds": kinds},
        {
            "poses": (m, -1), "points": (m, -1), "edges": (c, m, -1, r), "gram": (pairs, r, r),
            "turned": (turned, 9, r, r), "gravity": (m, 3, r), "elements": (c,), "kinds": (c,),
            "corners": (c, 4), "volumes": (c,), "moduli": (3, c), "weights": (m, c), "stiffness": (stiffened, c),
            "particles": (i,), "masses": (m, i), "placed": (m, -1, 3),
            "owners": (r if len(arrays["owners"]) else 0,), "pairs": (k, 4), "pair_weights": (k, 4),
            "pair_normals": (m if k else 0, k, 3), "pair_thickness": (k,), "corrected": (q, -1),
            "corrections": (q, n if q else -1, 3),
        },
    )  # fmt: skip
    check_rule_content(file, arrays["elements"], arrays["volumes"] ** 2, values["body"]["tets"], "elements")
    check_rule_content(file, arrays["corners"].ravel(), np.ones(1), n, "corners")
    check_rule_content(file, arrays["particles"], np.ones(1), n, "vertices")
    check_rule_content(file, arrays["pairs"].ravel(), np.ones(1), n, "contacts")
    refuse(
        file,
        {
            "it has no pose, column or element": not (m and r and c),
            "it has neither edges nor corners of elements": arrays["edges"].shape[2] not in (9, CORNERS),
            "it has products of a root for columns that turn": arrays["edges"].shape[2] == CORNERS and turned > 0,
            "it has stiffness that is not above zero": bool((arrays["stiffness"] <= 0.0).any()),
            "it has weights below zero": bool((arrays["weights"] < 0.0).any() or (arrays["masses"] < 0.0).any()),
        },
    )
    model = PoseSpaceModel(**arrays, stiffest=stiffest, error=values["error"], facts=values["facts"])
    if body is not None:
        refuse_other_body(values["body"], body, str(file))
    if rig is not None:
        _refuse_other_rig(model, values["rig"].get("controls"), placed, rig, str(file))
    return model


def _refuse_other_rig(model: PoseSpaceModel, controls: object, placed: np.ndarray, rig: Rig, source: str) -> None:
    """Raise what differs between the rig a model was made for, by its poses and vertices there, and this one."""
    if controls != list(rig.controls):
        raise TrainingError(f"{source} was trained for another rig, which has other controls: train again.")
    size = float(np.ptp(rig.rest, axis=0).max())
    here = np.array([rig.positions(pose, model.watched) for pose in model.poses])
    if here.shape != placed.shape or np.abs(here - placed).max() > _SAME * size:
        raise TrainingError(f"{source} was trained for another rig, which moves its vertices elsewhere: train again.")
