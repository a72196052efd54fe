"""Numbers out of text in bulk, without a Python loop over lines."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.source import Source

__all__ = [
    "cut_lines",
    "format_polygons",
    "format_rows",
    "number_rows",
    "parse_floats",
    "parse_ints",
    "same_rows",
    "split_rows",
    "tokens_per_line",
]

#: Of the row that begins at an index of a flat array: its length, and its columns that decide the length.
Layout = Callable[[NDArray[Any], int], tuple[int, Sequence[int]]]

LONE_SIGN = re.compile(rb"[+-](?![0-9])")


def parse_floats(source: Source, text: bytes, what: str) -> NDArray[np.float64]:
    """All numbers of a text of blank-separated finite numbers, shape (k,)."""
    values: NDArray[np.float64] = _parse(source, text, np.float64, what)
    source.check_finite(values, what)
    return values


def parse_ints(source: Source, text: bytes, what: str) -> NDArray[np.int64]:
    """All numbers of a text of blank-separated whole numbers, shape (k,)."""
    if LONE_SIGN.search(text):  # numpy reads "- 1" as -1
        raise source.damaged(f"its {what} hold something that is not a whole number")
    values: NDArray[np.int64] = _parse(source, text, np.int64, what)
    return values


def _parse(source: Source, text: bytes, dtype: type, what: str) -> NDArray[Any]:
    if not text.strip():  # numpy reads one number from blanks
        return np.empty(0, dtype=dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # how numpy before 2.3 reports unread text
            return np.fromstring(text, dtype=dtype, sep=" ")
    except (ValueError, DeprecationWarning):
        raise source.damaged(f"its {what} hold something that is not a number") from None


def tokens_per_line(text: bytes) -> NDArray[np.int64]:
    """Number of blank-separated words on every line of the text, shape (lines,)."""
    if not text:
        return np.empty(0, dtype=np.int64)
    symbols = np.frombuffer(text, dtype=np.uint8)
    blank = symbols <= ord(" ")
    starts = ~blank
    starts[1:] &= blank[:-1]
    line = np.cumsum(symbols == ord("\n"))
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    counts: NDArray[np.int64] = np.bincount(line[starts], minlength=lines)
    return counts


def cut_lines(text: bytes, count: int) -> tuple[bytes, bytes]:
    """The first `count` lines of the text (fewer when there are no more), and the rest."""
    ends = np.flatnonzero(np.frombuffer(text or b" ", dtype=np.uint8) == ord("\n"))
    if count <= 0:
        return b"", text
    cut = int(ends[count - 1]) + 1 if count <= len(ends) else len(text)
    return text[:cut], text[cut:]


def same_rows(flat: NDArray[Any], start: int, length: int, most: int, keys: Sequence[int]) -> int:
    """How many consecutive rows of `length` from `start` hold in columns `keys` what the first one holds."""
    columns = np.asarray(keys, dtype=np.int64)
    key = flat[start + columns]
    most = min(most, (len(flat) - start) // length)
    count, step = 1, 1
    while count < most:
        stop = min(count + step, most)
        block = flat[start + count * length : start + stop * length].reshape(-1, length)
        differs = (block[:, columns] != key).any(axis=1)
        if differs.any():
            return count + int(differs.argmax())
        count, step = stop, 2 * step
    return count


def split_rows(source: Source, flat: NDArray[Any], rows: int, layout: Layout, what: str) -> Iterator[NDArray[Any]]:
    """Blocks (k, length) of consecutive rows of one length, out of `rows` rows stored end to end in `flat`.

    `layout` gives, for the row beginning at an index, its length and the columns that decide it. A run of
    rows that agree there costs one step.
    """
    start = 0
    while rows > 0:
        try:
            length, keys = layout(flat, start)
        except IndexError:
            length, keys = len(flat) + 1, ()
        if length < 1 or start + length > len(flat):
            raise source.damaged(f"it ends before all the {what} it promises")
        count = same_rows(flat, start, length, rows, keys)
        yield flat[start : start + count * length].reshape(count, length)
        start, rows = start + count * length, rows - count


def format_rows(line: str, rows: NDArray[Any]) -> bytes:
    """One line of text a row, by a %-template for one row; `%r` writes floats that read back bit for bit."""
    return ((line + "\n") * len(rows) % tuple(rows.reshape(-1).tolist())).encode("ascii")


def number_rows(line: str, rows: NDArray[Any]) -> bytes:
    """One line of text a row as `format_rows` writes it, with the row's number, from 1, in front of its items."""
    count, width = rows.shape
    items: list[Any] = [None] * (count * (width + 1))
    items[:: width + 1] = range(1, count + 1)
    for column in range(width):
        items[column + 1 :: width + 1] = rows[:, column].tolist()
    text: str = (line + "\n") * count % tuple(items)
    return text.encode("ascii")


def format_polygons(line: str, counts: NDArray[np.int32], indices: NDArray[np.int32], *, counted: bool) -> bytes:
    """One line of text a polygon: `line`, its number of corners when `counted`, and its corners."""
    sizes = np.unique(counts)
    if len(sizes) == 1:
        rows = indices.reshape(-1, int(sizes[0]))
        start = f"{line}{sizes[0]} " if counted else line
        return format_rows(start + " ".join(["%d"] * rows.shape[1]), rows)
    words, lines, at = indices.tolist(), [], 0
    for count in counts.tolist():
        start = f"{line}{count} " if counted else line
        lines.append(start + " ".join(map(str, words[at : at + count])) + "\n")
        at += count
    return "".join(lines).encode("ascii")
