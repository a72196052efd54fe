"""A recording whose files have to stay where they are while it is written."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from supple.errors import OutputError
from supple.io.frames import Frame, FrameWriter

__all__ = ["OutputRemovedError", "WatchedWriter"]


class OutputRemovedError(OutputError):
    """What was recorded has been removed or replaced by others."""


class WatchedWriter:
    """Passes frames on to a writer, and refuses to go on when somebody else has removed or changed what it wrote."""

    def __init__(self, writer: FrameWriter) -> None:
        self._writer = writer
        self._sizes: dict[Path, int] = {}  # of all files with frames [bytes]
        self._last: tuple[Path, ...] = ()  # those of the last frame
        self._closed = False

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return self._writer.files(index)

    def write(self, frame: Frame) -> None:
        """Add the frame."""
        self._check(self._last)
        self._writer.write(frame)
        self._last = self._writer.files(frame.index)
        self._sizes.update({file: _size(file) for file in self._last})

    def close(self) -> None:
        """Leave the finished recording, if all frames are still there."""
        if self._closed:
            return
        self._closed = True
        try:
            self._check(tuple(self._sizes))
        except OutputRemovedError:
            with suppress(Exception):  # of what is left; that something is not is what matters
                self._writer.close()
            raise
        self._writer.close()

    def _check(self, files: tuple[Path, ...]) -> None:
        for file in files:
            if _size(file) != self._sizes[file]:
                raise _removed(file)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        raise _removed(file) from None


def _removed(file: Path) -> OutputRemovedError:
    return OutputRemovedError(
        f"{file} was removed or changed by another program while it was being written: run again, and leave it alone "
        "until the run is done."
    )
