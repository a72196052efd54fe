"""Reading of .npz files with every size checked before memory is taken; never a pickle."""

from __future__ import annotations

import mmap
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.limits import current_limits
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
ZIP_RATIO = 1100  # deflate cannot pack better than 1032 to 1


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
            self._members = {member.name: member for member in scan_file(path)}
            if not self._members:
                raise self._damaged(f"it is not a whole .npz file ({error})") from None
            names = [member.filename.decode() for member in self._members.values()]
        self.names = tuple(name.removesuffix(".npy") for name in names)

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
        data = self._read_bytes(name)
        try:
            return _decode(data)
        except (ValueError, OverflowError, TypeError, MemoryError) as error:
            raise self._damaged(f"its array '{name}' cannot be read ({error})") from None

    def read_all(self) -> Mapping[str, NDArray[Any]]:
        """All arrays by name."""
        return {name: self.read(name) for name in self.names}

    def _damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: {what}; {self._remedy}.")

    def _read_bytes(self, name: str) -> bytes:
        if self._zip is None:
            member = self._members[name]
            with self.path.open("rb") as stream:
                stream.seek(member.start)
                return stream.read(member.size)
        try:
            info = self._zip.getinfo(f"{name}.npy")
            size = self.path.stat().st_size
            if info.compress_size > size or info.file_size > min(current_limits().bytes, ZIP_RATIO * size):
                raise self._damaged(f"its array '{name}' claims {max(info.file_size, info.compress_size):,} bytes")
            return self._zip.read(info)
        except (*BAD_ZIP, OSError) as error:
            raise self._damaged(f"its array '{name}' is damaged ({error})") from None


def _decode(data: bytes) -> NDArray[Any]:
    """The array of .npy bytes; ValueError when it holds objects or another size than its header says."""
    stream = BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"npy version {version} is not read")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    count = 1
    for extent in shape:
        count *= extent
    start = stream.tell()
    if count < 0 or start + count * dtype.itemsize != len(data):
        raise ValueError(f"its shape {shape} does not fit its {len(data) - start:,} bytes")
    array = np.frombuffer(data, dtype=dtype, count=count, offset=start)
    return array.reshape(shape, order="F" if fortran else "C")
