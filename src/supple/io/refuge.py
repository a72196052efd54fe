"""Where to keep what must not be lost when its own place takes no file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["refuges"]


def refuges(path: Path, cache: Path | None) -> list[Path]:
    """Other places for a file, best first: below supple's `cache` folder, and in the user's own part of the system's
    temporary folder. The same path always gives the same places.
    """
    name = f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}-{path.name[-100:]}"
    folders = [] if cache is None else [cache / "refuge"]
    user = os.getuid() if hasattr(os, "getuid") else None
    own = Path(tempfile.gettempdir()) / ("supple" if user is None else f"supple-{user}")
    with suppress(OSError):
        own.mkdir(mode=0o700, exist_ok=True)
        if user is None or (own.lstat().st_uid == user and not own.is_symlink()):
            folders.append(own)
    return [folder / name for folder in folders]
