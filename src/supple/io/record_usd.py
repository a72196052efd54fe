"""A run as USD: a mesh of each body with time-sampled points, one time code a frame.

While the run goes on, the file is a small root over the folder NAME.frames, which holds one binary layer a
frame, tied in as value clips: each is written once and whole, and USD programs can open the root at any
moment. Closing joins all into the one file and removes the folder.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import OutputError
from supple.io.drawn import RenderMesh, drawn_surface
from supple.io.files import writing
from supple.io.frames import CacheInfo, Frame, FrameChecks, check_gap
from supple.io.usd_colliders import place_colliders, read_places
from supple.io.usd_layers import (
    NOTE,
    TIME,
    export_layer,
    join_frames,
    make_frame,
    make_manifest,
    make_root,
    make_still,
    open_layer,
    read_frame,
)
from supple.io.usd_pieces import split_surface
from supple.mesh import TetMesh, TriMesh
from supple.solve import Placement

__all__ = ["UsdWriter"]

TOPOLOGY = ("faceVertexCounts", "faceVertexIndices")
STILL, MANIFEST, WHOLE = "still.usdc", "manifest.usda", "whole.usdc"


class UsdWriter:
    """Writes every frame as a layer and joins them when closed."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        render: RenderMesh | None,
        colliders: Mapping[str, TriMesh],
        resume_at: int | None = None,
        bodies: Mapping[str, slice] | None = None,
    ) -> None:
        self._path, self._info = path, info
        self._folder = path.with_name(f"{path.name}.frames")
        self._surface = drawn_surface(mesh, render)
        self._pieces = split_surface(self._surface, mesh, bodies or {})
        self._still = make_still(info, self._pieces, colliders)
        self._colliders = tuple(colliders)
        self._places: dict[int, Sequence[Placement]] = {}
        self._codes: list[int] = []
        self._closed = False
        if resume_at is not None:
            self._codes = self._recover(resume_at)
        with writing(self._folder):
            self._folder.mkdir(exist_ok=True)
        self._remove_frames(keep=self._codes)
        export_layer(self._still, self._folder / STILL)
        export_layer(make_manifest(self._pieces), self._folder / MANIFEST)
        self._publish(self._codes)
        self._checks = FrameChecks(path, mesh, self._codes[-1] if self._codes else None)

    def write(self, frame: Frame) -> None:
        """Add the frame's layer and name it in the root."""
        self._checks.accept(frame)
        fields = {"points": self._surface.lift(frame.positions) / self._info.metres_per_unit}
        if frame.velocities is not None:
            fields["velocities"] = self._surface.lift(frame.velocities) / self._info.metres_per_unit
        if any(np.abs(values).max(initial=0.0) > np.finfo(np.float32).max for values in fields.values()):
            raise OutputError(f"{self._path}: frame {frame.index} exceeds USD's 32 bits; choose larger units.")
        samples = {}
        for piece in self._pieces:
            own = {name: values[piece.points] for name, values in fields.items()}
            extent = np.stack([own["points"].min(axis=0), own["points"].max(axis=0)])
            samples[piece.path] = {**own, "extent": extent, TIME: frame.time}
        export_layer(make_frame(frame.index, samples), self._file(frame.index))
        codes = [*self._codes, frame.index]
        self._places[frame.index] = frame.colliders
        self._publish(codes)
        self._codes = codes
        self._checks.last = frame.index

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return (self._path, self._folder / STILL, self._folder / MANIFEST, self._file(index))

    def close(self) -> None:
        """Join the frames into one file; until then they lie in the folder beside it."""
        if self._closed:
            return
        whole = self._folder / WHOLE
        frames = [(code, self._file(code)) for code in self._codes]
        join_frames(whole, self._pieces, self._still, frames, self._place)
        if self._path.suffix.lower() == ".usda":
            export_layer(open_layer(whole), self._path)
        else:
            with writing(self._path):
                os.replace(whole, self._path)
        self._closed = True
        self._remove_frames(keep=())
        with writing(self._folder):
            for name in (STILL, MANIFEST, WHOLE):
                (self._folder / name).unlink(missing_ok=True)
            if not any(self._folder.iterdir()):
                self._folder.rmdir()

    def _file(self, code: int) -> Path:
        return self._folder / f"frame.{code:04d}.usdc"

    def _publish(self, codes: Sequence[int]) -> None:
        names = [f"./{self._folder.name}/{self._file(code).name}" for code in codes]
        still, manifest = (f"./{self._folder.name}/{name}" for name in (STILL, MANIFEST))
        root = make_root(self._info, self._pieces, codes, still, names, manifest)
        self._place(root)
        export_layer(root, self._path)

    def _place(self, layer: Any) -> None:
        place_colliders(layer, self._colliders, self._places, self._info.metres_per_unit)

    def _remove_frames(self, keep: Collection[int]) -> None:
        kept = {self._file(code) for code in keep}
        with writing(self._folder):
            for file in self._folder.glob("frame.*.usdc"):
                if file not in kept:
                    file.unlink()

    def _recover(self, resume_at: int) -> list[int]:
        """Codes of the frames before `resume_at`, each in a file of its own."""
        if not self._path.is_file():
            raise OutputError(f"{self._path} does not exist, so it cannot go on; run again without resuming.")
        layer = _open_or_refuse(self._path)
        running = len(layer.subLayerPaths) > 0
        still = _open_or_refuse(self._folder / STILL) if running else layer
        same = layer.customLayerData.get(NOTE) == self._info.to_json()
        paths = [f"{piece.path}.{name}" for piece in self._pieces for name in TOPOLOGY]
        if not same or any(_static(still, path) != _static(self._still, path) for path in paths):
            raise OutputError(f"{self._path} is a recording of another mesh or setting; run again without resuming.")
        if running:
            clips = layer.GetPrimAtPath(self._pieces[0].path).GetInfo("clips").get("default", {})
            codes = [int(entry[0]) for entry in clips.get("active", ())]
            kept = [code for code in codes if code < resume_at and self._file(code).is_file()]
        else:
            kept = [
                int(code) for code in layer.ListTimeSamplesForPath(f"{self._pieces[0].path}.points") if code < resume_at
            ]
        check_gap(self._path, kept, resume_at, self._info.start_frame)
        if not running:
            self._take_apart(layer, kept)
        self._places |= read_places(layer, self._colliders, kept, self._info.metres_per_unit)
        return kept

    def _take_apart(self, layer: Any, codes: Collection[int]) -> None:
        """Write those frames of a joined file as files of their own."""
        with writing(self._folder):
            self._folder.mkdir(exist_ok=True)
        for code in codes:
            export_layer(make_frame(code, read_frame(layer, self._pieces, code)), self._file(code))


def _open_or_refuse(path: Path) -> Any:
    layer = open_layer(path)
    if layer is None:
        raise OutputError(f"{path} is not a whole USD file, so it cannot go on; run again without resuming.")
    return layer


def _static(layer: Any, path: str) -> Any:
    attribute = layer.GetAttributeAtPath(path)
    return None if attribute is None else attribute.default
