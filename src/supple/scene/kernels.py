"""Kernels that compile for the first time: a word to the user, and a second processor to help."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

__all__ = ["announce_compilation", "compile_ahead"]

ANNOUNCEMENT = "compiling kernels, once per machine (up to two minutes) ..."


class _FirstCompilation(event.Listener):
    """Speaks at the first kernel of supple's own that is not found in Numba's cache."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = False

    def on_start(self, happening: event.Event) -> None:
        kernel = getattr(happening.data.get("dispatcher"), "py_func", None)
        if not self._said and getattr(kernel, "__module__", "").startswith("supple."):
            self._said = True
            self._say(ANNOUNCEMENT)

    def on_end(self, happening: event.Event) -> None:
        """Nothing is said when it is done: the work goes on."""


@contextmanager
def announce_compilation(say: Callable[[str], None]) -> Iterator[None]:
    """While it is open, the first kernel that must be compiled is announced once."""
    listener = _FirstCompilation(say)
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)  # type: ignore[no-untyped-call]


@contextmanager
def compile_ahead(module: str, *arguments: str) -> Iterator[None]:
    """While it is open, a module run in a process of its own leaves what it compiles in Numba's cache.

    So the step's kernels are there when training ends. What comes of it shows in the time it takes alone: with one
    processor nothing is started, and a process that fails leaves all to be compiled when it is needed.
    """
    if (os.cpu_count() or 1) < 2:
        yield
        return
    child = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
        child.wait()
    finally:
        child.kill()
        child.wait()
