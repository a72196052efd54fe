"""A clock for what a method costs: it stands still while this process compiles loops, or loads compiled ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from numba.core import event

__all__ = ["compile_seconds", "preparing", "work_clock"]


class _Preparation(event.Listener):
    """Seconds spent on compiling, and on compiling and loading; those of a loop hold those of what it calls."""

    def __init__(self) -> None:
        self.compiled = self.spent = 0.0
        self._depth = self._compiling = 0
        self._begun = self._began_compiling = 0.0

    def enter(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._begun = perf_counter()

    def leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.spent += perf_counter() - self._begun

    def on_start(self, happening: event.Event) -> None:
        self.enter()
        self._compiling += 1
        if self._compiling == 1:
            self._began_compiling = perf_counter()

    def on_end(self, happening: event.Event) -> None:
        self._compiling -= 1
        if self._compiling == 0:
            self.compiled += perf_counter() - self._began_compiling
        self.leave()

    def now(self) -> float:
        return (self._begun if self._depth else perf_counter()) - self.spent


_preparation = _Preparation()
event.register("numba:compile", _preparation)  # type: ignore[no-untyped-call]


def work_clock() -> float:
    """Seconds of a steady clock that stands still while loops are compiled or loaded."""
    return _preparation.now()


def compile_seconds() -> float:
    """Seconds that this process has spent on compiling so far."""
    return _preparation.compiled


@contextmanager
def preparing() -> Iterator[None]:
    """A block while which the clock stands still."""
    _preparation.enter()
    try:
        yield
    finally:
        _preparation.leave()
