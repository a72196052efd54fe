"""VTK's XML files: the tree of elements, and the arrays in it in all their encodings."""

from __future__ import annotations

import binascii
import lzma
import re
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from supple.io.limits import check_unpacked
from supple.io.source import Source
from supple.io.text import parse_floats, parse_ints

__all__ = ["CODES", "VtkFile", "parse_vtk", "parse_xml"]

#: Types of arrays by VTK's names, as numpy names them.
CODES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8",
    "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip
BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")
APPENDED = re.compile(rb"<AppendedData\b[^>]*>")
MAX_DEPTH = 64
INFLATERS: dict[str, Callable[[], Any]] = {
    "vtkZLibDataCompressor": zlib.decompressobj,
    "vtkLZMADataCompressor": lzma.LZMADecompressor,
}
SAVE_AS = "save it as ASCII or with zlib compression"


@dataclass(frozen=True)
class VtkFile:
    """A parsed VTK XML file."""

    source: Source
    root: ElementTree.Element
    appended: bytes | memoryview  #: content of AppendedData behind its underscore

    def array(self, node: ElementTree.Element, count: int, what: str) -> NDArray[Any]:
        """The `count` numbers of a DataArray element, decoded."""
        kind = CODES.get(node.get("type", ""))
        if kind is None:
            raise self.source.damaged(f"its {what} have the type '{node.get('type')}'", SAVE_AS)
        form = node.get("format", "ascii")
        if form == "ascii":
            return self._checked(_parse_text(self.source, node.text or "", kind, what), count, what)
        size = count * int(kind[1])
        dtype = np.dtype(self._order + kind)
        if form == "binary":
            data = self._unpack(self._decode((node.text or "").encode("ascii", "replace"), what), size, what)
        elif form == "appended":
            data = self._unpack(self._appended_at(int(node.get("offset", "-1")), what), size, what)
        else:
            raise self.source.damaged(f"its {what} have the format '{form}'", SAVE_AS)
        return self._checked(np.frombuffer(data, dtype=dtype), count, what)

    @property
    def _order(self) -> str:
        return ">" if self.root.get("byte_order") == "BigEndian" else "<"

    def _checked(self, values: NDArray[Any], count: int, what: str) -> NDArray[Any]:
        if len(values) != count:
            raise self.source.damaged(f"it has {len(values):,} numbers for {what} where {count:,} belong")
        if values.dtype.kind == "f":
            self.source.check_finite(values, what)
        return values

    def _decode(self, text: bytes, what: str) -> bytes:
        """Bytes of base64 text; head and body may have been encoded apart, each with its own padding."""
        try:
            return b"".join(binascii.a2b_base64(piece) for piece in BASE64.findall(text))
        except binascii.Error as error:
            raise self.source.damaged(f"its {what} are not base64 ({error})") from None

    def _appended_at(self, offset: int, what: str) -> bytes | memoryview:
        if not 0 <= offset < len(self.appended):
            raise self.source.damaged(f"its {what} lie at offset {offset}, outside the appended data")
        node = self.root.find("AppendedData")
        if node is not None and node.get("encoding") == "base64":
            later = [int(other.get("offset", "-1")) for other in self.root.iter("DataArray")]
            end = min((value for value in later if value > offset), default=len(self.appended))
            return self._decode(bytes(self.appended[offset:end]), what)
        return self.appended[offset:]

    def _unpack(self, data: bytes | memoryview, size: int, what: str) -> bytes | memoryview:
        """The `size` bytes of an array behind its header of lengths, decompressed."""
        lengths = np.dtype(self._order + CODES.get(self.root.get("header_type", "UInt32"), "u4"))
        block = Source(self.source.name, cast(bytes, data))  # a view of bytes serves as well
        compressor = self.root.get("compressor")
        if not compressor:
            (length,) = block.array(lengths, 1, 0, what).tolist()
            return block.array(np.uint8, int(length), lengths.itemsize, what).data
        if compressor not in INFLATERS:
            raise self.source.damaged(f"it is compressed by {compressor}", SAVE_AS)
        (blocks,) = block.array(lengths, 1, 0, what).tolist()
        if blocks == 0:
            return b""
        check_unpacked(self.source.name, size, len(self.source.data))
        packed = block.array(lengths, blocks, 3 * lengths.itemsize, what).tolist()
        at, left, pieces = (3 + blocks) * lengths.itemsize, size, []
        for length in packed:
            piece = block.array(np.uint8, length, at, what).tobytes()
            inflater = INFLATERS[compressor]()
            pieces.append(inflater.decompress(piece, left + 1))  # never more than the array may hold
            left -= len(pieces[-1])
            at += length
            if left < 0 or not inflater.eof:
                raise self.source.damaged(f"its {what} unpack to another size than promised")
        return b"".join(pieces)


def _parse_text(source: Source, text: str, kind: str, what: str) -> NDArray[Any]:
    data = text.encode("ascii", "replace")
    return parse_floats(source, data, what) if kind[0] == "f" else parse_ints(source, data, what)


def parse_vtk(source: Source, kind: str) -> VtkFile:
    """The file as a tree, when it is a VTK file of that kind ("UnstructuredGrid", "Collection")."""
    data: bytes = source.data
    appended: bytes | memoryview = b""
    if start := APPENDED.search(data):
        end = data.rfind(b"</AppendedData>")
        mark = data.find(b"_", start.end())
        if mark < 0 or end < mark:
            raise source.damaged("its appended data have no beginning or end")
        appended = memoryview(data)[mark + 1 : end]
        data = data[: start.end()] + data[end:]  # raw bytes are no XML
    root = parse_xml(source, data)
    if root.tag != "VTKFile" or root.get("type") != kind:
        raise source.damaged(f"it is a {root.tag} of type '{root.get('type')}', not a VTKFile of type {kind}")
    return VtkFile(source, root, appended)


def parse_xml(source: Source, data: bytes) -> ElementTree.Element:
    """Root of the tree; a document type or an entity of the file's own is refused."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise source.damaged(f"its XML is nested deeper than {MAX_DEPTH} levels")
        builder.start(tag, attributes)

    def finish(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> None:
        raise source.damaged("its XML declares a document type", "remove the DOCTYPE")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, finish
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
        return builder.close()
    except (expat.ExpatError, ElementTree.ParseError, AssertionError) as error:
        raise source.damaged(f"it is not whole XML ({error})") from None
