"""Trained models as .npz: versioned, stamped with the body they serve, the same bytes for the same model; no pickle."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.elastic import Body
from supple.errors import FileFormatError
from supple.io.files import write_atomically, writing
from supple.io.npz_file import NpzFile
from supple.io.npz_zip import pack_npz
from supple.method.model import ReducedModel, fingerprint, refuse_other_body
from supple.subspace import Basis

__all__ = ["is_model_file", "load_model", "save_model"]

FORMAT = "supple reduced model"
VERSION = 1
KINDS = {"columns": "f", "mass": "f", "importance": "f", "members": "i", "weights": "f", "carried": "f"}
TRAIN_AGAIN = "train it again"


def save_model(path: str | os.PathLike[str], model: ReducedModel, body: Body) -> Path:
    """Write a model of this body as one .npz, in place of an older one only when it is whole; where it lies."""
    file, basis, rule = Path(path), model.basis, model.rule
    values = {
        "source": basis.source,
        "reach": model.reach,
        "error": model.error,
        "rule": {key: value for key, value in asdict(rule).items() if key not in ("members", "weights")},
        "body": fingerprint(body),
        "facts": dict(model.facts),
    }
    members = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "values": np.array(json.dumps(values)),  # floats survive JSON exactly
        "columns": basis.columns,
        "mass": basis.mass,
        "importance": basis.importance,
        "members": rule.members,
        "weights": rule.weights,
        "carried": model.carried,
    }
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, pack_npz(members))
    return file


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether an .npz file holds a model, of any version."""
    with NpzFile(Path(path)) as file:
        return "format" in file and str(file.read("format")) == FORMAT


def load_model(path: str | os.PathLike[str], body: Body | None = None) -> ReducedModel:
    """The model in a file, bit for bit as it was saved; one for another body than the given one is refused."""
    file = Path(path)
    with NpzFile(file, TRAIN_AGAIN) as members:
        _refuse_foreign(file, members)
        values = _read_values(file, str(members.read("values")))
        arrays = {name: _read_array(file, members, name, kind) for name, kind in KINDS.items()}
    _check_shapes(file, arrays)
    _check_content(file, arrays, values["body"]["tets"])
    if body is not None:
        refuse_other_body(values["body"], body, str(file))
    basis = Basis(arrays["columns"], arrays["mass"], values["source"], arrays["importance"])
    rule = Rule(arrays["members"], arrays["weights"], **values["rule"])
    return ReducedModel(basis, rule, arrays["carried"], values["reach"], values["error"], values["facts"])


def _refuse_foreign(path: Path, members: NpzFile) -> None:
    if "format" not in members or str(members.read("format")) != FORMAT:
        raise FileFormatError(f"{path} is not a trained model of supple: name one that  supple train  wrote.")
    version = members.read("version")
    if version.shape != () or version.dtype.kind not in "iu" or int(version) < 1:
        raise FileFormatError(f"{path}: its version is damaged; {TRAIN_AGAIN}.")
    if int(version) > VERSION:
        raise FileFormatError(
            f"{path} is of version {int(version)}, written by a newer supple than this one, which reads up to version "
            f"{VERSION}: update supple, or {TRAIN_AGAIN}."
        )


def _read_values(path: Path, text: str) -> dict[str, Any]:
    """The plain values, each of the kind it must be."""
    try:
        values = json.loads(text)
        whole = _is_whole(values)
        Rule(np.zeros(0, np.int64), np.zeros(0), **values["rule"])
    except (ValueError, LookupError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise FileFormatError(f"{path}: its description is damaged; {TRAIN_AGAIN}.")
    return dict(values)


def _is_whole(values: Mapping[str, Any]) -> bool:
    """Whether a description holds everything that is read from it; what it lacks is a LookupError."""
    rule, facts = values["rule"], values["facts"]
    if not all(isinstance(values[name], dict) for name in ("rule", "body", "facts")):
        return False
    figures = [values["reach"], rule["training_error"], facts.get("tolerance", 0.0)]
    figures += [
        figure for figure in (values["error"], rule["heldout_error"], rule["frequency_error"]) if figure is not None
    ]
    loads, tets = facts.get("loads", []), values["body"]["tets"]
    return (
        all(_is_finite(figure) and figure >= 0 for figure in figures)
        and all(isinstance(words, str) for words in (values["source"], rule["trainer"]))
        and isinstance(loads, list)
        and all(_is_load(load) for load in loads)
        and isinstance(tets, int)
    )


def _is_finite(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)


def _is_load(entry: object) -> bool:
    """Whether it names a patch, with the direction in which it was pushed or without."""
    if isinstance(entry, str) or not isinstance(entry, dict):
        return isinstance(entry, str)
    unit = entry["direction"]
    return isinstance(entry["patch"], str) and isinstance(unit, list) and len(unit) == 3 and all(map(_is_finite, unit))


def _read_array(path: Path, members: NpzFile, name: str, kind: str) -> NDArray[Any]:
    """An array of its own memory, of finite double numbers or of whole ones."""
    array = members.read(name)
    if array.dtype.kind != kind or array.dtype.itemsize != 8 or not np.isfinite(array).all():
        raise FileFormatError(f"{path}: its array '{name}' does not hold what a model needs; {TRAIN_AGAIN}.")
    return array.copy()


def _check_shapes(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not fit each other."""
    shape = {name: array.shape for name, array in arrays.items()}
    n, r, c = len(arrays["mass"]), len(arrays["importance"]), len(arrays["members"])
    expected = {"columns": (3 * n, r), "mass": (n,), "importance": (r,), "members": (c,), "weights": (c,)}
    fits = all(shape[name] == wanted for name, wanted in expected.items())
    if not fits or arrays["carried"].ndim != 2 or len(arrays["carried"]) != 3 * n:
        raise FileFormatError(f"{path}: its arrays do not fit each other; {TRAIN_AGAIN}.")


def _check_content(path: Path, arrays: Mapping[str, NDArray[Any]], tets: int) -> None:
    """Refuse numbers that no training leaves behind."""
    members = arrays["members"]
    reasons = {
        "its subspace has no columns": not len(arrays["importance"]),
        "its rule has no elements": not len(members),
        f"its rule has elements outside the {tets} of its mesh": ((members < 0) | (members >= tets)).any(),
        "its rule has weights that are not above zero": (arrays["weights"] <= 0.0).any(),
        "its subspace has stiffnesses that are not above zero": (arrays["importance"] <= 0.0).any(),
    }
    for reason, holds in reasons.items():
        if holds:
            raise FileFormatError(f"{path}: {reason}; {TRAIN_AGAIN}.")
