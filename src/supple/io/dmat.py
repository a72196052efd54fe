"""DMAT, libigl's dense matrices: text or binary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.io.limits import current_limits
from supple.io.source import Source, read_source
from supple.io.text import parse_floats

__all__ = ["load_dmat", "parse_dmat"]


def load_dmat(path: Path) -> NDArray[np.float64]:
    """The matrix in a file."""
    return parse_dmat(read_source(path))


def parse_dmat(source: Source) -> NDArray[np.float64]:
    """The matrix: `columns rows` and its numbers column by column; `0 0` first means they are 8 bytes each."""
    with source.parsing("a DMAT matrix"):
        head, _, rest = source.data.partition(b"\n")
        columns, rows = _sizes(source, head)
        binary = columns == rows == 0
        if binary:
            head, _, rest = rest.partition(b"\n")
            columns, rows = _sizes(source, head)
        count = columns * rows
        if count * 8 > current_limits().bytes:
            raise source.damaged(f"it would be {rows:,} by {columns:,} numbers")
        if binary:
            if len(rest) != 8 * count:
                raise source.damaged(f"it has {len(rest):,} of the {8 * count:,} bytes it promises")
            values = np.frombuffer(rest, "<f8").astype(np.float64)
            source.check_finite(values, "numbers")
        else:
            values = parse_floats(source, rest, "numbers")
        if len(values) != count or not count:
            raise source.damaged(f"it has {len(values):,} of the {count:,} numbers it promises")
        return values.reshape(columns, rows).T


def _sizes(source: Source, line: bytes) -> tuple[int, int]:
    words = line.split()
    if len(words) != 2 or not all(word.isdigit() and len(word) < 12 for word in words):
        raise source.damaged("it does not begin with its numbers of columns and rows")
    return int(words[0]), int(words[1])
