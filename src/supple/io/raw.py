"""What a file holds, as plain arrays: the common result of all readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.source import Source

__all__ = [
    "LARGEST",
    "Lacking",
    "RawSurface",
    "RawTets",
    "drop_thin",
    "from_zero",
    "join_attributes",
    "look_up",
    "reverse_polygons",
    "select_polygons",
    "to_indices",
    "to_regions",
    "to_whole",
]

LARGEST = 2**31 - 1


class Lacking(FileFormatError):
    """A whole file that has none of what is asked for, tets or a surface, but may have the other."""


@dataclass(frozen=True)
class RawTets:
    """Tets as a file gives them: any winding, unused vertices included."""

    vertices: NDArray[np.float64]  #: shape (n, 3), in the file's unit
    tets: NDArray[np.int32]  #: shape (m, 4)
    regions: NDArray[np.int32] | None = None  #: shape (m,)
    region_names: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RawSurface:
    """Polygons as a file gives them."""

    vertices: NDArray[np.float64]  #: shape (n, 3), in the file's unit
    counts: NDArray[np.int32]  #: corners of every polygon, shape (p,)
    indices: NDArray[np.int32]  #: corners of all polygons in turn
    uv: NDArray[np.float64] | None = None  #: texture coordinates of every corner, shape (len(indices), 2)
    groups: NDArray[np.int32] | None = None  #: group number of every polygon, shape (p,)
    group_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    attributes: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Numbers of every vertex by name, shape (n,) or (n, c), NaN where a part of the file has none; colours lie in
    0 to 1."""


def to_indices(source: Source, values: NDArray[np.number], count: int, what: str) -> NDArray[np.int32]:
    """The values as indices, each checked to be whole, at least 0 and below `count`; a lenient reader gives any."""
    if source.lenient:
        any_value: NDArray[np.int32] = np.clip(np.nan_to_num(values, nan=-1.0), -1, LARGEST).astype(np.int32)
        return any_value
    if values.size and not (values.min() >= 0 and values.max() < min(count, LARGEST)):
        flat = values.reshape(-1)
        wrong = flat[~((flat >= 0) & (flat < min(count, LARGEST)))][0]
        raise source.damaged(f"its {what} refer to entry {wrong:g}, counted from 0, of {count:,}")
    indices = values.astype(np.int32, copy=False)
    if values.dtype.kind == "f" and not (indices == values).all():
        raise source.damaged(f"its {what} hold a number that is not whole")
    return indices


def from_zero(indices: NDArray[np.integer], count: int) -> tuple[NDArray[np.integer], tuple[str, ...]]:
    """Indices counted from 0, with a note when the file must have counted from 1: entry `count` is used, 0 is not."""
    if indices.size and indices.min() >= 1 and indices.max() == count:
        return indices - 1, ("took its vertices as counted from 1",)
    return indices, ()


def to_whole(source: Source, values: NDArray[np.float64], what: str) -> NDArray[np.int64]:
    """Numbers that were read as doubles as the whole numbers that they have to be."""
    if not (np.abs(values) < 2.0**53).all() or (values != np.floor(values)).any():
        raise source.damaged(f"its {what} hold a number that is not whole")
    return values.astype(np.int64)


def look_up(source: Source, numbers: NDArray[np.int64], wanted: NDArray[np.integer]) -> NDArray[np.int32]:
    """Place of every wanted vertex in the list of the numbers that the file gives its vertices."""
    in_order = len(numbers) > 0 and bool((np.diff(numbers) == 1).all())  # as is usual
    if in_order and wanted.size and wanted.min() >= numbers[0] and wanted.max() <= numbers[-1]:
        counted: NDArray[np.int32] = np.subtract(wanted, numbers[0], dtype=np.int32, casting="unsafe")
        return counted  # differences that fit 32 bits come out right whatever was cut off
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    if (ranked[1:] == ranked[:-1]).any():
        raise source.damaged(f"vertex {ranked[:-1][ranked[1:] == ranked[:-1]][0]} is given twice")
    place = np.searchsorted(ranked, wanted)
    place[place == len(ranked)] = 0
    unknown = ranked[place] != wanted if len(ranked) else np.ones(wanted.shape, dtype=bool)
    if unknown.any() and not source.lenient:
        raise source.damaged(f"a tet uses vertex {wanted[unknown][0]}, which the file does not give")
    found: NDArray[np.int32] = np.where(unknown, -1, order[place] if len(ranked) else -1).astype(np.int32)
    return found


def to_regions(source: Source, values: NDArray[np.number]) -> NDArray[np.int32]:
    """The values as region numbers, which fit 32 bits."""
    packed = np.ascontiguousarray(values)  # a column of a table is slow to look through
    if packed.size and not (packed.min() >= -LARGEST and packed.max() <= LARGEST):
        raise source.damaged("a region number does not fit 32 bits", "number the regions from 1")
    return packed.astype(np.int32, copy=False)


def select_polygons(raw: RawSurface, keep: NDArray[np.bool_], note: str) -> RawSurface:
    """Those polygons of the surface, over all its vertices, with a note on the choice."""
    corners = np.repeat(keep, raw.counts)
    return replace(
        raw,
        counts=raw.counts[keep],
        indices=raw.indices[corners],
        uv=None if raw.uv is None else raw.uv[corners],
        groups=None if raw.groups is None else raw.groups[keep],
        notes=(*raw.notes, note),
    )


def reverse_polygons(raw: RawSurface) -> RawSurface:
    """The surface with every polygon wound the other way round."""
    ends = np.cumsum(raw.counts, dtype=np.int64)
    starts = ends - raw.counts
    order = np.repeat(starts + ends - 1, raw.counts) - np.arange(len(raw.indices))
    return replace(raw, indices=raw.indices[order], uv=None if raw.uv is None else raw.uv[order])


def join_attributes(
    parts: Sequence[tuple[int, Mapping[str, NDArray[np.float64]]]],
) -> dict[str, NDArray[np.float64]]:
    """The attributes of parts of so many vertices each as those of all; NaN where a part has none of that width."""
    shapes = {name: values.shape[1:] for _, own in reversed(parts) for name, values in own.items()}

    def of_part(name: str, count: int, own: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        values = own.get(name)
        shape = (count, *shapes[name])
        return np.full(shape, np.nan) if values is None or values.shape != shape else values

    return {name: np.concatenate([of_part(name, count, own) for count, own in parts]) for name in shapes}


def drop_thin(raw: RawSurface) -> RawSurface:
    """The surface without the points and edges that some files list as faces."""
    keep = raw.counts >= 3
    if keep.all():
        return raw
    return select_polygons(raw, keep, f"dropped {int((~keep).sum()):,} faces of fewer than 3 corners")
