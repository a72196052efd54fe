"""Ctrl-C ends the viewer, whenever it comes: while the page is furnished, between two frames, or within one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Stop", "listen_for_stop"]


class Runs(Protocol):
    """Works in `run` until `close` is called by another thread."""

    def run(self) -> None: ...

    def close(self) -> None: ...


class Stop:
    """A wish to stop, which outlasts that nothing runs yet.

    A signal interrupts the main thread anywhere, also between its last look at whether to go on and its rest: what it
    does to wake itself there would be lost. So another thread wakes it, which waits until it rests.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._again = False

    def ask(self) -> None:
        """Stop after the frame at hand; asked again, at once."""
        if self._again:
            raise KeyboardInterrupt
        self._again = True
        threading.Thread(target=self._asked.set, daemon=True).start()

    def run(self, work: Runs) -> None:
        """Work here until somebody asks to stop."""

        def close() -> None:
            self._asked.wait()
            work.close()

        threading.Thread(target=close, daemon=True).start()
        work.run()


@contextmanager
def listen_for_stop() -> Iterator[Stop]:
    """While it is open, Ctrl-C and SIGTERM ask to stop instead of interrupting whatever is done."""
    stop = Stop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: stop.ask()) for number in numbers}
    try:
        yield stop
    except KeyboardInterrupt:
        pass  # of somebody who would not wait: that, too, is how one leaves
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
