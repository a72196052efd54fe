"""State of a run on disk: named arrays and a few values, replaced in one step; never a pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, OutputError
from supple.io.files import write_atomically
from supple.io.npz_file import NpzFile
from supple.io.npz_zip import pack_npz
from supple.io.tree import parse_json

__all__ = ["load_checkpoint", "save_checkpoint"]

SCHEMA = "supple checkpoint 1"
META = "checkpoint"  #: member with the schema and the values; the arrays are below `state/`

Value = str | int | float


def save_checkpoint(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Value]
) -> None:
    """Write arrays and values as one .npz, in place of an older one only when it is whole.

    `meta` usually holds a `stamp`, a hash of what the state belongs to, for the caller to compare on loading.
    """
    file = Path(path)
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise OutputError(f"{file}: '{name}' holds Python objects, which are not saved; give it as numbers.")
    text = json.dumps({"schema": SCHEMA, "meta": dict(meta)})
    members = {f"state/{name}": np.asarray(array) for name, array in arrays.items()}
    write_atomically(file, pack_npz({META: np.array(text), **members}))


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Value]]:
    """Arrays and values of a checkpoint, as saved, bit for bit."""
    file = Path(path)
    with NpzFile(file) as members:
        if META not in members:
            raise FileFormatError(f"{file} is not a checkpoint of supple; name the one that the run left.")
        meta = _read_meta(file, str(members.read(META)))
        names = [name for name in members.names if name.startswith("state/")]
        arrays = {name.removeprefix("state/"): members.read(name).copy() for name in names}
    return arrays, meta


def _read_meta(path: Path, text: str) -> dict[str, Value]:
    try:
        content = parse_json(text)
        schema, meta = content["schema"], dict(content["meta"])
    except (ValueError, LookupError, TypeError):
        raise FileFormatError(f"{path}: its description is damaged; start the run again without resuming.") from None
    if schema != SCHEMA:
        raise FileFormatError(f"{path} is a '{schema}', this supple reads '{SCHEMA}'; start the run again.")
    return meta
