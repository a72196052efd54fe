"""Caps on what is read from files: as much as the machine's memory holds, nothing that a file does not back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path

from supple.errors import FileFormatError, SceneError

__all__ = ["Limits", "check_bytes", "check_count", "check_unpacked", "current_limits", "limited", "machine_memory"]

UNKNOWN = 8 * 2**30  #: bytes of a machine that does not tell
#: Bytes below which no ratio of unpacked to packed is asked about
SMALL = 64 * 2**20


@cache
def machine_memory() -> int:
    """Bytes of memory that this process may take: the machine's, or less where a group or a limit of its own says."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows
        found.append(_windows_memory())
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    try:
        import resource

        found.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    except (ImportError, OSError):
        pass
    return min((size for size in found if size > 0), default=UNKNOWN)  # no limit is -1


def _windows_memory() -> int:
    if sys.platform == "win32":
        import ctypes  # GlobalMemoryStatusEx fills 64 bytes: their number and the load, then total memory

        status = (ctypes.c_uint64 * 8)(64)
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            return int(status[1])
    return 0


def _share(per_unit: int) -> int:
    """A field that is by default the machine's memory over so many bytes."""
    made: int = field(default_factory=lambda: machine_memory() // per_unit)
    return made


@dataclass(frozen=True)
class Limits:
    """The most that one file may hold."""

    bytes: int = _share(4)  #: packed or unpacked: a quarter of the memory, as reading takes copies
    vertices: int = _share(256)
    tets: int = _share(128)
    frames: int = 1_000_000
    ratio: int = 100  #: bytes that a byte of a packed file may unpack to, above a few megabytes in all


_CHOSEN: ContextVar[Limits | None] = ContextVar("limits", default=None)


def current_limits() -> Limits:
    """The limits in force: those of the innermost `limited`, else SUPPLE_MAX_BYTES, ..._FRAMES of the environment."""
    return _CHOSEN.get() or _from_environment()


@contextmanager
def limited(**caps: int) -> Iterator[None]:
    """Other caps while the block runs, by the names of `Limits`."""
    token = _CHOSEN.set(replace(current_limits(), **caps))
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def check_count(name: str, count: int, kind: str) -> None:
    """Refuse a file that holds more of a kind ("vertices", "tets", "frames") than the limit."""
    most = getattr(current_limits(), kind)
    if count > most:
        raise FileFormatError(
            f"{name} holds {count:,} {kind}, more than the {most:,} read at most; reduce it, "
            f"or set SUPPLE_MAX_{kind.upper()}."
        )


def check_bytes(name: str, size: float, what: str) -> None:
    """Refuse a file of which something would take more memory than the limit."""
    most = current_limits().bytes
    if size > most:
        raise FileFormatError(
            f"{name}: its {what} would take {size:,.0f} bytes, more than the {most:,} read at most; reduce it, or set "
            "SUPPLE_MAX_BYTES."
        )


def check_unpacked(name: str, size: int, packed: int, small: int = SMALL) -> None:
    """Refuse a packed file that unpacks to more bytes than the limit, or than a file of its size is known to."""
    check_bytes(name, size, "unpacked content")
    ratio = current_limits().ratio
    if size > max(small, ratio * packed):
        raise FileFormatError(
            f"{name}: its {packed:,} bytes unpack to {size:,} or more, above {ratio} to 1; store it unpacked, or set "
            "SUPPLE_MAX_RATIO."
        )


def _from_environment() -> Limits:
    caps = {}
    for item in fields(Limits):
        key = f"SUPPLE_MAX_{item.name.upper()}"
        text = os.environ.get(key)
        if text is None:
            continue
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise SceneError(f"{key} = {text[:30]!r} is no number; give a whole number above 0.")
        caps[item.name] = int(text)
    return Limits(**caps)
