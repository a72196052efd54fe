"""Damaged copies of files: bytes changed anywhere; nesting, types, numbers and headers changed in place."""

import copy
import gzip
import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["damaged"]

#: What stands where a number or a word stood
NUMBERS = [
    *(b"999999999", b"-1", b"0", b"nan", b"1e999", b"\x00", b"/", b"<", b"4294967295", b"9223372036854775807"),
    b"\xff" * 4,
    *(b"1" * 10_000, b"9" * 400, b"1.5", b"true", b'"text"', b"[]", b"{}", b"-0", b"1e308", b"''", b"((((", b"0x10"),
]  # fmt: skip
NESTS = [b"[" * 3000, b"{" * 3000, b"(" * 3000, b'{"a":' * 3000, b"[" * 3000 + b"]" * 3000, b"<a>" * 3000, b"a." * 3000]
VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 0.5, 2**31, 2**53, 2**63, 10**30, 1e308, float("inf"), float("nan"), "", "x", "\0"),
    *("../x", "1", [], {}, [1], [None], {"a": 1}, ["a"] * 9, [[]] * 9, 60_000_000, "DEEP", "DIGITS"),
]
WORD = re.compile(rb"[^\s,;:=<>\[\]{}()]+")
RATIO = np.zeros(2 * 10**7)  # 160 MB that deflate to 155 kB


