"""The HIERARCHY of a BVH file: joints, offsets and channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.source import Source

__all__ = ["CHANNELS", "BvhJoint", "damaged_at", "read_hierarchy"]

FloatArray = NDArray[np.float64]

#: Axis and kind of every channel.
CHANNELS = {f"{axis}{kind}": (axis, kind) for axis in "xyz" for kind in ("position", "rotation")}


@dataclass
class BvhJoint:
    """A joint as the file tells it."""

    name: str
    parent: int
    offset: FloatArray = field(default_factory=lambda: np.full(3, np.nan))  #: from the parent, (3,)
    channels: list[str] = field(default_factory=list)  #: in the order of the frames
    end: FloatArray = field(default_factory=lambda: np.zeros(3))  #: of its End Site, (3,)
    children: list[int] = field(default_factory=list)


def damaged_at(
    source: Source, line: int, what: str, remedy: str = "correct that line or export it again"
) -> FileFormatError:
    """The error to raise when a line is wrong."""
    return source.damaged(f"line {line}: {what}", remedy)


def read_hierarchy(source: Source, text: bytes) -> list[BvhJoint]:
    """The joints, a parent before its children."""
    words = _Words(source, text)
    words.expect("HIERARCHY")
    joints: list[BvhJoint] = []
    names: set[str] = set()
    open_joints: list[int] = []
    in_end = False
    while not words.done:
        word, line = words.take("a joint")
        match word.upper():
            case "ROOT" | "JOINT" if not in_end:
                if (word.upper() == "ROOT") != (not open_joints):
                    raise damaged_at(source, line, f"{word} stands where it cannot: one ROOT holds all JOINTs")
                if joints and not open_joints:
                    raise damaged_at(source, line, "a second ROOT", "keep one skeleton a file")
                name = words.take_name()
                if not name or name in names:
                    raise damaged_at(source, line, f"joint '{name}' has no name of its own", "give it one")
                names.add(name)
                parent = open_joints[-1] if open_joints else -1
                if parent >= 0:
                    joints[parent].children.append(len(joints))
                open_joints.append(len(joints))
                joints.append(BvhJoint(name, parent))
            case "END" if open_joints and not in_end:
                words.take_name()
                in_end = True
            case "OFFSET" if open_joints:
                offset = words.take_numbers(3)
                if in_end:
                    joints[open_joints[-1]].end = offset
                else:
                    joints[open_joints[-1]].offset = offset
            case "CHANNELS" if open_joints and not in_end and not joints[open_joints[-1]].channels:
                joints[open_joints[-1]].channels = words.take_channels()
            case "}" if open_joints:
                if in_end:
                    in_end = False
                elif np.isnan(joints[open_joints.pop()].offset).any():
                    raise damaged_at(source, line, "a joint closes without its OFFSET")
            case _:
                raise damaged_at(source, line, f"'{word[:20]}' stands where a part of a joint belongs")
    if open_joints or not joints:
        raise damaged_at(source, words.line, "the hierarchy ends before its last }")
    return joints


class _Words:
    """Words of the hierarchy one after another, with the lines they stand on."""

    def __init__(self, source: Source, text: bytes) -> None:
        self.source = source
        self.words = list(_split_words(text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")))
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.words)

    @property
    def line(self) -> int:
        return self.words[min(self.at, len(self.words) - 1)][1] if self.words else 1

    def take(self, what: str) -> tuple[str, int]:
        """The next word and its line."""
        if self.done:
            raise damaged_at(self.source, self.line, f"the hierarchy ends where {what} belongs")
        self.at += 1
        return self.words[self.at - 1]

    def expect(self, wanted: str) -> None:
        word, line = self.take(wanted)
        if word.upper() != wanted:
            raise damaged_at(self.source, line, f"'{word[:20]}' stands where {wanted} belongs")

    def take_name(self) -> str:
        """All words up to the next {."""
        parts, (word, line) = [], self.take("a name")
        while word != "{":
            parts.append(word)
            if word == "}" or len(parts) > 9:
                raise damaged_at(self.source, line, "a joint has no { behind its name")
            word, line = self.take("{")
        return " ".join(parts)

    def take_numbers(self, count: int) -> FloatArray:
        numbers = []
        for _ in range(count):
            word, line = self.take("a number")
            try:
                numbers.append(float(word))
            except ValueError:
                raise damaged_at(self.source, line, f"'{word[:20]}' stands where a number belongs") from None
            if not np.isfinite(numbers[-1]):
                raise damaged_at(self.source, line, f"'{word[:20]}' is not a finite number")
        return np.array(numbers)

    def take_channels(self) -> list[str]:
        count = float(self.take_numbers(1)[0])
        if count not in range(7):
            raise damaged_at(self.source, self.line, f"a joint cannot have {count:g} channels")
        channels = []
        for _ in range(int(count)):
            word, line = self.take("a channel")
            if word.lower() not in CHANNELS or word.lower() in channels:
                raise damaged_at(self.source, line, f"'{word[:20]}' is no channel, or one given twice")
            channels.append(word.lower())
        return channels


def _split_words(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.split("\n"), start=1):
        for word in line.replace("{", " { ").replace("}", " } ").split():
            yield word, number
