"""Facts of a file as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from supple._console import Console

__all__ = ["say_facts"]


def say_facts(console: Console, facts: Mapping[str, Any], indent: str = "") -> None:
    """Print facts one a line, tables indented below their name."""
    for key, value in facts.items():
        label = f"{indent}{key.replace('_', ' ')}"
        if isinstance(value, Mapping):
            if value:
                console.say(f"{label}:")
                say_facts(console, value, indent + "  ")
        elif isinstance(value, list) and any(isinstance(row, Mapping) for row in value):
            console.say(f"{label}:")
            for row in value:
                console.say(f"{indent}  {_short(row)}")
        elif value is not None and value != []:
            shown = _short_list(value) if isinstance(value, list) else _short(value)
            console.say(f"{label}: {shown}")


def _short_list(values: Sequence[object]) -> str:
    """The values side by side; of many the first and the last."""
    shown = [_short(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:4], "...", shown[-1]]) + (
        f" ({len(shown)} in all)" if len(shown) > 12 else ""
    )


def _short(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key.replace('_', ' ')} {_short(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_short, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
