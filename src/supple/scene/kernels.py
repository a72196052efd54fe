"""Kernels that compile for the first time: a word to the user, and a second processor to help."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from numba import get_num_threads
from numba.core import event

from supple._threads import available_threads, set_threads
from supple.linalg.work_clock import preparing

__all__ = ["announce_compilation", "await_kernels", "compile_ahead"]

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


class _Ahead:
    """Modules run one after the other, each in a process of its own, by a thread that waits for them."""

    def __init__(self, works: Sequence[Sequence[str]]) -> None:
        self._done = {module: threading.Event() for module, *_ in works}
        self._child: subprocess.Popen[bytes] | None = None
        self._left = threading.Lock()
        self._closed = False
        threading.Thread(target=self._run, args=[works], daemon=True).start()

    def wait(self, module: str) -> None:
        """Until a module has ended, however; at once for one that is none of these."""
        if module in self._done:
            self._done[module].wait()

    def finish(self) -> None:
        """Until all have ended."""
        for done in self._done.values():
            done.wait()

    def close(self) -> None:
        """End what still runs."""
        with self._left:
            self._closed = True
            if self._child is not None:
                self._child.kill()
        self.finish()

    def _run(self, works: Sequence[Sequence[str]]) -> None:
        for module, *arguments in works:
            with self._left:
                if not self._closed:
                    self._child = subprocess.Popen(
                        [sys.executable, "-P", "-m", module, *arguments],  # nothing of the current folder
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    )  # fmt: skip
            if self._child is not None:
                self._child.wait()
            self._done[module].set()


_ahead: _Ahead | None = None  # of this process, as Numba's cache is


@contextmanager
def compile_ahead(*works: Sequence[str]) -> Iterator[None]:
    """While it is open, modules run with their arguments, in this order, beside this process: what they compile they
    leave in Numba's cache, where it is found when it is needed (see `await_kernels`). It closes when all have ended.

    Meanwhile this process has one thread: several that wait for each other on a processor which others use wait long.
    What comes of it shows in the time it takes alone: with one processor nothing is started, and a process that fails
    leaves all to be compiled when it is needed.
    """
    global _ahead
    if available_threads() < 2 or not works or _ahead is not None:
        yield
        return
    threads = get_num_threads()
    _ahead = _Ahead(works)
    set_threads(1)
    try:
        yield
        _ahead.finish()
    finally:
        _ahead.close()
        _ahead = None
        set_threads(threads)


def await_kernels(module: str) -> None:
    """Wait for a module that compiles ahead, if it does: twice at the same time, it would take both processors."""
    if _ahead is not None:
        with preparing():
            _ahead.wait(module)
