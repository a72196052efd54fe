"""Scenes written as TOML, the way a person would lay them out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["write_toml"]


def write_toml(data: Mapping[str, Any], comment: str = "") -> str:
    """The tables as TOML text under a comment; lists of tables become [[name]] blocks."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in data.items() if not _is_block(value)]
    for name, value in data.items():
        if isinstance(value, Mapping):
            lines += ["", *_table(_key(name), value)]
        elif _is_block(value):
            for entry in value:
                lines += [
                    "",
                    f"[[{_key(name)}]]",
                    *(f"{_key(key)} = {_value(item)}" for key, item in entry.items()),
                ]
    return "\n".join(lines).strip("\n") + "\n"


def _table(path: str, table: Mapping[str, Any]) -> list[str]:
    """A [path] block; tables of tables below it get blocks of their own."""
    nested = {key: item for key, item in table.items() if _holds_tables(item)}
    lines = [
        f"[{path}]",
        *(f"{_key(key)} = {_value(item)}" for key, item in table.items() if key not in nested),
    ]
    for key, item in nested.items():
        for name, below in item.items():
            lines += ["", *_table(f"{path}.{_key(key)}.{_key(name)}", below)]
    return lines


def _is_block(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping)


def _holds_tables(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(item, Mapping) for item in value.values())


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name)


def _value(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
