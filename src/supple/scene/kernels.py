"""A word to the user while kernels compile for the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

__all__ = ["announce_compilation"]

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
