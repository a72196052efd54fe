"""VTK's XML files written: arrays as base64 over zlib blocks, which every reader of the format takes."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from supple.io.vtk_xml import CODES

__all__ = ["pack_array", "pack_cells", "pack_grid"]

TYPES = {code: name for name, code in CODES.items()}
BLOCK = 2**18  # bytes compressed at a time
SAMPLE = 2**15  # bytes that show whether compressing pays
STORED, FAST = 0, 1  # levels of zlib; higher ones cost several times more and save little
WORTH = 0.9  # what does not shrink below this, as most floats, is stored


def pack_array(name: str, values: NDArray[Any]) -> bytes:
    """A DataArray element with the values, shape (k,) or (k, components)."""
    kind = values.dtype.str[1:] if values.dtype.str[1:] in TYPES else "f8"
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    level = FAST if len(zlib.compress(data[:SAMPLE], FAST)) < WORTH * len(data[:SAMPLE]) else STORED
    blocks = [zlib.compress(data[at : at + BLOCK], level) for at in range(0, len(data), BLOCK)]
    lengths = [len(blocks), BLOCK, len(data) % BLOCK, *map(len, blocks)]
    head = np.array(lengths, dtype="<u4").tobytes()
    components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim > 1 else ""
    attributes = f'type="{TYPES[kind]}" Name={quoteattr(name)}{components} format="binary"'
    body = base64.b64encode(head) + base64.b64encode(b"".join(blocks))
    return b"<DataArray " + attributes.encode() + b">" + body + b"</DataArray>\n"


def pack_cells(corners: NDArray[np.integer], kind: int) -> bytes:
    """The Cells element of cells (k, corners) that are all of one VTK type."""
    count, width = corners.shape
    return b"".join(
        [
            b"<Cells>\n",
            pack_array("connectivity", corners.reshape(-1)),
            pack_array("offsets", np.arange(width, width * count + 1, width, dtype=np.int32)),
            pack_array("types", np.full(count, kind, dtype=np.uint8)),
            b"</Cells>\n",
        ]
    )


def pack_grid(
    points: NDArray[np.float64],
    cells: bytes,
    cell_count: int,
    *,
    point_data: Sequence[bytes],
    cell_data: Sequence[bytes],
    comment: bytes = b"",
) -> Iterable[bytes]:
    """Pieces of a VTU file out of its points, its Cells element and its packed data arrays."""
    return [
        b'<?xml version="1.0"?>\n' + comment,
        b'<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian" header_type="UInt32"'
        b' compressor="vtkZLibDataCompressor">\n<UnstructuredGrid>\n',
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{cell_count}">\n'.encode(),
        b"<PointData>\n", *point_data, b"</PointData>\n",
        b"<CellData>\n", *cell_data, b"</CellData>\n",
        b"<Points>\n", pack_array("Points", points), b"</Points>\n", cells,
        b"</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
    ]  # fmt: skip
