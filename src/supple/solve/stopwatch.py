"""Milliseconds by phase."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["Stopwatch"]

Given = TypeVar("Given")
Found = TypeVar("Found")


class Stopwatch:
    """Adds up the time spent in named phases; phases do not nest."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time of a block under a name."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, 1e3 * (time.perf_counter() - begin))

    def add(self, name: str, spent: float) -> None:
        """Count milliseconds under a name."""
        self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent

    def timed(self, name: str, function: Callable[[Given], Found]) -> Callable[[Given], Found]:
        """A function whose calls count under a name."""

        def run(given: Given) -> Found:
            with self.phase(name):
                return function(given)

        return run

    def finish(self) -> dict[str, float]:
        """All phases, what fell between them as `other`, and the `total`."""
        total = 1e3 * (time.perf_counter() - self._begin)
        other = max(0.0, total - sum(self.milliseconds.values()))
        return {**self.milliseconds, "other": other, "total": total}
