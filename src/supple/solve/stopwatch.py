"""Milliseconds by phase."""

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from supple.linalg.work_clock import work_clock

__all__ = ["Stopwatch"]

Given = TypeVar("Given")
Found = TypeVar("Found")


class _Phase:
    """A block whose time is counted; steps of a millisecond have dozens of them."""

    __slots__ = ("_begin", "_milliseconds", "_name")

    def __init__(self, name: str, milliseconds: dict[str, float]) -> None:
        self._name, self._milliseconds = name, milliseconds

    def __enter__(self) -> None:
        self._begin = work_clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        spent = 1e3 * (work_clock() - self._begin)
        self._milliseconds[self._name] = self._milliseconds.get(self._name, 0.0) + spent


class Stopwatch:
    """Adds up the time spent in named phases; phases do not nest."""

    def __init__(self) -> None:
        self._begin = work_clock()
        self.milliseconds: dict[str, float] = {}

    def phase(self, name: str) -> _Phase:
        """Count the time of a block under a name."""
        return _Phase(name, self.milliseconds)

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
        total = 1e3 * (work_clock() - self._begin)
        other = max(0.0, total - sum(self.milliseconds.values()))
        return {**self.milliseconds, "other": other, "total": total}
