"""Work done piece by piece, so that what a piece makes stays in the cache."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from supple.cubature.problem import Problem

__all__ = ["blocks", "column_blocks", "sample_blocks"]

_BYTES = 16 << 20  # of columns at a time: up to this, memory that is given back is used again


def blocks(count: int, size: int = 64) -> Iterator[slice]:
    """Slices of at most `size` that cover 0..count in order."""
    for begin in range(0, count, size):
        yield slice(begin, min(begin + size, count))


def column_blocks(problem: "Problem", count: int) -> Iterator[slice]:
    """Slices that cover `count` candidates of a problem, whose columns on all equations take little memory each."""
    return blocks(count, min(max(_BYTES // (8 * max(len(problem.target()), 1)), 1), 64))


def sample_blocks(problem: "Problem", count: int) -> Iterator[slice]:
    """Slices that cover the samples of a problem; columns of `count` candidates in each of them take little memory."""
    rows = max(len(problem.target()) // max(problem.samples, 1), 1)
    return blocks(problem.samples, max(_BYTES // (8 * rows * max(count, 1)), 1))
