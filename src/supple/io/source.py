"""The bytes of one file to be read, and the errors of reading them in one sentence."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.limits import check_unpacked, current_limits

__all__ = ["Source", "check_readable", "mesh_suffix", "read_source"]

CHUNK = 2**20
SMALL_TEXT = 16 * 2**20  #: bytes below which the ratio of a packed text does not count: parsing takes several times it
#: What parsers raise over content that is not what it should be
UNFORESEEN = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, MemoryError, RecursionError),
    *(zlib.error, lzma.LZMAError),
)
EXPORT_AGAIN = "export it again from the program that made it"


@dataclass(frozen=True)
class Source:
    """Content of a file and its name for messages; every parser is a function of one of these."""

    name: str
    data: bytes
    lenient: bool = False  #: keep numbers that are not finite and indices out of range, for those who count them

    def damaged(self, what: str, remedy: str = EXPORT_AGAIN) -> FileFormatError:
        """The error to raise when the content is wrong: the file, `what` is wrong, and the remedy."""
        return FileFormatError(f"{self.name}: {what}; {remedy}.")

    def array(self, dtype: DTypeLike, count: int, offset: int, what: str) -> NDArray[Any]:
        """`count` items at byte `offset`, checked against the size of the file before anything is made."""
        kind = np.dtype(dtype)
        if count < 0 or offset < 0 or offset + count * kind.itemsize > len(self.data):
            raise self.damaged(f"it ends before the {count:,} {what} it promises")
        return np.frombuffer(self.data, dtype=kind, count=count, offset=offset)

    def check_finite(self, values: NDArray[Any], what: str) -> None:
        """Refuse numbers that are not finite, unless the reader is lenient."""
        if not self.lenient and not np.isfinite(values).all():
            raise self.damaged(f"one of its {what} is not a finite number")

    @contextmanager
    def parsing(self, kind: str) -> Iterator[None]:
        """Turn what a parser did not foresee into an error that says the file is not a whole `kind`."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is found and told
                yield
        except MeshError:  # which says itself what is wrong with the mesh
            raise
        except UNFORESEEN as error:
            raise self.damaged(
                f"it cannot be read as {kind} ({str(error).rstrip('.') or type(error).__name__})"
            ) from error


def mesh_suffix(path: Path) -> str:
    """Suffix in lower case that tells the format: `.ply` for `a.PLY` and for `a.ply.gz`."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def check_readable(path: Path, remedy: str = EXPORT_AGAIN) -> None:
    """Refuse a path that is missing, a directory, empty or too large."""
    try:
        if path.is_dir():
            raise FileFormatError(f"{path} is a directory; name a file in it.")
        size = path.stat().st_size
    except (OSError, ValueError) as error:  # not there, or no name that a file can have
        why = error.strerror if isinstance(error, OSError) else error
        raise FileFormatError(f"{str(path)[:200]} cannot be found ({why}); check the path.") from None
    if size == 0:
        raise FileFormatError(f"{path} is empty; {remedy}.")
    if size > current_limits().bytes:
        raise _too_large(path, f"has {size:,} bytes")


def read_source(path: Path, *, lenient: bool = False) -> Source:
    """Content of the file, unpacked when its name ends in `.gz`."""
    check_readable(path)
    most = current_limits().bytes
    try:
        if path.suffix.lower() != ".gz":
            return Source(str(path), path.read_bytes(), lenient)
        packed = path.stat().st_size
        most = min(most, max(SMALL_TEXT, current_limits().ratio * packed))
        with gzip.open(path) as stream:
            data = _read_up_to(stream, most + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileFormatError(f"{path} is not a whole gzip file ({error}); pack it again.") from None
    except OSError as error:
        raise FileFormatError(f"{path} cannot be read ({error.strerror}); check its permissions.") from None
    check_unpacked(str(path), len(data), packed, SMALL_TEXT)
    return Source(str(path), data, lenient)


def _read_up_to(stream: gzip.GzipFile, most: int) -> bytes:
    """What the stream holds, at most so many bytes, taken as they come: asking for all at once would reserve `most`."""
    pieces, left = [], most
    while left > 0 and (piece := stream.read(min(left, CHUNK))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _too_large(path: Path, what: str) -> FileFormatError:
    most = current_limits().bytes
    return FileFormatError(f"{path} {what}, and {most:,} are read at most; reduce the mesh, or set SUPPLE_MAX_BYTES.")
