"""Work done piece by piece, so that what a piece makes stays in the cache."""

from collections.abc import Iterator

__all__ = ["blocks"]


def blocks(count: int, size: int = 64) -> Iterator[slice]:
    """Slices of at most `size` that cover 0..count in order."""
    for begin in range(0, count, size):
        yield slice(begin, min(begin + size, count))
