"""What a start works out from its files alone, kept for the next: tetrahedra that fill a surface, weights, fits.

SUPPLE_CACHE names the folder, or is "off". Without it that is the user's own folder for such things.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import supple
from supple.errors import FileFormatError, OutputError
from supple.io.files import remove_parts, write_atomically
from supple.io.npz_file import NpzFile
from supple.io.npz_zip import pack_npz

__all__ = ["VARIABLE", "Kept", "cache_folder", "recall"]

Arrays = Mapping[str, NDArray[Any]]
VARIABLE = "SUPPLE_CACHE"
MOST = 2**30  #: bytes in the folder; what was not used for longest goes first
ROOMS = ("linalg", "mesh", "elastic", "solve", "rig")  #: whose code decides what is kept


class Kept(dict[str, NDArray[Any]]):
    """Arrays by name, and the file they were read from; None where they were made just now."""

    file: Path | None = None

    @property
    def words(self) -> str:
        """Where they come from, to end a line with."""
        return "" if self.file is None else f", as kept in {self.file}"


def cache_folder() -> Path | None:
    """The folder for what is kept; None where nothing shall be."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return None if named.lower() == "off" else Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "supple" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "supple"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple"


def recall(
    kind: str, words: Sequence[object], arrays: Sequence[NDArray[Any] | None], make: Callable[[], Arrays]
) -> Kept:
    """What `make` returns, read where it was made before of the same words and arrays by the same code.

    A folder that cannot be written to, or a file that is damaged, costs time and nothing else.
    """
    folder = cache_folder()
    if folder is None:
        return Kept(make())
    file = folder / f"{kind}-{_stamp(kind, words, arrays)}.npz"
    try:
        with NpzFile(file) as stored:
            found = Kept({name: stored.read(name) for name in stored.names})
        os.utime(file)
    except (FileFormatError, OSError):
        found = Kept(make())
        _store(file, found)
        return found
    found.file = file
    return found


def _stamp(kind: str, words: Sequence[object], arrays: Sequence[NDArray[Any] | None]) -> str:
    """Fingerprint of all that decides what is made."""
    found = hashlib.sha256(json.dumps([supple.__version__, _stamp_code(), kind, *words]).encode())
    for array in arrays:
        if array is None:
            found.update(b"none")
        else:
            found.update(f"{array.dtype} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:24]


@cache
def _stamp_code() -> list[str]:
    """Sizes and times of the files whose code decides what is kept."""
    home = Path(__file__).resolve().parents[1]
    files = sorted(file for room in ROOMS for file in (home / room).glob("*.py"))
    return [f"{file.name} {stat.st_size} {stat.st_mtime_ns}" for file in files for stat in [file.stat()]]


def _store(file: Path, arrays: Arrays) -> None:
    """Write the file whole or not at all; two processes may do so at once."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, pack_npz(arrays))
        _make_room(file.parent)
    except (OSError, OutputError):
        return


def _make_room(folder: Path) -> None:
    """Remove what killed processes left, and what was not used for longest while there is too much."""
    remove_parts(folder)
    files = sorted((stat.st_mtime_ns, stat.st_size, file) for file in folder.glob("*.npz") for stat in [file.stat()])
    spare = sum(size for _, size, _ in files) - MOST
    for _, size, file in files:
        if spare <= 0:
            return
        file.unlink(missing_ok=True)
        spare -= size
