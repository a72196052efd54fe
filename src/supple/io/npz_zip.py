"""The zip container of an .npz file: written in one piece, grown at its end, and read even when cut off."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.files import write_atomically, writing

__all__ = ["GrowingNpz", "Member", "pack_npz", "scan_members"]

LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, crc, packed, size, name, extra
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
END64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR64 = struct.Struct("<4sIQI")
VERSION, DAY = 45, (1 << 5) | 1  # 1 January 1980: the same content gives the same bytes
IN_EXTRA, IN_END64 = 0xFFFFFFFF, 0xFFFF  # stand for numbers that are stored elsewhere with 64 bits
FAR = 0xFFFFFFFF  # offsets from here on need 64 bits
LARGEST = 0xFFFFFFFF - 2**16  # bytes of one array

Piece = bytes | memoryview


@dataclass(frozen=True)
class Member:
    """One array of the file: where it lies and what its bytes add up to."""

    name: str  #: without the `.npy` of the container
    offset: int  #: of its local header
    size: int
    crc: int

    @property
    def start(self) -> int:
        """First byte of the array's .npy data."""
        return self.offset + LOCAL.size + len(self.filename)

    @property
    def end(self) -> int:
        """First byte behind the member."""
        return self.start + self.size

    @property
    def filename(self) -> bytes:
        """Name inside the container."""
        return f"{self.name}.npy".encode()


def pack_npz(arrays: Mapping[str, NDArray[Any]]) -> Sequence[Piece]:
    """Pieces of a whole .npz file with the arrays, which np.load reads; no pickles."""
    members, pieces = _pack_members(arrays, 0)
    return [*pieces, _pack_directory(members)]


class GrowingNpz:
    """An .npz file that takes more arrays at its end and is whole after every `append`.

    New arrays go where the directory was and a new directory behind them, in one write: no earlier array
    moves. A process killed within that write leaves those in place, and `scan_members` finds them.
    """

    def __init__(self, path: Path, members: Sequence[Member]) -> None:
        self.path = path
        self.members = list(members)
        with writing(path):
            self._stream = path.open("r+b", buffering=0)

    @classmethod
    def create(cls, path: Path, arrays: Mapping[str, NDArray[Any]]) -> GrowingNpz:
        """A new file with the arrays, in place of any file of that name."""
        members, pieces = _pack_members(arrays, 0)
        write_atomically(path, [*pieces, _pack_directory(members)])
        return cls(path, members)

    def append(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add the arrays; on a full disk the file stays what it was."""
        members, pieces = _pack_members(arrays, self._end())
        try:
            with writing(self.path):
                self._write_tail([*pieces, _pack_directory([*self.members, *members])])
        except BaseException:  # an interrupt too
            self.keep(len(self.members))
            raise
        self.members += members

    def keep(self, count: int) -> None:
        """Leave the first `count` members and drop those behind them."""
        self.members = self.members[:count]
        with writing(self.path):
            self._write_tail([_pack_directory(self.members)])

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _end(self) -> int:
        return self.members[-1].end if self.members else 0

    def _write_tail(self, pieces: Iterable[Piece]) -> None:
        tail = memoryview(b"".join(pieces))
        self._stream.seek(self._end())
        while tail:
            tail = tail[self._stream.write(tail) :]
        self._stream.truncate()


def scan_members(data: bytes | memoryview) -> list[Member]:
    """Whole uncompressed members from the beginning on, up to the first that is cut off or damaged."""
    members: list[Member] = []
    offset = 0
    while offset + LOCAL.size <= len(data):
        signature, _, flags, method, _, _, crc, _, size, name_size, extra_size = LOCAL.unpack_from(data, offset)
        if signature != b"PK\x03\x04" or flags or method or extra_size:
            break
        raw = bytes(data[offset + LOCAL.size : offset + LOCAL.size + name_size])
        member = Member(raw.decode(errors="replace").removesuffix(".npy"), offset, size, crc)
        if member.filename != raw or member.end > len(data):
            break
        if zlib.crc32(data[member.start : member.end]) != crc:
            break
        members.append(member)
        offset = member.end
    return members


def _pack_members(arrays: Mapping[str, NDArray[Any]], offset: int) -> tuple[list[Member], list[Piece]]:
    members: list[Member] = []
    pieces: list[Piece] = []
    for name, array in arrays.items():
        head, data = _pack_array(name, array)
        member = Member(name, offset, len(head) + data.nbytes, zlib.crc32(data, zlib.crc32(head)))
        sizes = (member.crc, member.size, member.size, len(member.filename), 0)
        local = LOCAL.pack(b"PK\x03\x04", VERSION, 0, 0, 0, DAY, *sizes)
        pieces += [local, member.filename, head, data]
        members.append(member)
        offset = member.end
    return members, pieces


def _pack_array(name: str, array: NDArray[Any]) -> tuple[bytes, memoryview]:
    """Header and content of the array as .npy."""
    values = np.ascontiguousarray(array).reshape(np.shape(array))
    if values.dtype.hasobject or values.nbytes > LARGEST:
        raise OutputError(f"the array '{name}' holds Python objects or 4 GB and more; save it as smaller numbers.")
    stream = BytesIO()
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(values))
    return stream.getvalue(), values.reshape(-1).view(np.uint8).data


def _pack_directory(members: Sequence[Member]) -> bytes:
    pieces = []
    for member in members:
        far = member.offset >= FAR
        extra = struct.pack("<2HQ", 1, 8, member.offset) if far else b""
        sizes = (member.crc, member.size, member.size, len(member.filename), len(extra))
        place = (0, 0, 0, 0, IN_EXTRA if far else member.offset)
        pieces.append(CENTRAL.pack(b"PK\x01\x02", VERSION, VERSION, 0, 0, 0, DAY, *sizes, *place))
        pieces += [member.filename, extra]
    directory = b"".join(pieces)
    start, count = (members[-1].end if members else 0), len(members)
    if start >= FAR or count >= IN_END64:
        place64 = (count, count, len(directory), start)
        directory += END64.pack(b"PK\x06\x06", END64.size - 12, VERSION, VERSION, 0, 0, *place64)
        directory += LOCATOR64.pack(b"PK\x06\x07", 0, start + place64[2], 1)
        short = (IN_END64, IN_END64, IN_EXTRA, IN_EXTRA)
    else:
        short = (count, count, len(directory), start)
    return directory + END.pack(b"PK\x05\x06", 0, 0, *short, 0)
