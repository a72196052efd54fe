"""Entities, nodes and elements of Gmsh version 4.1."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from supple.io.gmsh_elements import TetCollector, node_count
from supple.io.gmsh_numbers import Numbers
from supple.io.source import Source

__all__ = ["collect_elements_v4", "read_nodes_v4", "read_volume_regions"]

VOLUME = 3


def read_volume_regions(numbers: Numbers) -> dict[int, int]:
    """The first physical group of every volume that has one, by the volume's tag."""
    regions: dict[int, int] = {}
    for dimension, count in enumerate(numbers.sizes(4).tolist()):
        for _ in range(count):
            tag = int(numbers.ints(1)[0])
            numbers.doubles(3 if dimension == 0 else 6)  # position, or bounding box
            groups = numbers.ints(int(numbers.sizes(1)[0]))
            if dimension > 0:
                numbers.ints(int(numbers.sizes(1)[0]))  # what bounds it
            if dimension == VOLUME and len(groups):
                regions[tag] = int(groups[0])
    return regions


def read_nodes_v4(source: Source, numbers: Numbers) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Node numbers (n,) and positions (n, 3)."""
    blocks, total = numbers.sizes(4)[:2].tolist()
    tags: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    positions: list[NDArray[np.float64]] = [np.empty((0, 3))]
    for _ in range(blocks):
        dimension, _, parametric = numbers.ints(3).tolist()
        count = int(numbers.sizes(1)[0])
        width = 3 + (dimension if parametric == 1 else 0)
        if width not in (3, 4, 5, 6):
            raise source.damaged(f"a block of nodes has dimension {dimension}")
        tags.append(numbers.sizes(count))
        positions.append(numbers.doubles(count * width).reshape(count, width)[:, :3])
    numbers_of_nodes = np.concatenate(tags)
    if len(numbers_of_nodes) != total:
        raise source.damaged(f"it has {len(numbers_of_nodes):,} of the {total:,} nodes it promises")
    return numbers_of_nodes, np.concatenate(positions)


def collect_elements_v4(source: Source, numbers: Numbers, into: TetCollector, regions: Mapping[int, int]) -> None:
    """Elements block by block; the region is the physical group of the block's volume, 0 without one."""
    for _ in range(int(numbers.sizes(4)[0])):
        dimension, tag, kind = numbers.ints(3).tolist()
        count, width = int(numbers.sizes(1)[0]), 1 + node_count(source, kind)
        rows = numbers.sizes(count * width).reshape(count, width)
        region = regions.get(tag, 0) if dimension == VOLUME else 0
        into.add(kind, rows[:, 1:], np.full(count, region, dtype=np.int64))
