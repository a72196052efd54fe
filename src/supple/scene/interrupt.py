"""Ctrl-C that lets the frame at hand finish."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["StopRequest", "stop_on_interrupt"]


class StopRequest:
    """Whether someone asked the run to stop after this frame."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def stop_on_interrupt(announce: Callable[[str], None]) -> Iterator[StopRequest]:
    """A request that Ctrl-C (or SIGTERM) sets once; a second Ctrl-C interrupts at once.

    Only the main thread can listen to signals; elsewhere the request is never set.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if request.asked:
            raise KeyboardInterrupt
        request.asked = True
        announce("stopping after this frame (once more to stop at once)")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
