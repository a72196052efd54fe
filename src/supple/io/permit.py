"""Which files may be written: one place decides for everything that supple writes.

A stamp, `.NAME.supple.json` beside a file, says for which scene and method supple wrote it and what it held then. Only
such a file is replaced unasked, and only by the same scene and method.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.errors import OutputError
from supple.io.files import write_atomically

__all__ = ["Permit", "stamp_path"]

SCHEMA = "supple stamp 1"
ENDS = 2**16  #: bytes at either end of a file that are compared
REMEDY = "name another, or give  --overwrite  (in Python, overwrite=True)"


def stamp_path(path: Path) -> Path:
    """Hidden neighbour of `path` that says for what supple wrote it."""
    return path.with_name(f".{path.name}.supple.json")


@dataclass(frozen=True)
class Permit:
    """What one task may write: files that are not there, and those that supple wrote for the same task before."""

    source: Path | str | None  #: the file that says what is written, or a fingerprint of what no file says
    method: str  #: how it is made
    overwrite: bool = False  #: whatever is there may be replaced

    def under(self, method: str) -> Permit:
        """The same for what is made in another way."""
        return Permit(self.source, method, self.overwrite)

    def keep_inside(self, path: Path) -> None:
        """Refuse a path that a scene names outside its own folder."""
        if self.overwrite or not isinstance(self.source, Path):
            return
        folder = self.source.resolve().parent
        if not path.resolve().is_relative_to(folder):
            raise OutputError(
                f"{path} is named by {self.source.name} and lies outside the scene's folder, {folder}: name it on the "
                "command line, or give  --overwrite."
            )

    def ask(self, path: Path, beside: Iterable[Path] = ()) -> str | None:
        """Refuse to replace a file, or one `beside` it that is replaced too, that supple did not write for this task.

        What is replaced comes back as a sentence, None where nothing is there.
        """
        there = [one for one in (path, *beside) if one.exists() or one.is_symlink()]
        if not there or self.overwrite:
            return f"replaces {path}" if there else None
        stamp = _read(stamp_path(path))
        if stamp is None:
            raise OutputError(f"{there[0]} is there, and no stamp says that supple wrote it: {REMEDY}.")
        if stamp.get("for") != self._purpose(path):
            made = stamp.get("for")
            made = made if isinstance(made, dict) else {}
            what = " under ".join(str(made[key]) for key in ("source", "method") if made.get(key))
            raise OutputError(f"{there[0]} holds what supple wrote for {what or 'something else'}: {REMEDY}.")
        if stamp.get("content") not in (None, _digest(path)):
            raise OutputError(f"{there[0]} was changed after supple wrote it: {REMEDY}.")
        return f"replaces {path}, which the same scene and method wrote before"

    def ask_folder(self, folder: Path, kind: str) -> None:
        """Refuse a folder with files of a kind, such as "*.npz", where supple did not write there for this task."""
        if folder.is_dir() and any(folder.glob(kind)):
            self.ask(folder)

    def begin(self, path: Path) -> None:
        """Stamp a file that grows from now on; what it holds is known when it is `done`."""
        self._write(path, None)

    def done(self, path: Path) -> None:
        """Stamp a file as it is now."""
        self._write(path, _digest(path))

    def _write(self, path: Path, content: str | None) -> None:
        stamp = {"schema": SCHEMA, "for": self._purpose(path), "content": content}
        with suppress(OutputError):  # without a stamp the next run asks before it replaces the file
            write_atomically(stamp_path(path), [json.dumps(stamp).encode()])

    def _purpose(self, path: Path) -> dict[str, str | None]:
        """Scene and method, the scene as it is found from the file, so that both may move together."""
        if not isinstance(self.source, Path):
            return {"source": self.source, "method": self.method}
        real = self.source.resolve()
        try:
            found = Path(os.path.relpath(real, path.resolve().parent)).as_posix()
        except ValueError:  # on another drive
            found = str(real)
        return {"source": found, "method": self.method}


def _read(stamp: Path) -> dict[str, Any] | None:
    """What a stamp says; None where there is none."""
    try:
        found = json.loads(stamp.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None


def _digest(path: Path) -> str | None:
    """A fingerprint of a file's size and of both its ends; None for what is no file."""
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            found = hashlib.sha256(f"{size} ".encode() + stream.read(ENDS))
            if size > ENDS:
                stream.seek(max(size - ENDS, ENDS))
                found.update(stream.read(ENDS))
    except OSError:
        return None
    return found.hexdigest()
