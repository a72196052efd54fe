"""Where to keep what must not be lost when its own place takes no file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["fallback_places", "make_fallback_folder"]


def fallback_places(path: Path, cache: Path | None) -> list[Path]:
    """Other places for a file, best first: below supple's `cache` folder, and in the user's own part of the system's
    temporary folder. The same path always gives the same places.
    """
    name = f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}-{path.name[-100:]}"
    own = Path(tempfile.gettempdir()) / f"supple-{_user()}"
    folders = [*([] if cache is None else [cache / "fallback"]), *([own] if _is_own(own) else [])]
    return [folder / name for folder in folders]


def make_fallback_folder(path: Path) -> None:
    """Make the folder of such a place, which nobody else can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(path.parent):
        raise PermissionError(f"{path.parent} belongs to somebody else")


def _user() -> int | str:
    return os.getuid() if hasattr(os, "getuid") else "user"


def _is_own(folder: Path) -> bool:
    """Whether a folder is the user's, or not there yet."""
    try:
        found = folder.lstat()
    except OSError:
        return True
    return not folder.is_symlink() and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
