"""One run on one output: a lock file beside it says which process of which host writes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from supple.errors import OutputError
from supple.io.files import make_folder, part_path, writing
from supple.io.process import HOST, is_running

__all__ = ["lock_path", "locked", "refuse_locked"]

TRIES = 10  # when others take and leave it meanwhile

_held: set[Path] = set()  # by this process


def lock_path(path: Path) -> Path:
    """Hidden neighbour of `path` that is there while a run writes it."""
    return path.with_name(f".{path.name}.lock")


@contextmanager
def locked(paths: Sequence[Path]) -> Iterator[None]:
    """While it is open, no other run of supple may write these; one that does already is named.

    The lock of a process of this host that runs no more is taken over.
    """
    with ExitStack() as taken:
        for path in paths:
            taken.enter_context(_locked(path.resolve()))
        yield


def refuse_locked(paths: Sequence[Path]) -> None:
    """Refuse paths that another run writes, before long work that ends in `locked`."""
    for path in paths:
        lock = lock_path(path.resolve())
        holder = _read(lock)
        if holder is not None and not _is_stale(lock, holder):
            raise _busy(lock, path, holder)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = lock_path(path)
    _take(lock, path)
    _held.add(lock)
    try:
        yield
    finally:
        _held.discard(lock)
        if _read(lock) == _own():  # its folder may be gone, or somebody has removed the lock and runs
            lock.unlink(missing_ok=True)


def _own() -> dict[str, Any]:
    return {"host": HOST, "process": os.getpid(), "begun": _begun(os.getpid())}


def _take(lock: Path, path: Path) -> None:
    make_folder(path)
    with writing(path):
        for _ in range(TRIES):
            try:
                stream = lock.open("x", encoding="utf-8")
            except FileExistsError:
                _set_aside(lock, path)
                continue
            try:
                with stream:
                    json.dump(_own(), stream)
            except OSError:
                lock.unlink(missing_ok=True)
                raise
            return
    raise _busy(lock, path, {})


def _set_aside(lock: Path, path: Path) -> None:
    """Remove a lock whose process runs no more, and refuse any other."""
    holder = _read(lock)
    if holder is None:
        return  # it was just left
    if not _is_stale(lock, holder):
        raise _busy(lock, path, holder)
    aside = part_path(lock)
    try:
        os.rename(lock, aside)  # one of several that find it can
    except FileNotFoundError:
        return
    if _read(aside) != holder:  # another took it over meanwhile
        os.rename(aside, lock)
        return
    aside.unlink(missing_ok=True)


def _read(lock: Path) -> dict[str, Any] | None:
    """What a lock says, nothing if it is unreadable; None where there is none."""
    try:
        found = json.loads(lock.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_stale(lock: Path, holder: dict[str, Any]) -> bool:
    process = holder.get("process")
    if holder.get("host") != HOST or type(process) is not int:
        return False
    if process == os.getpid():
        return lock not in _held
    begun = _begun(process)
    return not is_running(process) or (begun is not None and begun != holder.get("begun"))


def _begun(process: int) -> str | None:
    """When a process began, in the kernel's words, which tells it from an earlier one of its number."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _busy(lock: Path, path: Path, holder: dict[str, Any]) -> OutputError:
    who = f"process {holder.get('process', '?')} on {holder.get('host', 'an unknown host')}"
    return OutputError(
        f"{path} is being written by another run ({who}): wait for it, name another output, or remove {lock} if that "
        "run is gone."
    )
