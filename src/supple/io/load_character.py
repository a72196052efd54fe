"""Characters out of files, by suffix."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from supple.errors import FileFormatError
from supple.io.character import Character
from supple.io.gltf_character import load_gltf_character
from supple.io.source import mesh_suffix
from supple.io.usd_character import load_usd_character
from supple.io.usd_read import USD_SUFFIXES

__all__ = ["CHARACTER_SUFFIXES", "load_character"]


def _load_gltf(path: Path, metres: float | None) -> Character:
    return load_gltf_character(path, 1.0 if metres is None else metres)


LOADERS: dict[str, Callable[[Path, float | None], Character]] = {
    ".glb": _load_gltf,
    ".gltf": _load_gltf,
    **dict.fromkeys(USD_SUFFIXES, load_usd_character),
}
CHARACTER_SUFFIXES = tuple(LOADERS)  #: suffixes that characters are read from


def load_character(path: str | os.PathLike[str], metres: float | None = None) -> Character:
    """The character in a file; `metres` is the size of its unit, by default what the file says."""
    file = Path(path)
    suffix = mesh_suffix(file)
    if suffix not in LOADERS:
        raise FileFormatError(
            f"{file}: characters are read from {', '.join(CHARACTER_SUFFIXES)}; export it as one of these."
        )
    return LOADERS[suffix](file, metres)
