"""Tet meshes as .npz: `vertices`, `tets` and optionally `regions`, `region_names` and `region_numbers`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.limits import check_count
from supple.io.npz_file import NpzFile
from supple.io.raw import RawTets, from_zero, to_indices, to_regions
from supple.io.source import Source
from supple.mesh import Sheet, TetMesh

__all__ = ["mesh_arrays", "read_npz_tets"]


def mesh_arrays(mesh: TetMesh) -> dict[str, NDArray[Any]]:
    """The mesh as the arrays that an .npz file holds; a sheet has `triangles` too."""
    own = {"triangles": mesh.triangles} if isinstance(mesh, Sheet) else {}
    return own | {
        "vertices": mesh.vertices,
        "tets": mesh.tets,
        "regions": mesh.regions,
        "region_names": np.array(list(mesh.region_names), dtype=np.str_),
        "region_numbers": np.array(list(mesh.region_names.values()), dtype=np.int32),
    }


def read_npz_tets(path: Path, *, lenient: bool = False) -> RawTets:
    """Tets of an .npz file; other arrays in it are left alone."""
    source = Source(str(path), b"", lenient)
    with NpzFile(path) as file, source.parsing("an .npz tet mesh"):
        for name, width, kinds, want in (
            ("vertices", 3, "fiu", "numbers (n, 3)"),
            ("tets", 4, "iu", "whole numbers (m, 4)"),
        ):
            shape, dtype = file.header(name)[:2]
            if len(shape) != 2 or shape[1] != width or dtype.kind not in kinds:
                raise source.damaged(f"{name} has shape {shape} and type {dtype}", f"store {want}")
            check_count(source.name, shape[0], name)
        vertices, tets = file.read("vertices"), file.read("tets")
        optional = {name: file.read(name) for name in ("regions", "region_names", "region_numbers") if name in file}
    source.check_finite(vertices, "vertices")
    cells, notes = from_zero(tets, len(vertices))
    return RawTets(
        vertices.astype(np.float64, copy=False),
        to_indices(source, cells, len(vertices), "tets"),
        _read_regions(source, optional, len(tets)),
        _read_names(source, optional),
        notes,
    )


def _read_regions(source: Source, arrays: Mapping[str, NDArray[Any]], count: int) -> NDArray[np.int32] | None:
    regions = arrays.get("regions")
    if regions is None:
        return None
    if regions.shape != (count,) or regions.dtype.kind not in "iu":
        raise source.damaged(
            f"regions has shape {regions.shape} and type {regions.dtype} for {count:,} tets",
            "store one whole number for every tet",
        )
    return to_regions(source, regions)


def _read_names(source: Source, arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    names, numbers = arrays.get("region_names"), arrays.get("region_numbers")
    if names is None or numbers is None:
        return {}
    if names.ndim != 1 or names.shape != numbers.shape or names.dtype.kind != "U" or numbers.dtype.kind not in "iu":
        raise source.damaged("region_names and region_numbers do not fit each other", "store a number for every name")
    return {str(name): int(number) for name, number in zip(names, numbers, strict=True)}
