"""Reading of .npz files with every size checked before memory is taken; never a pickle."""

from __future__ import annotations

import mmap
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.limits import check_unpacked
from supple.io.npz_zip import Member, scan_members
from supple.io.source import EXPORT_AGAIN, check_readable

__all__ = ["NpzFile", "scan_file"]

#: What zipfile raises on damaged or unusual content.
BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    LookupError,
    ValueError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)
CHUNK = 2**20
MAGIC = re.compile(rb"\x93NUMPY(?:\x01\x00(?P<short>..)|\x02\x00(?P<long>....))", re.DOTALL)
LONGEST = 2**16  # bytes of a header
KIND = re.compile(rb"'descr'\s*:\s*'([<>|=]?[biufcUS?]\d*)'")
OBJECTS = re.compile(rb"'\|?O\d*'")
ORDER = re.compile(rb"'fortran_order'\s*:\s*(True|False)")
SHAPE = re.compile(rb"'shape'\s*:\s*\(([\d,\s]*)\)")


class Header(NamedTuple):
    """What the head of an .npy says."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    """C or F."""
    start: int
    """Bytes of the head."""

    @property
    def size(self) -> int:
        """Bytes of head and content."""
        count = 1
        for extent in self.shape:
            count *= extent
        return self.start + count * self.dtype.itemsize


def scan_file(path: Path) -> list[Member]:
    """Whole members of a growing .npz, also when its last write was cut off."""
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as view,
    ):
        return scan_members(view)


class NpzFile:
    """Arrays of an .npz file by name; a file whose last write was cut off gives what was whole before it."""

    def __init__(self, path: Path, remedy: str = EXPORT_AGAIN) -> None:
        """`remedy` is what messages advise for a damaged file."""
        self.path, self._remedy = path, remedy
        check_readable(path, remedy)
        self._zip: zipfile.ZipFile | None = None
        self._members: dict[str, Member] = {}
        try:
            self._zip = zipfile.ZipFile(path)
            names = [info.filename for info in self._zip.infolist()]
        except OSError as error:
            raise FileFormatError(f"{path} cannot be read ({error.strerror}); check its permissions.") from None
        except BAD_ZIP as error:
            whole = scan_file(path)
            if not whole:
                raise self._damaged(f"it is not a whole .npz file ({error})") from None
            self._members = {member.name: member for member in whole}
            names = [member.name for member in whole]
        self.names = tuple(name.removesuffix(".npy") for name in names)
        if len(set(self.names)) < len(self.names):
            twice = next(name for place, name in enumerate(self.names) if name in self.names[:place])
            self.close()
            raise self._damaged(f"it holds the array '{twice[:40]}' twice")
        if self._zip is not None:
            unpacked = sum(info.file_size for info in self._zip.infolist())
            check_unpacked(str(path), unpacked, path.stat().st_size)

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._zip is not None:
            self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> NDArray[Any]:
        """The array of that name, its size checked against the file's."""
        if name not in self.names:
            raise self._damaged(f"it has no array '{name}', only {', '.join(sorted(self.names)[:8])}")
        try:
            with self._open(name) as (stream, size):
                header, head = _read_header(stream, size)
                data = bytearray(head)  # which grows as bytes come: what a header claims is not taken before
                while piece := stream.read(min(CHUNK, size - len(data))):
                    data += piece
            if len(data) != size:
                raise EOFError(f"it ends after {len(data):,} of {size:,} bytes")
            count = (size - header.start) // max(header.dtype.itemsize, 1)
            array = np.frombuffer(data, header.dtype, count, header.start)
            return array.reshape(header.shape, order=header.order)  # type: ignore[call-overload, no-any-return]
        except (*BAD_ZIP, OSError, OverflowError, TypeError, MemoryError) as error:
            raise self._damaged(f"its array '{name}' is damaged ({error})") from None

    def header(self, name: str) -> Header:
        """Shape and type of the array of that name, of which nothing else is read."""
        if name not in self.names:
            raise self._damaged(f"it has no array '{name}', only {', '.join(sorted(self.names)[:8])}")
        try:
            with self._open(name) as (stream, size):
                return _read_header(stream, size)[0]
        except (*BAD_ZIP, OSError, OverflowError, TypeError, MemoryError) as error:
            raise self._damaged(f"its array '{name}' is damaged ({error})") from None

    def read_all(self) -> Mapping[str, NDArray[Any]]:
        """All arrays by name."""
        return {name: self.read(name) for name in self.names}

    def _damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: {what}; {self._remedy}.")

    @contextmanager
    def _open(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """The bytes of an array's .npy and how many they are."""
        if self._zip is None:
            member = self._members[name]
            with self.path.open("rb") as stream:
                stream.seek(member.start)
                yield stream, member.size
            return
        info = self._zip.getinfo(f"{name}.npy")
        if info.compress_size > self.path.stat().st_size:
            raise ValueError(f"it claims {info.compress_size:,} bytes")
        with self._zip.open(info) as packed:
            yield packed, info.file_size


def _read_header(stream: IO[bytes], size: int) -> tuple[Header, bytes]:
    """The head of .npy bytes, parsed and as it stands; ValueError where it holds objects or does not fit `size`."""
    head = stream.read(12)
    found = MAGIC.match(head)
    if found is None:
        raise ValueError("it does not begin as .npy of version 1 or 2 does")
    length = int.from_bytes(found["short"] or found["long"], "little")
    start = found.end() + length
    if length > LONGEST or start > size:
        raise ValueError(f"its header would have {length:,} bytes")
    head += stream.read(start - len(head)) if start > len(head) else b""
    text = head[found.end() : start]
    kind, order, shape = KIND.search(text), ORDER.search(text), SHAPE.search(text)
    if OBJECTS.search(text):
        raise ValueError("it holds Python objects")
    if kind is None or order is None or shape is None or len(shape[1]) > 1000:
        raise ValueError("its header tells no plain type, order and shape")
    extents = tuple(int(word) for word in shape[1].split(b",") if word.strip())
    header = Header(extents, np.dtype(kind[1].decode()), "F" if order[1] == b"True" else "C", start)
    if header.size != size:
        raise ValueError(f"its shape {extents} does not fit its {size - start:,} bytes")
    return header, head