def damaged(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """So many damaged copies, every other one by its structure; the same for one seed."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield _change_structure(data, rng) if number % 2 else _change_bytes(data, rng)


def _change_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """The file cut short, or with bytes changed, doubled, dropped or grown."""
    changed = bytearray(data)
    place = int(rng.integers(len(data)))
    match int(rng.integers(7)):
        case 0:
            del changed[place:]
        case 1:
            changed[place] ^= 1 << int(rng.integers(8))
        case 2:
            for at in rng.integers(len(data), size=8):
                changed[at] = int(rng.integers(256))
        case 3:
            del changed[place : place + int(rng.integers(1, 40))]
        case 4:
            changed[place:place] = changed[place : place + int(rng.integers(1, 40))]
        case 5:
            changed[place : place + 1] = _pick(rng, NUMBERS)
        case 6:
            place = int(rng.integers(min(len(data), 400)))  # heads, where counts and types stand
            changed[place : place + 1] = _pick(rng, NUMBERS)
    return bytes(changed)


def _change_structure(data: bytes, rng: np.random.Generator) -> bytes:
    """The file with what it is made of changed: JSON, an archive's members, words and lines of a text, a header."""
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(_change_structure(gzip.decompress(data), rng), 1)
    if data[:4] == b"PK\x03\x04":
        return _change_archive(data, rng)
    if data[:4] == b"glTF":
        return _change_glb(data, rng)
    if data.lstrip()[:1] == b"{":
        try:
            return _change_json(json.loads(data), rng)
        except ValueError:
            lines = data.splitlines()
            place = int(rng.integers(len(lines)))
            lines[place] = _change_json(json.loads(lines[place]), rng)
            return b"\n".join(lines) + b"\n"
    if b"\0" not in data[:2000]:
        return _change_text(data, rng)
    return _change_header(data, rng)


def _change_json(tree: Any, rng: np.random.Generator) -> bytes:
    """A tree with one or two of its values replaced, dropped, doubled or moved."""
    tree = copy.deepcopy(tree)
    for _ in range(int(rng.integers(1, 3))):
        places = _list_places(tree)
        if not places or rng.random() < 0.02:
            tree = [tree] if rng.random() < 0.5 else _pick(rng, VALUES)
            continue
        holder, key = places[int(rng.integers(len(places)))]
        match int(rng.integers(6)):
            case 0 | 1 | 2:
                holder[key] = copy.deepcopy(_pick(rng, VALUES))
            case 3:
                del holder[key]
            case 4:
                other, there = places[int(rng.integers(len(places)))]
                holder[key] = copy.deepcopy(other[there])
            case 5:
                if isinstance(holder, list):
                    holder[key:key] = [copy.deepcopy(holder[key])] * 300
                else:
                    holder[str(key)[:-1] or "x"] = holder.pop(key)
    text = json.dumps(tree).replace('"DEEP"', "[" * 5000 + "]" * 5000).replace('"DIGITS"', "1" * 10_000)
    return text.encode()


def _list_places(tree: Any) -> list[tuple[Any, Any]]:
    """Every value of a tree as its holder and its key there."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ():
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def _change_glb(data: bytes, rng: np.random.Generator) -> bytes:
    """A .glb with its JSON changed, its lengths set right."""
    size = int.from_bytes(data[12:16], "little")
    text = _change_json(json.loads(data[20 : 20 + size]), rng)
    text += b" " * (-len(text) % 4)
    body = len(text).to_bytes(4, "little") + b"JSON" + text + data[20 + size :]
    return data[:8] + (12 + len(body)).to_bytes(4, "little") + body


def _change_archive(data: bytes, rng: np.random.Generator) -> bytes:
    """An .npz with a member's header, type or values changed, or members doubled, dropped, renamed or packed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    place = int(rng.integers(len(members)))
    name, content = members[place]
    packing = zipfile.ZIP_STORED
    match int(rng.integers(8)):
        case 0 | 1:
            content = _change_npy_header(content, rng)
        case 2 | 3:
            content = _change_npy_values(content, rng)
        case 4:
            members.append((name, content))  # twice
        case 5:
            name = _pick(rng, members)[0] if rng.random() < 0.5 else "../" + name
        case 6:
            packing = zipfile.ZIP_DEFLATED
            content = _save_npy(RATIO) if rng.random() < 0.05 else content[: len(content) // 2]
        case 7:
            name = ""
    members[place] = name, content
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing, compresslevel=1) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that come twice
        for label, member in members:
            if label:
                archive.writestr(zipfile.ZipInfo(label), member, packing)
    return stream.getvalue()


def _change_npy_header(content: bytes, rng: np.random.Generator) -> bytes:
    length = int.from_bytes(content[8:10], "little")
    words = list(WORD.finditer(content, 10, 10 + length))
    found = words[int(rng.integers(len(words)))]
    new: Any = _pick(rng, [*NUMBERS, *NESTS, b"'|O'", b"'<f4'", b"'<U9999999'", b"(60000000, 3)", b"'<i8'", b"None"])
    header = content[10 : found.start()] + new + content[found.end() : 10 + length]
    return content[:8] + len(header[:65535]).to_bytes(2, "little") + header[:65535] + content[10 + length :]


def _change_npy_values(content: bytes, rng: np.random.Generator) -> bytes:
    """The array of another type or shape, with values that make no sense, or with a text in it changed."""
    array = np.load(io.BytesIO(content)).copy()
    if array.dtype.kind == "U" and array.shape == () and str(array).startswith("{"):
        return _save_npy(np.array(_change_json(json.loads(str(array)), rng).decode()))
    match int(rng.integers(5)):
        case 0:
            kind: Any = _pick(rng, ["<f4", "<i8", "<U3", "<c16", "?", "<u1", "S2"])
            with np.errstate(all="ignore"):
                try:
                    array = array.astype(kind)
                except ValueError:
                    array = np.zeros(array.shape, kind)
        case 1:
            array = array.reshape(-1)
        case 2:
            array = array[None]
        case 3 if array.size and array.dtype.kind in "fiu":
            value: Any = _pick(rng, [-1, 0, 2**30, 1])
            array.reshape(-1)[int(rng.integers(array.size))] = (
                np.nan if array.dtype.kind == "f" and value == 1 else value
            )
        case _:
            array = array[:0] if array.ndim else np.zeros(3)
    return _save_npy(array)


def _save_npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _change_text(data: bytes, rng: np.random.Generator) -> bytes:
    """A text with a word replaced, or lines dropped, doubled, moved or nested."""
    words, lines = list(WORD.finditer(data)), data.splitlines(keepends=True)
    found = words[int(rng.integers(len(words)))]
    place = int(rng.integers(len(lines)))
    match int(rng.integers(7)):
        case 0 | 1 | 2:
            return data[: found.start()] + _pick(rng, NUMBERS) + data[found.end() :]
        case 3:
            return data[: found.start()] + _pick(rng, NESTS) + data[found.end() :]
        case 4:
            del lines[place]
        case 5:
            lines[place:place] = [lines[place]] * int(rng.integers(1, 300))
        case 6:
            lines.insert(int(rng.integers(len(lines))), lines.pop(place))
    return b"".join(lines)


def _change_header(data: bytes, rng: np.random.Generator) -> bytes:
    """A binary file with a whole number or a float of its first 400 bytes replaced."""
    kind: Any = _pick(rng, ["<u2", "<u4", ">u4", "<u8", "<f4", "<f8"])
    width = np.dtype(kind).itemsize
    value: Any = _pick(rng, [0, 1, 60_000_000, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**63])
    with np.errstate(all="ignore"):
        number = np.array(value % 2 ** (8 * width) if kind[1] == "u" else value).astype(kind).tobytes()
    at = int(rng.integers(max(min(len(data), 400) - width, 1)))
    return data[:at] + number + data[at + width :]


def _pick(rng: np.random.Generator, values: list[Any]) -> Any:
    return values[int(rng.integers(len(values)))]
