"""USD files as plain arrays, read by a script in a process of its own, so that a file that crashes it is an error."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple._child import ChildFailure, run_script
from supple.errors import FileFormatError
from supple.io.frames import CacheInfo
from supple.io.limits import check_count, current_limits
from supple.io.raw import Lacking, RawSurface, RawTets, join_attributes, reverse_polygons, to_indices, to_regions
from supple.io.source import Source, check_readable

__all__ = ["USD_SUFFIXES", "UsdContent", "read_usd_info", "read_usd_surface", "read_usd_tets"]

USD_SUFFIXES = (".usd", ".usdc", ".usda", ".usdz")
SCRIPT = Path(__file__).with_name("usd_child.py")
SECONDS, BYTES_A_SECOND = 60.0, 5e6  # time that every file gets, and what is added for its size
MEMORY, EXPANSION = 4 * 2**30, 64  # address space that every file gets, and what is added for its size
QUIET = {"PXR_AR_DEFAULT_SEARCH_PATH": "", "PXR_WORK_THREAD_LIMIT": "1", "PYTHONWARNINGS": "ignore"}


Wanted = Literal["info", "tets", "surface", "frames", "character"]


class UsdContent:
    """What the script left: facts, and arrays that are read from its folder as they are asked for."""

    def __init__(self, path: Path, wanted: Wanted, *, lenient: bool = False) -> None:
        check_readable(path)
        self.source = Source(str(path), b"", lenient)
        self._folder = tempfile.TemporaryDirectory(prefix="supple-usd-", ignore_cleanup_errors=True)
        size, limits = path.stat().st_size, current_limits()
        try:
            run_script(
                SCRIPT,
                [str(path.absolute()), self._folder.name, wanted, str(limits.frames)],
                seconds=SECONDS + size / BYTES_A_SECOND,
                memory=min(MEMORY + EXPANSION * size, MEMORY + limits.bytes),
                environment=QUIET,
            )
        except ChildFailure as failure:
            said = f": {failure.said}" if failure.said else ""
            raise self.source.damaged(f"USD's reader {failure.reason} over it{said[:200]}") from None
        self.facts: dict[str, Any] = json.loads((Path(self._folder.name) / "facts.json").read_text(encoding="utf-8"))
        if "error" in self.facts:
            kind = Lacking if self.facts.get("lacking") else FileFormatError
            raise kind(f"{path}: {self.facts['error']}.")

    def array(self, name: str) -> NDArray[Any]:
        """An array by name, not in memory before it is used."""
        values: NDArray[Any] = np.load(Path(self._folder.name) / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return values

    def info(self) -> CacheInfo:
        """What supple noted of the run, or what the stage says."""
        if self.facts["note"] is not None:
            return CacheInfo.from_json(self.facts["note"], self.source.name)[0]
        return CacheInfo(
            fps=self.facts["fps"],
            up_axis=self.facts["up_axis"],
            metres_per_unit=self.facts["metres_per_unit"],
            start_frame=round(self.facts["start"]),
            title=self.facts["title"],
        )

    def unit_note(self) -> tuple[str, ...]:
        """A note on the unit of length where the stage states another than the metre."""
        metres = self.facts["metres_per_unit"]
        if not self.facts["stated"] or metres == 1.0:
            return ()
        return (f"its stage counts in units of {metres:g} m with {self.facts['up_axis']} up: give the scene the same",)

    def faces(self, name: str, points: int, *, turned: bool, uv: bool) -> RawSurface:
        """The polygons of a mesh of `points` vertices, without these."""
        counts, corners = self.array(f"{name}.counts"), self.array(f"{name}.corners")
        if (counts < 0).any() or counts.sum() != len(corners):
            raise self.source.damaged("its points and faces do not fit each other")
        check_count(self.source.name, points, "vertices")
        indices = to_indices(self.source, corners, points, "faces")
        pairs = np.array(self.array(f"{name}.uv")) if uv else None
        raw = RawSurface(np.empty((0, 3)), counts.astype(np.int32), indices, pairs)
        return reverse_polygons(raw) if turned else raw


def read_usd_tets(path: Path, *, lenient: bool = False) -> RawTets:
    """Tets of the first TetMesh of a stage (or mesh with `tetraIndices`), in world space and the stage's unit."""
    content = UsdContent(path, "tets", lenient=lenient)
    vertices, tets = np.array(content.array("vertices")), content.array("tets")
    content.source.check_finite(vertices, "points")
    others = content.facts["others"]
    note = f"took {content.facts['prim']} and left out {others} other meshes of tets"
    return RawTets(
        vertices,
        to_indices(content.source, tets, len(vertices), "tets"),
        to_regions(content.source, np.array(content.array("regions"))),
        content.facts["region_names"],
        (*content.unit_note(), *((note,) if others else ())),
    )


def read_usd_surface(path: Path, *, lenient: bool = False) -> RawSurface:
    """All meshes of a stage, each a group, in world space and the stage's unit."""
    content = UsdContent(path, "surface", lenient=lenient)
    parts = []
    for number, fact in enumerate(content.facts["parts"]):
        points = np.array(content.array(f"{number}.points"))
        content.source.check_finite(points, "points")
        parts.append((points, content.faces(str(number), len(points), turned=fact["turned"], uv=fact["uv"])))
    before = np.cumsum([0] + [len(points) for points, _ in parts])
    uv = [faces.uv for _, faces in parts if faces.uv is not None]
    sizes = [len(faces.counts) for _, faces in parts]
    numbers = [
        {name: np.array(content.array(f"{number}.number{k}")) for k, name in enumerate(fact["numbers"])}
        for number, fact in enumerate(content.facts["parts"])
    ]
    return RawSurface(
        np.concatenate([points for points, _ in parts]),
        np.concatenate([faces.counts for _, faces in parts]),
        np.concatenate([faces.indices + start for (_, faces), start in zip(parts, before, strict=False)]).astype(
            np.int32
        ),
        np.concatenate(uv) if len(uv) == len(parts) else None,
        np.repeat(np.arange(len(parts), dtype=np.int32), sizes) if len(parts) > 1 else None,
        tuple(fact["name"] for fact in content.facts["parts"]) if len(parts) > 1 else (),
        content.unit_note(),
        join_attributes([(len(points), own) for (points, _), own in zip(parts, numbers, strict=True)]),
    )


def read_usd_info(path: Path) -> CacheInfo:
    """Unit, up axis and frame rate of a stage."""
    return UsdContent(path, "info").info()
