"""Rows of a benchmark laid out for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["format_row", "format_table"]


def format_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as aligned columns, headed by their keys in order of first appearance."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [keys, *([_show(row.get(key)) for key in keys] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(keys))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def format_row(row: Mapping[str, Any]) -> str:
    """A row in one line, what is not known left out."""
    return ", ".join(f"{key} {_show(value)}" for key, value in row.items() if value is not None)


def _show(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.3e}"
    return str(value)
