"""Caps on what is read from files: far above any mesh, below what stops a machine, and settable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

from supple.errors import FileFormatError, SceneError

__all__ = ["Limits", "check_count", "current_limits", "limited"]


@dataclass(frozen=True)
class Limits:
    """The most that one file may hold."""

    bytes: int = 8 * 2**30  #: packed or unpacked
    vertices: int = 100_000_000
    tets: int = 200_000_000
    frames: int = 1_000_000


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
