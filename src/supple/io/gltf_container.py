"""glTF 2.0's container: the JSON, the buffers of a .glb or beside a .gltf, and accessors as arrays.

Every count, stride and offset is held against the bytes that are there before an array is made; a buffer is
read from the file's own folder or from the file itself, never from elsewhere.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from supple.io.files import within
from supple.io.limits import check_bytes
from supple.io.source import Source, read_source
from supple.io.tree import parse_json

__all__ = ["COMPONENTS", "WIDTHS", "GltfFile", "open_gltf"]

MAGIC, JSON_CHUNK, BINARY_CHUNK = b"glTF", b"JSON", b"BIN\0"
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MATRICES = ("MAT2", "MAT3")  # whose columns are padded to four bytes where components are smaller
UNDERSTOOD = {"KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"}
DATA_URI = ("data:application/octet-stream;base64,", "data:application/gltf-buffer;base64,")


@dataclass
class GltfFile:
    """A parsed glTF file: `tree` is its JSON."""

    source: Source
    tree: dict[str, Any]
    binary: bytes | None  #: the buffer inside a .glb
    folder: Path | None  #: where buffers of their own may lie
    _buffers: dict[int, bytes] = field(default_factory=dict)
    _taken: int = 0
    """Bytes of all accessors read so far."""

    def entry(self, kind: str, index: object) -> dict[str, Any]:
        """The entry of that number in a list of the JSON ("accessors", "nodes", ...)."""
        entries = self.tree.get(kind, [])
        place = self.whole(index, f"a reference to {kind}")
        if not isinstance(entries, list) or place >= len(entries) or not isinstance(entries[place], dict):
            raise self.source.damaged(f"it refers to number {place} of its {kind}, which is not there")
        found: dict[str, Any] = entries[place]
        return found

    def entries(self, kind: str) -> list[dict[str, Any]]:
        """All entries of a list of the JSON."""
        return [self.entry(kind, place) for place in range(len(self.list_of(self.tree, kind)))]

    def list_of(self, holder: dict[str, Any], key: str) -> list[Any]:
        """A list in the JSON, empty where it is not given."""
        values = holder.get(key, [])
        if not isinstance(values, list):
            raise self.source.damaged(f"its {key} are no list")
        return values

    def whole(self, value: object, what: str) -> int:
        """A number of the JSON that has to be whole and not negative."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
            raise self.source.damaged(f"{what} is {str(value)[:30]}, not a whole number from 0 on")
        return value

    def accessor(self, index: object, kinds: tuple[str, ...], what: str) -> NDArray[Any]:
        """The values of an accessor of one of these types, shape (count,) or (count, width); floats when normalised."""
        entry = self.entry("accessors", index)
        kind, code = entry.get("type"), entry.get("componentType")
        if kind not in kinds or not isinstance(code, int) or code not in COMPONENTS:
            raise self.source.damaged(f"its {what} have the type {str(kind)[:20]} of {str(code)[:20]}")
        dtype, width = np.dtype(COMPONENTS[code]), WIDTHS[kind]
        count = self.whole(entry.get("count"), f"the number of its {what}")
        self._taken += 8 * count * width  # as most become doubles
        check_bytes(self.source.name, self._taken, f"{count:,} {what}")
        if kind in MATRICES and dtype.itemsize < 4:
            raise self.source.damaged(f"its {what} are matrices of small integers")
        if "bufferView" in entry:
            values = self._view(entry["bufferView"], entry.get("byteOffset", 0), dtype, width, count, what)
        else:
            if count > self._largest:
                raise self.source.damaged(f"its {what} would be {count:,} zeros, of which it holds none")
            values = np.zeros((count, width), dtype)
        if "sparse" in entry:
            values = self._fill(values, entry["sparse"], dtype, width, what)
        if entry.get("normalized") is True and dtype.kind in "iu":
            largest = float(np.iinfo(dtype).max)
            values = np.maximum(values / largest, -1.0)
        if values.dtype.kind == "f":
            self.source.check_finite(values, what)
        return values[:, 0] if width == 1 else values

    def buffer(self, index: object) -> bytes:
        """The bytes of a buffer, as many as it says."""
        place = self.whole(index, "a reference to buffers")
        if place not in self._buffers:
            entry = self.entry("buffers", place)
            length = self.whole(entry.get("byteLength"), "the length of a buffer")
            data = self._load(place, entry)
            if length > len(data):
                raise self.source.damaged(f"buffer {place} has {len(data):,} of the {length:,} bytes it promises")
            self._buffers[place] = data[:length]
        return self._buffers[place]

    def _load(self, place: int, entry: dict[str, Any]) -> bytes:
        uri = entry.get("uri")
        if uri is None:
            if place != 0 or self.binary is None:
                raise self.source.damaged(f"buffer {place} is nowhere")
            return self.binary
        if not isinstance(uri, str):
            raise self.source.damaged(f"buffer {place} has no name")
        for prefix in DATA_URI:
            if uri.startswith(prefix):
                try:
                    return base64.b64decode(uri[len(prefix) :], validate=True)
                except (binascii.Error, ValueError):
                    raise self.source.damaged(f"buffer {place} is not base64") from None
        name = unquote(uri)
        path = None if self.folder is None else within(self.folder, name)
        if path is None:
            raise self.source.damaged(f"it names the buffer '{name[:60]}' outside its folder", "keep them together")
        return read_source(path).data

    def _view(
        self, index: object, offset: object, dtype: np.dtype[Any], width: int, count: int, what: str
    ) -> NDArray[Any]:
        """`count` rows of `width` items out of a buffer view, shape (count, width)."""
        view = self.entry("bufferViews", index)
        data = self.buffer(view.get("buffer"))
        start = self.whole(view.get("byteOffset", 0), "an offset")
        length = self.whole(view.get("byteLength"), "the length of a view")
        inner = self.whole(offset, "an offset")
        size = width * dtype.itemsize
        stride = self.whole(view.get("byteStride", size), "a stride")
        end = inner + stride * (count - 1) + size if count else inner
        if start + length > len(data) or end > length or stride < size or stride > 252 + size:
            raise self.source.damaged(f"its {what} do not fit the bytes they point to")
        rows = np.ndarray((count, size), np.uint8, data, start + inner, (stride, 1)) if count else np.empty((0, size))
        return np.ascontiguousarray(rows, dtype=np.uint8).view(dtype).reshape(count, width)

    @cached_property
    def _largest(self) -> int:
        """Entries of the largest accessor that has bytes; one without, all zeros but for a few, is of the same mesh."""
        most = 0
        for entry in self.entries("accessors"):
            view, count = entry.get("bufferView"), entry.get("count")
            if view is not None and isinstance(count, int):
                held = len(self.buffer(self.entry("bufferViews", view).get("buffer")))
                most = max(most, min(count, held))
        return most

    def _fill(self, values: NDArray[Any], sparse: Any, dtype: np.dtype[Any], width: int, what: str) -> NDArray[Any]:
        """The values with those of a sparse accessor put in."""
        if not (isinstance(sparse, dict) and isinstance(sparse.get("indices"), dict)):
            raise self.source.damaged(f"its {what} are sparse without places")
        places, items = sparse["indices"], sparse.get("values")
        code = places.get("componentType")
        if not isinstance(items, dict) or code not in (5121, 5123, 5125):
            raise self.source.damaged(f"its {what} are sparse without values")
        count = self.whole(sparse.get("count"), f"the number of sparse {what}")
        if count > len(values):
            raise self.source.damaged(f"its sparse {what} are more than there are")
        kind = np.dtype(COMPONENTS[code])
        at = self._view(places.get("bufferView"), places.get("byteOffset", 0), kind, 1, count, what)[:, 0].astype(int)
        new = self._view(items.get("bufferView"), items.get("byteOffset", 0), dtype, width, count, what)
        if count and (at.max() >= len(values) or (np.diff(at) <= 0).any()):
            raise self.source.damaged(f"its sparse {what} name places that are not there or not in order")
        filled = values.copy()
        filled[at] = new
        return filled


