"""Between who makes frames and who shows them: only the newest waits, older ones are dropped."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

__all__ = ["Mailbox"]

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """A place for one item; a new one replaces what nobody has fetched."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._item: Item | None = None
        self._closed = False
        self.dropped = 0  #: items that were replaced before anybody fetched them

    def put(self, item: Item) -> None:
        """Leave an item for whoever fetches next."""
        with self._changed:
            self.dropped += self._item is not None
            self._item = item
            self._changed.notify_all()

    def fetch(self, timeout: float | None = None) -> Item | None:
        """The newest item, waited for up to `timeout` [s]; None if none came, or the box is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._item is not None or self._closed, timeout)
            item, self._item = self._item, None
            return item

    def close(self) -> None:
        """Let everybody go who waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether no more items come."""
        return self._closed
