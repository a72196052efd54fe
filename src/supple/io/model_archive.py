"""What the files of trained models have in common: versioned .npz, plain values as JSON; no pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.cubature import Rule
from supple.errors import FileFormatError, TrainingError
from supple.io.files import make_folder, write_atomically
from supple.io.npz_file import NpzFile
from supple.io.npz_zip import pack_npz
from supple.io.tree import parse_json
from supple.subspace import Basis

__all__ = [
    "ARTICULATED",
    "POSESPACE",
    "REDUCED",
    "SKINNED",
    "TRAIN_AGAIN",
    "Layout",
    "check_rule_content",
    "check_shapes",
    "describe_rule",
    "has_layout",
    "read",
    "read_members",
    "refuse",
    "write",
    "write_members",
]

Arrays = Mapping[str, NDArray[Any]]
TRAIN_AGAIN = "train it again"
BASIS = {"columns": "f", "mass": "f", "importance": "f"}


@dataclass(frozen=True)
class Layout:
    """What the file of one kind of model holds."""

    format: str
    version: int
    serves: str  #: in a user's words
    rules: tuple[str, ...]  #: names of rules among the values
    tables: tuple[str, ...]  #: names of other tables among the values
    arrays: Mapping[str, str]  #: kind of number, by name: "f" and "i" of eight bytes, "f4" of four
    may_have: Mapping[str, str] = field(default_factory=dict)  #: the same, of arrays that come together or not at all


CONTACTS = {
    "contact_bones": "i",
    "contact_roots": "f",
    "contact_means": "f",
    "contact_axes": "f",
    "contact_reach": "f",
    "contact_poses": "i",
    "contact_at": "f",
    "contact_sizes": "i",
    "contact_pairs": "i",
    "contact_weights": "f",
}

REDUCED = Layout(
    format="supple reduced model",
    version=1,
    serves="a body without a rig",
    rules=("rule",),
    tables=("body", "facts"),
    arrays={**BASIS, "members": "i", "weights": "f", "carried": "f"},
)
SKINNED = Layout(
    format="supple skinned model",
    version=1,
    serves="a body with a rig",
    rules=("rule", "particles"),
    tables=("body", "rig", "facts"),
    arrays={**BASIS, "members": "i", "weights": "f", "vertices": "i", "vertex_weights": "f", "poses": "f"},
    may_have=CONTACTS,
)


ARTICULATED = Layout(
    format="supple articulated model",
    version=1,
    serves="a body with a rig, in domains",
    rules=("rule", "particles"),
    tables=("body", "rig", "facts"),
    arrays={
        "owners": "i",
        "ranks": "i",
        "columns": "f",
        "importance": "f",
        "members": "i",
        "weights": "f",
        "vertices": "i",
        "vertex_weights": "f",
        "poses": "f",
    },
    may_have=CONTACTS,
)

POSESPACE = Layout(
    format="supple pose-space model",
    version=1,
    serves="a body with a rig whose pose is its rest shape",
    rules=(),
    tables=("body", "rig", "facts"),
    arrays={
        "poses": "f",
        "points": "f",
        "columns": "f4",
        "edges": "f4",
        "gram": "f",
        "turned": "f4",
        "gravity": "f",
        "elements": "i",
        "kinds": "i",
        "corners": "i",
        "volumes": "f",
        "moduli": "f",
        "weights": "f",
        "stiffness": "f",
        "particles": "i",
        "masses": "f",
        "owners": "i",
        "pairs": "i",
        "pair_weights": "f",
        "pair_normals": "f",
        "pair_thickness": "f",
        "corrected": "f",
        "corrections": "f4",
        "placed": "f",
    },
)


def write(path: Path, layout: Layout, values: Mapping[str, Any], basis: Basis, arrays: Arrays) -> Path:
    """Write a model in one subspace, in place of an older one only when it is whole; where it lies."""
    own = {"columns": basis.columns, "mass": basis.mass, "importance": basis.importance}
    return write_members(path, layout, {"source": basis.source, **values}, {**own, **arrays})


def write_members(path: Path, layout: Layout, values: Mapping[str, Any], arrays: Arrays) -> Path:
    """Write what a model consists of, in place of an older one only when it is whole; where it lies."""
    members = {
        "format": np.array(layout.format),
        "version": np.array(layout.version),
        "values": np.array(json.dumps(values)),  # floats survive JSON exactly
        **arrays,
    }
    make_folder(path)
    write_atomically(path, pack_npz(members))
    return path


def describe_rule(rule: Rule) -> dict[str, Any]:
    """What is known of a rule beside its members and weights."""
    return {key: value for key, value in asdict(rule).items() if key not in ("members", "weights")}


def has_layout(path: Path, layout: Layout) -> bool:
    """Whether an .npz file holds a model of this kind, of any version."""
    with NpzFile(path) as file:
        return "format" in file and str(file.read("format")) == layout.format


def read(path: Path, layout: Layout) -> tuple[dict[str, Any], dict[str, NDArray[Any]], Basis]:
    """Values, arrays and subspace of a model's file; one that is not whole is refused."""
    values, arrays = read_members(path, layout)
    n, r, c = len(arrays["mass"]), len(arrays["importance"]), len(arrays["members"])
    check_shapes(path, arrays, {"columns": (3 * n, r), "mass": (n,), "importance": (r,)})
    check_shapes(path, arrays, {"members": (c,), "weights": (c,)})
    refuse(
        path,
        {
            "its subspace has no columns": not r,
            "its subspace has stiffnesses that are not above zero": bool((arrays["importance"] <= 0.0).any()),
            "its rule has no elements": not c,
        },
    )
    check_rule_content(path, arrays["members"], arrays["weights"], values["body"]["tets"], "elements")
    return values, arrays, Basis(arrays["columns"], arrays["mass"], values["source"], arrays["importance"])


