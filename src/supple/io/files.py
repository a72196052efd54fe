"""Files written whole or not at all, with the errors of writing in one sentence."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath, PureWindowsPath

from supple.errors import OutputError
from supple.io.process import HOST, is_running

__all__ = [
    "holds_mark",
    "make_folder",
    "part_path",
    "probe_folder",
    "remove_marked",
    "remove_parts",
    "replacing",
    "within",
    "write_atomically",
    "writing",
]

PART = re.compile(rf"\..*\.part-{HOST}-(\d+)-[0-9a-f]{{8}}(\..*)?")  #: names of part files of this host
STEM = 80  #: characters of a file's own name in that of its part file, which must not get too long

REMEDIES = {
    errno.ENOSPC: "free some space or name a folder on another disk",
    errno.EDQUOT: "free some space or name a folder on another disk",
    errno.EFBIG: "name a folder on a disk that takes larger files",
    errno.EISDIR: "name a file, not a directory",
    errno.ENOTDIR: "one of its folders is a file: name another path",
    errno.ENAMETOOLONG: "give it a shorter name",
}


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says against writing `path` into an OutputError with the remedy."""
    try:
        yield
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0, "name a folder that you may write to")
        raise OutputError(f"{path} cannot be written ({error.strerror or error}); {remedy}.") from error


def within(folder: Path, name: str) -> Path | None:
    """The file of that name in or below a folder; None where the name, or a link on the way, leads out of it."""
    parts = PurePosixPath(name.replace("\\", "/"))
    outside = not name or ":" in name or "\0" in name or parts.is_absolute() or ".." in parts.parts
    if outside or PureWindowsPath(name).drive:
        return None
    path = folder / parts
    try:
        return path if path.resolve().is_relative_to(folder.resolve()) else None
    except (OSError, RuntimeError):  # links in a circle
        return None


def part_path(path: Path) -> Path:
    """New name of a hidden neighbour of `path`, with the same suffix, that holds it while it is being written."""
    return path.with_name(f".{path.stem[:STEM]}.part-{HOST}-{os.getpid()}-{secrets.token_hex(4)}{path.suffix}")


def remove_parts(folder: Path) -> None:
    """Remove the part files that processes of this host have left in a folder and that run no more."""
    with suppress(OSError):
        for name in os.listdir(folder):
            part = PART.fullmatch(name)
            if part is not None and not is_running(int(part[1])):
                (folder / name).unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when the block ends well and vanishes otherwise."""
    part = part_path(path)
    try:
        with writing(path):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Write the pieces as the new content of `path`; a process killed meanwhile leaves the old content."""
    with replacing(path) as part, part.open("wb") as stream:
        stream.writelines(pieces)


def probe_folder(path: Path) -> None:
    """Refuse a `path` that is a directory or lies where no file can be made; leaves nothing behind.

    Part files that killed processes left there are removed.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a directory; name a file in it.")
    _check_parent(path)
    folder = path.parent if path.parent.exists() else path.parent.parent
    remove_parts(folder)
    trial = part_path(folder / path.name)
    try:
        with writing(path), trial.open("wb") as stream:
            stream.write(bytes(4096))  # a full disk takes the name but not the bytes
    finally:
        if folder.is_dir():
            trial.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make the folder that `path` lies in, where only that one is missing."""
    _check_parent(path)
    with writing(path):
        path.parent.mkdir(exist_ok=True)


def _check_parent(path: Path) -> None:
    """Refuse a path more than one of whose folders are missing: a slip would become a tree of folders."""
    folder = path.parent
    if not folder.exists() and not folder.parent.exists():
        raise OutputError(f"{path} cannot be written (there is no folder {folder.parent}); make that folder first.")


def remove_marked(paths: Iterable[Path], mark: bytes) -> None:
    """Remove those files that hold `mark` near their beginning: what supple wrote, nobody else's work."""
    for path in paths:
        with writing(path):
            if holds_mark(path, mark):
                path.unlink()


def holds_mark(path: Path, mark: bytes) -> bool:
    """Whether a file holds `mark` near its beginning."""
    with path.open("rb") as stream:
        return mark in stream.read(4096)
