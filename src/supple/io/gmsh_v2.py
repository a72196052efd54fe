"""Nodes and elements of Gmsh versions 1 and 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.io.gmsh_elements import TetCollector, node_count
from supple.io.gmsh_numbers import BinaryNumbers, TextNumbers
from supple.io.raw import LARGEST
from supple.io.source import Source
from supple.io.text import split_rows

__all__ = ["collect_elements_v1", "collect_elements_v2", "read_nodes_v2"]

INT = np.dtype("<i4")
NODE = np.dtype([("number", "<i4"), ("position", "<f8", 3)])


def read_nodes_v2(
    source: Source, numbers: TextNumbers | BinaryNumbers
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Node numbers (n,) and positions (n, 3)."""
    if isinstance(numbers, BinaryNumbers):
        nodes = numbers.structs(NODE, int(numbers.line()))
        return nodes["number"].astype(np.int64), nodes["position"].astype(np.float64)
    count = int(numbers.ints(1)[0])
    rows = numbers.doubles(4 * count).reshape(count, 4)
    if (np.abs(rows[:, 0]) > LARGEST).any():
        raise source.damaged("a node number does not fit 32 bits")
    return rows[:, 0].astype(np.int64), np.ascontiguousarray(rows[:, 1:])


def collect_elements_v1(source: Source, numbers: TextNumbers, into: TetCollector) -> None:
    """Elements `number type physical entity nodes...` of version 1."""
    count = int(numbers.ints(1)[0])

    def layout(flat: NDArray[np.int64], start: int) -> tuple[int, tuple[int, int]]:
        return 5 + int(flat[start + 4]), (1, 4)

    for rows in split_rows(source, numbers.rest(), count, layout, "elements"):
        kind = int(rows[0, 1])
        if rows.shape[1] - 5 != node_count(source, kind):
            raise source.damaged(f"an element of type {kind} has {rows.shape[1] - 5} nodes")
        into.add(kind, rows[:, 5:], rows[:, 2])


def collect_elements_v2(source: Source, numbers: TextNumbers | BinaryNumbers, into: TetCollector) -> None:
    """Elements with their tags, the first of which is the physical group."""
    if isinstance(numbers, BinaryNumbers):
        _collect_binary(source, numbers, into)
        return
    count = int(numbers.ints(1)[0])

    def layout(flat: NDArray[np.int64], start: int) -> tuple[int, tuple[int, int]]:
        kind, tags = int(flat[start + 1]), int(flat[start + 2])
        if tags < 0:
            raise source.damaged(f"an element has {tags} tags")
        return 3 + tags + node_count(source, kind), (1, 2)

    for rows in split_rows(source, numbers.rest(), count, layout, "elements"):
        _add_rows(into, int(rows[0, 1]), int(rows[0, 2]), rows[:, 3:])


def _collect_binary(source: Source, numbers: BinaryNumbers, into: TetCollector) -> None:
    left = int(numbers.line())
    while left > 0:
        kind, count, tags = (int(value) for value in numbers.ints(3))
        if count <= 0 or tags < 0:
            raise source.damaged(f"a block has {count} elements with {tags} tags")
        width = 1 + tags + node_count(source, kind)
        rows = numbers.structs(INT, count * width).reshape(count, width)
        _add_rows(into, kind, tags, rows[:, 1:])
        left -= count


def _add_rows(into: TetCollector, kind: int, tags: int, rows: NDArray[np.integer]) -> None:
    regions = rows[:, 0] if tags else np.zeros(len(rows), dtype=np.int64)
    into.add(kind, rows[:, tags:], regions)
