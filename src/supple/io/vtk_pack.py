"""VTK's XML files written: arrays as base64 over zlib blocks, which every reader of the format takes, or otherwise."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from supple.io.vtk_xml import CODES

__all__ = ["Encoding", "pack_array", "pack_cells", "pack_grid", "pack_raw_grid"]

Encoding = Literal["zlib", "base64", "text"]

TYPES = {code: name for name, code in CODES.items()}
BLOCK = 2**18  # bytes compressed at a time
SAMPLE = 2**15  # bytes that show whether compressing pays
STORED, FAST = 0, 1  # levels of zlib; higher ones cost several times more and save little
WORTH = 0.9  # what does not shrink below this, as most floats, is stored


def pack_array(name: str, values: NDArray[Any], encoding: Encoding = "zlib") -> bytes:
    """A DataArray element with the values, shape (k,) or (k, components)."""
    data, attributes = _plain(name, values)
    if encoding == "zlib":
        form, body = "binary", _deflate(data)
    elif encoding == "base64":
        form, body = "binary", base64.b64encode(np.array(len(data), "<u4").tobytes() + data)
    else:
        form, body = "ascii", " ".join(map(repr, values.reshape(-1).tolist())).encode()
    return f'<DataArray {attributes} format="{form}">'.encode() + body + b"</DataArray>\n"


def _plain(name: str, values: NDArray[Any]) -> tuple[bytes, str]:
    """The values as little-endian bytes, and the attributes that tell their type, name and components."""
    kind = values.dtype.str[1:] if values.dtype.str[1:] in TYPES else "f8"
    components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim > 1 else ""
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return data, f'type="{TYPES[kind]}" Name={quoteattr(name)}{components}'


def _deflate(data: bytes) -> bytes:
    level = FAST if len(zlib.compress(data[:SAMPLE], FAST)) < WORTH * len(data[:SAMPLE]) else STORED
    blocks = [zlib.compress(data[at : at + BLOCK], level) for at in range(0, len(data), BLOCK)]
    lengths = [len(blocks), BLOCK, len(data) % BLOCK, *map(len, blocks)]
    head = np.array(lengths, dtype="<u4").tobytes()
    return base64.b64encode(head) + base64.b64encode(b"".join(blocks))


def _cell_arrays(corners: NDArray[np.integer], kind: int) -> dict[str, NDArray[Any]]:
    count, width = corners.shape
    return {
        "connectivity": corners.reshape(-1),
        "offsets": np.arange(width, width * count + 1, width, dtype=np.int32),
        "types": np.full(count, kind, dtype=np.uint8),
    }


def pack_cells(corners: NDArray[np.integer], kind: int, encoding: Encoding = "zlib") -> bytes:
    """The Cells element of cells (k, corners) that are all of one VTK type."""
    arrays = [pack_array(name, values, encoding) for name, values in _cell_arrays(corners, kind).items()]
    return b"".join([b"<Cells>\n", *arrays, b"</Cells>\n"])


def pack_grid(
    points: NDArray[np.float64],
    cells: bytes,
    cell_count: int,
    *,
    point_data: Sequence[bytes],
    cell_data: Sequence[bytes],
    comment: bytes = b"",
    encoding: Encoding = "zlib",
) -> Iterable[bytes]:
    """Pieces of a VTU file out of its points, its Cells element and its packed data arrays."""
    compressor = b' compressor="vtkZLibDataCompressor"' if encoding == "zlib" else b""
    return [
        b'<?xml version="1.0"?>\n' + comment,
        b'<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian" header_type="UInt32"'
        + compressor + b">\n<UnstructuredGrid>\n",
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{cell_count}">\n'.encode(),
        b"<PointData>\n", *point_data, b"</PointData>\n",
        b"<CellData>\n", *cell_data, b"</CellData>\n",
        b"<Points>\n", pack_array("Points", points, encoding), b"</Points>\n", cells,
        b"</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
    ]  # fmt: skip


def pack_raw_grid(
    points: NDArray[np.float64], corners: NDArray[np.integer], kind: int, cell_data: Mapping[str, NDArray[Any]]
) -> Iterable[bytes]:
    """Pieces of a VTU file whose arrays stand as raw bytes at its end: the fastest form, and not XML strictly."""
    blocks: list[bytes] = []
    offset = 0

    def element(name: str, values: NDArray[Any]) -> bytes:
        nonlocal offset
        data, attributes = _plain(name, values)
        blocks.extend([np.array(len(data), "<u8").tobytes(), data])
        line = f'<DataArray {attributes} format="appended" offset="{offset}"/>\n'.encode()
        offset += 8 + len(data)
        return line

    place = element("Points", points)
    cells = [element(name, values) for name, values in _cell_arrays(corners, kind).items()]
    data = [element(name, values) for name, values in cell_data.items()]
    return [
        b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian"'
        b' header_type="UInt64">\n<UnstructuredGrid>\n',
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(corners)}">\n<Points>\n'.encode(),
        place, b"</Points>\n<Cells>\n", *cells, b"</Cells>\n<CellData>\n", *data, b"</CellData>\n",
        b'</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_', *blocks,
        b"\n</AppendedData>\n</VTKFile>\n",
    ]  # fmt: skip
