"""Animations of glTF files: keys, and the three ways to go from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf_container import GltfFile

__all__ = ["Channel", "read_channels"]

FloatArray = NDArray[np.float64]
WIDTHS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3", "weights": "SCALAR"}
KINDS = ("LINEAR", "STEP", "CUBICSPLINE")


@dataclass(frozen=True, eq=False)
class Channel:
    """What one property of one node does."""

    node: int
    path: str  #: "translation", "rotation", "scale" or "weights"
    kind: str
    times: FloatArray
    """Times of the keys [s], (k,)."""
    keys: FloatArray
    """Values at the keys, (k, w); for a cubic spline with slopes before and after, (k, 3, w)."""

    def sampled(self, times: FloatArray) -> FloatArray:
        """Values at times [s], (n, w); before the first and after the last key they stay."""
        inside = np.clip(times, self.times[0], self.times[-1])
        at = np.clip(np.searchsorted(self.times, inside, side="right") - 1, 0, max(len(self.times) - 2, 0))
        if len(self.times) == 1:
            found = np.repeat(self._values()[:1], len(times), axis=0)
        else:
            length = (self.times[at + 1] - self.times[at])[:, None]
            share = (inside - self.times[at])[:, None] / length
            found = self._between(at, share, length)
        return _normalised(found) if self.path == "rotation" else found

    def _values(self) -> FloatArray:
        return self.keys[:, 1] if self.kind == "CUBICSPLINE" else self.keys

    def _between(self, at: NDArray[np.intp], s: FloatArray, length: FloatArray) -> FloatArray:
        values = self._values()
        begin, end = values[at], values[at + 1]
        if self.kind == "STEP":
            return np.where(s < 1.0, begin, end)
        if self.kind == "CUBICSPLINE":  # Hermite's, with slopes per second
            leave, arrive = length * self.keys[at, 2], length * self.keys[at + 1, 0]
            return np.asarray(
                (2 * s**3 - 3 * s**2 + 1) * begin
                + (s**3 - 2 * s**2 + s) * leave
                + (3 * s**2 - 2 * s**3) * end
                + (s**3 - s**2) * arrive
            )
        if self.path != "rotation":
            return np.asarray(begin + s * (end - begin))
        cosine = (begin * end).sum(axis=1, keepdims=True)
        end, cosine = np.where(cosine < 0.0, -end, end), np.minimum(np.abs(cosine), 1.0)
        angle = np.arccos(cosine)
        wide = angle > 1e-4  # below, an arc is its chord to round-off
        sine = np.where(wide, np.sin(angle), 1.0)
        first = np.where(wide, np.sin((1.0 - s) * angle) / sine, 1.0 - s)
        return np.asarray(first * begin + np.where(wide, np.sin(s * angle) / sine, s) * end)


def read_channels(file: GltfFile, animation: dict[str, Any]) -> list[Channel]:
    """The channels of an animation that move a node; those without keys are left out."""
    samplers, found = file.list_of(animation, "samplers"), []
    for entry in file.list_of(animation, "channels"):
        target = entry.get("target") if isinstance(entry, dict) else None
        if not isinstance(target, dict) or "node" not in target or target.get("path") not in WIDTHS:
            continue  # an extension's
        number = file.whole(entry.get("sampler"), "a channel's sampler")
        if number >= len(samplers) or not isinstance(samplers[number], dict):
            raise file.source.damaged(f"a channel refers to sampler {number}, which is not there")
        file.entry("nodes", target["node"])
        channel = _read_channel(file, samplers[number], target["node"], target["path"])
        if channel is not None:
            found.append(channel)
    return found


def _read_channel(file: GltfFile, sampler: dict[str, Any], node: int, path: str) -> Channel | None:
    kind = sampler.get("interpolation", "LINEAR")
    if kind not in KINDS:
        raise file.source.damaged(f"an animation is interpolated by '{str(kind)[:20]}'")
    times = file.accessor(sampler.get("input"), ("SCALAR",), "times of keys").astype(np.float64)
    values = file.accessor(sampler.get("output"), (WIDTHS[path],), "values of keys").astype(np.float64)
    if not len(times):
        return None
    if (np.diff(times) <= 0.0).any():
        raise file.source.damaged("the keys of an animation are not in the order of their times")
    parts = 3 if kind == "CUBICSPLINE" else 1
    width = 0 if path == "weights" else values.shape[1]
    rows = len(times) * parts
    if (width and len(values) != rows) or len(values) % rows or not len(values):
        raise file.source.damaged(f"an animation has {len(values):,} values for {len(times):,} keys")
    shape = (len(times), parts, -1) if parts > 1 else (len(times), -1)
    return Channel(node, path, kind, times, values.reshape(shape))


def _normalised(turns: FloatArray) -> FloatArray:
    """Quaternions of length 1; one without a length turns nothing."""
    length = np.linalg.norm(turns, axis=1, keepdims=True)
    return np.where(length > 0.0, turns / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 0.0, 1.0])
