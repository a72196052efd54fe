"""One way to read the numbers of a Gmsh section, be they text or binary."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.io.source import Source
from supple.io.text import parse_floats, parse_ints

__all__ = ["BinaryNumbers", "Numbers", "TextNumbers"]

WHOLE = 2.0**53  # beyond it doubles skip whole numbers


class Numbers(Protocol):
    """Numbers taken from a section one group after another."""

    def ints(self, count: int) -> NDArray[np.int64]:
        """The next `count` numbers that binary files store as 32-bit integers."""

    def sizes(self, count: int) -> NDArray[np.int64]:
        """The next `count` numbers that binary files store as sizes."""

    def doubles(self, count: int) -> NDArray[np.float64]:
        """The next `count` floating-point numbers."""


class TextNumbers:
    """Numbers of a text section, all parsed at once."""

    def __init__(self, source: Source, section: bytes, what: str, *, whole: bool = False) -> None:
        self._source, self._what, self._at = source, what, 0
        self.values = parse_ints(source, section, what) if whole else parse_floats(source, section, what)

    def rest(self) -> NDArray[np.float64] | NDArray[np.int64]:
        """Everything not taken yet."""
        return self.values[self._at :]

    def ints(self, count: int) -> NDArray[np.int64]:
        """The next `count` numbers, which have to be whole."""
        values = self._take(count)
        if (np.abs(values) > WHOLE).any() or (values != np.floor(values)).any():
            raise self._source.damaged(f"a count or number among its {self._what} is not whole")
        return values.astype(np.int64)

    sizes = ints

    def doubles(self, count: int) -> NDArray[np.float64]:
        """The next `count` numbers."""
        return self._take(count).astype(np.float64)

    def _take(self, count: int) -> NDArray[np.float64] | NDArray[np.int64]:
        if count < 0 or self._at + count > len(self.values):
            raise self._source.damaged(f"it ends before all the {self._what} it promises")
        self._at += count
        return self.values[self._at - count : self._at]


class BinaryNumbers:
    """Numbers of a binary section."""

    def __init__(
        self,
        source: Source,
        section: bytes,
        what: str,
        endian: Literal["<", ">"],
        size_type: np.dtype[np.generic],
    ) -> None:
        self._section, self._what, self._at = Source(source.name, section), what, 0
        self._endian: Literal["<", ">"] = endian
        self._int, self._double, self._size = np.dtype(f"{endian}i4"), np.dtype(f"{endian}f8"), size_type

    def line(self) -> bytes:
        """The rest of the line: binary sections of version 2 begin with a count in text."""
        end = self._section.data.find(b"\n", self._at)
        if end < 0:
            raise self._section.damaged(f"it ends before its {self._what}")
        line, self._at = self._section.data[self._at : end], end + 1
        return line

    def structs(self, dtype: np.dtype[np.generic], count: int) -> NDArray[Any]:
        """The next `count` items of that type; the type's byte order is set to the file's."""
        return self._items(dtype.newbyteorder(self._endian), count)

    def ints(self, count: int) -> NDArray[np.int64]:
        """The next `count` 32-bit integers."""
        return self._items(self._int, count).astype(np.int64)

    def sizes(self, count: int) -> NDArray[np.int64]:
        """The next `count` sizes; those beyond 63 bits turn negative and are refused by whoever uses them."""
        values = self._items(self._size, count)
        return values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64)

    def doubles(self, count: int) -> NDArray[np.float64]:
        """The next `count` doubles."""
        return self._items(self._double, count).astype(np.float64, copy=False)

    def _items(self, dtype: np.dtype[np.generic], count: int) -> NDArray[Any]:
        values = self._section.array(dtype, count, self._at, self._what)
        self._at += values.nbytes
        return values