def read_members(path: Path, layout: Layout) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Values and arrays of a model's file, each of the kind it must be; their shapes are not looked at."""
    with NpzFile(path, TRAIN_AGAIN) as members:
        _refuse_foreign(path, members, layout)
        values = _read_values(path, str(members.read("values")), layout)
        kinds = {**layout.arrays, **(layout.may_have if any(name in members for name in layout.may_have) else {})}
        arrays = {name: _read_array(path, members, name, kind) for name, kind in kinds.items()}
    return values, arrays


def _refuse_foreign(path: Path, members: NpzFile, layout: Layout) -> None:
    found = str(members.read("format")) if "format" in members else ""
    for other in (REDUCED, SKINNED, ARTICULATED, POSESPACE):
        if found == other.format and other is not layout:
            raise TrainingError(f"{path} was trained for {other.serves} and not for {layout.serves}: train again.")
    if found != layout.format:
        raise FileFormatError(f"{path} is not a trained model of supple: name one that  supple train  wrote.")
    version = members.read("version")
    if version.shape != () or version.dtype.kind not in "iu" or int(version) < 1:
        raise FileFormatError(f"{path}: its version is damaged; {TRAIN_AGAIN}.")
    if int(version) > layout.version:
        raise FileFormatError(
            f"{path} is of version {int(version)}, written by a newer supple than this one, which reads up to version "
            f"{layout.version}: update supple, or {TRAIN_AGAIN}."
        )


def _read_values(path: Path, text: str, layout: Layout) -> dict[str, Any]:
    """The plain values, each of the kind it must be."""
    try:
        values = parse_json(text)
        whole = _is_whole(values, layout)
        for name in layout.rules:
            Rule(np.zeros(0, np.int64), np.zeros(0), **values[name])
    except (ValueError, LookupError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise FileFormatError(f"{path}: its description is damaged; {TRAIN_AGAIN}.")
    return dict(values)


def _is_whole(values: Mapping[str, Any], layout: Layout) -> bool:
    """Whether a description holds everything that is read from it; what it lacks is a LookupError."""
    if not all(isinstance(values[name], dict) for name in (*layout.rules, *layout.tables)):
        return False
    rules, facts = [values[name] for name in layout.rules], values["facts"]
    figures = [values["reach"], facts.get("tolerance", 0.0), *(rule["training_error"] for rule in rules)]
    optional = [values["error"], *(rule[name] for rule in rules for name in ("heldout_error", "frequency_error"))]
    figures += [figure for figure in optional if figure is not None]
    loads, tets = facts.get("loads", []), values["body"]["tets"]
    return (
        all(_is_finite(figure) and figure >= 0 for figure in figures)
        and all(isinstance(words, str) for words in (values["source"], *(rule["trainer"] for rule in rules)))
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
    """An array of its own memory, of finite numbers of the kind it must be."""
    array = members.read(name)
    if array.dtype.kind != kind[0] or array.dtype.itemsize != int(kind[1:] or 8) or not np.isfinite(array).all():
        raise FileFormatError(f"{path}: its array '{name}' does not hold what a model needs; {TRAIN_AGAIN}.")
    return array.copy()


def check_shapes(path: Path, arrays: Arrays, expected: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse arrays that do not fit each other; -1 stands for any length."""
    for name, wanted in expected.items():
        shape = arrays[name].shape
        if len(shape) != len(wanted) or any(w not in (-1, s) for s, w in zip(shape, wanted, strict=True)):
            raise FileFormatError(f"{path}: its arrays do not fit each other; {TRAIN_AGAIN}.")


def check_rule_content(
    path: Path, members: NDArray[np.int64], weights: NDArray[np.float64], count: int, what: str
) -> None:
    """Refuse numbers that no training of a rule leaves behind."""
    refuse(
        path,
        {
            f"its rule has {what} outside the {count} of its mesh": bool(((members < 0) | (members >= count)).any()),
            "its rule has weights that are not above zero": bool((weights <= 0.0).any()),
        },
    )


def refuse(path: Path, reasons: Mapping[str, bool]) -> None:
    """Refuse a file for the first reason that holds."""
    for reason, holds in reasons.items():
        if holds:
            raise FileFormatError(f"{path}: {reason}; {TRAIN_AGAIN}.")