def open_gltf(source: Source, folder: Path | None = None) -> GltfFile:
    """The file as JSON and buffers; an extension that is required and not understood is refused by name."""
    text, binary = _chunks(source) if source.data[:4] == MAGIC else (source.data, None)
    try:
        tree = parse_json(text, refuse_constants=True)
    except ValueError as error:
        raise source.damaged(f"its JSON is damaged ({error})") from None
    if not isinstance(tree, dict):
        raise source.damaged("its JSON is no object")
    asset = tree.get("asset")
    version = str(asset.get("version", "")) if isinstance(asset, dict) else ""
    if not version.startswith("2"):
        raise source.damaged(f"it is glTF version '{version[:10]}'", "export it as glTF 2.0")
    file = GltfFile(source, tree, binary, folder)
    unknown = [str(name) for name in file.list_of(tree, "extensionsRequired") if str(name) not in UNDERSTOOD]
    if unknown:
        raise source.damaged(f"it needs the extension {', '.join(unknown)[:80]}", "export it without compression")
    return file


def _chunks(source: Source) -> tuple[bytes, bytes | None]:
    """The JSON of a .glb and its buffer, if it has one."""
    version, length = source.array("<u4", 2, 4, "bytes of the header").tolist()
    if version != 2 or length > len(source.data):
        raise source.damaged(f"it is a .glb of version {version} that claims {length:,} bytes")
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= length:
        size = int(source.array("<u4", 1, at, "bytes of a chunk")[0])
        kind = source.data[at + 4 : at + 8]
        found.setdefault(kind, source.array("u1", size, at + 8, "bytes of a chunk").tobytes())
        at += 8 + size + -size % 4
    if JSON_CHUNK not in found:
        raise source.damaged("it is a .glb without JSON")
    return found[JSON_CHUNK], found.get(BINARY_CHUNK)
